package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// An UndoRequest says what is to be undone: one call or all of a run.
type UndoRequest struct {
	CallID string
	RunID  string // when CallID is empty
	By     string
	Reason string
}

// An UndoKind says how an undo ended.
type UndoKind uint8

// The kinds of UndoResult.
const (
	UndoRejected UndoKind = iota // nothing was tried
	UndoOK
	UndoFailed // the undo handler failed
)

var undoKindNames = [...]string{"rejected", "ok", "failed"}

// String returns rejected, ok or failed.
func (k UndoKind) String() string { return nameOf("undo", undoKindNames[:], k) }

// MarshalText returns the name of k.
func (k UndoKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// An UndoReason says why an undo was rejected, or failed.
type UndoReason uint8

// The reasons, in the order in which they are looked for.
const (
	UndoReasonNone UndoReason = iota
	UndoUnknownCall
	UndoAlreadyUndone
	UndoNotUndoable
	UndoNotSuccessful
	UndoExpired
	UndoDrift
	UndoStillRunning
	UndoDenied
	UndoHandlerError
	UndoUnrecorded // the journal cannot be written: when the result failed it was tried
)

var undoReasonNames = [...]string{
	"", "unknown_call", "already_undone", "not_undoable", "not_successful", "expired", "drift", "still_running", "denied",
	"handler_error", "journal_unavailable",
}

// String returns the name of r, such as already_undone; that of UndoReasonNone is empty.
func (r UndoReason) String() string { return nameOf("undo reason", undoReasonNames[:], r) }

// MarshalText returns the name of r.
func (r UndoReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// An UndoResult says what an undo did. Of a call Kind and Reason are set, of a
// run the lists of call ids, each in the order in which they were tried.
type UndoResult struct {
	Kind        UndoKind
	Reason      UndoReason
	Undone      []string
	Failed      []string
	NotUndoable []string
	Complete    bool // Failed and NotUndoable are empty
}

// An undoable is what is known of undoing a call.
type undoable struct {
	possible bool // its handler was started, and its tool declares undo
	done     bool // it was undone
	busy     bool // it is being undone
	ended    time.Time
	lost     error // why the journal does not say any more what it needs
}

// Undo takes back the effects of a call, or of all calls of a run that
// succeeded, the last first: the tool's undo handler is called, if it has one,
// what the call opened is closed again, and its groups are free. Its slot and its
// cooldown stay. The policy is asked first, with PolicyInput.Undo.
func (s *Session) Undo(ctx context.Context, req UndoRequest) UndoResult {
	ctx = orBackground(ctx)
	if s == nil || s.exec == nil {
		return UndoResult{Reason: UndoUnknownCall}
	}
	if req.CallID == "" {
		return s.undoRun(ctx, req)
	}
	r := s.find(req.CallID)
	if r == nil {
		return UndoResult{Reason: UndoUnknownCall}
	}
	return s.undoCall(ctx, r, req)
}

// undoRun undoes the calls of a run that succeeded.
func (s *Session) undoRun(ctx context.Context, req UndoRequest) (all UndoResult) {
	var list []*record
	s.mu.Lock()
	for r := range s.calls.all() {
		if r.run == req.RunID && r.ended() && r.outcome().Kind == Completed && !r.undo.done {
			list = append(list, r)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b *record) int { return b.number - a.number })
	all.Kind = UndoOK
	for _, r := range list {
		id := r.id
		switch one := s.undoCall(ctx, r, req); {
		case one.Kind == UndoOK:
			all.Undone = append(all.Undone, id)
		case one.Reason == UndoNotUndoable || one.Reason == UndoExpired:
			all.NotUndoable = append(all.NotUndoable, id)
		default:
			all.Failed = append(all.Failed, id)
		}
	}
	all.Complete = len(all.Failed) == 0 && len(all.NotUndoable) == 0
	if len(all.Failed) > 0 {
		all.Kind = UndoFailed
	}
	return all
}

// undoCall undoes one call.
func (s *Session) undoCall(ctx context.Context, r *record, req UndoRequest) UndoResult {
	if !s.exec.mayUndo() {
		return UndoResult{Reason: UndoUnrecorded}
	}
	defer s.exec.gate.leave()
	if why := s.beginUndo(r); why != UndoReasonNone {
		s.tellLost(r, why)
		return UndoResult{Reason: why}
	}
	c := r.call
	err := c.undoAllowed(ctx)
	why := UndoDenied
	if err == nil {
		err = c.undo(ctx)
		if why = UndoHandlerError; errors.Is(err, ErrDrift) {
			why = UndoDrift
		}
	}
	var fault *CallError
	if err != nil {
		fault = c.faulty(ReasonNone, err)
	}
	res := s.settleUndo(c, req.By, why, fault)
	if err := c.durable(); err != nil {
		s.exec.report(c.faulty(ReasonJournalUnavailable, err))
		return UndoResult{Kind: UndoFailed, Reason: UndoUnrecorded}
	}
	return res
}

// settleUndo notes how an undo went: one step of the session. A fault means that
// it failed, for the reason why.
func (s *Session) settleUndo(c *call, by string, why UndoReason, fault *CallError) UndoResult {
	text := c.tells(&Outcome{}, fault)
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	r := c.record
	r.undo.busy = false
	now := s.exec.now()
	if fault != nil {
		c.transition(EventUndoFailed, c.state, &note{at: now, by: by, fault: fault, text: text})
		if why != UndoHandlerError {
			return UndoResult{Reason: why}
		}
		return UndoResult{Kind: UndoFailed, Reason: why}
	}
	r.undo.done = true
	if ev, err := s.state.Undo(s.exec.instant(now), r.id); err == nil {
		s.note(&ev)
	}
	c.transition(EventUndone, StateRolledBack, &note{at: now, by: by, session: true})
	return UndoResult{Kind: UndoOK}
}

// beginUndo says why a call cannot be undone, or keeps others from undoing it.
func (s *Session) beginUndo(r *record) UndoReason {
	tool, _, known := s.exec.reg.Lookup(r.tool)
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.exec.now()
	ended := r.first.happened() && r.final == nil || r.final != nil && r.final.happened()
	switch {
	case r.undo.done:
		return UndoAlreadyUndone
	case !known || tool.spec.Undo == nil || r.undo.possible && r.undo.lost != nil:
		return UndoNotUndoable
	case !ended && r.final != nil && r.call.hold != holdInvocation:
		return UndoNotSuccessful
	case !ended:
		return UndoStillRunning
	case !r.undo.possible || r.outcome().Kind == Failed:
		return UndoNotSuccessful
	case !now.Before(r.undo.ended.Add(tool.spec.ruleTool().Undo)):
		return UndoExpired
	case r.undo.busy, r.outcome().Kind != Completed && !r.call.left.Load() && now.Before(r.undo.ended.Add(grace)):
		return UndoStillRunning
	}
	r.undo.busy = true
	return UndoReasonNone
}

// undoAllowed asks the policy whether the call may be undone.
func (c *call) undoAllowed(ctx context.Context) error {
	s := c.run.session
	s.mu.Lock()
	facts := c.run.look()
	s.mu.Unlock()
	in := c.policyInputOf(c.final, facts, c.clock())
	in.Undo = true
	d, err := c.consultOnce(ctx, in)
	switch {
	case err != nil:
		return err
	case len(d.Denials) > 0:
		return fmt.Errorf("the policy denies the undo: %s", d.Denials[0].Code)
	case d.Effect == EffectDeny:
		return errors.New("no policy allows the undo")
	}
	return nil
}

// undo calls the undo handler, if there is one, under the deadline of the tool.
func (c *call) undo(ctx context.Context) (err error) {
	hook := c.tool.hooks.undo
	if hook == nil {
		return nil
	}
	var output wire.Value
	if c.record.outcome().Kind == Completed {
		output = c.outputs
	}
	c.mu.Lock()
	state, isPrepared := c.prepared, c.isPrepared
	c.mu.Unlock()
	switch {
	case c.tool.hooks.prepare == nil || isPrepared:
	case c.left.Load():
		return nil // the call ended before its handler was let go: nothing was done
	default:
		return errPreparing
	}
	err = c.exec.within(ctx, c.tool.spec.deadline(), func(ctx context.Context) error {
		return hook(c.inform(ctx), c.id, c.final, state, c.wholeOutput(ctx, output))
	})
	if late := overdueError(0); errors.As(err, &late) {
		return fmt.Errorf("the undo handler did not finish within %s", seconds(time.Duration(late)))
	}
	return err
}

// guard calls f; a panic is its error.
func guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if err = f(); err != nil {
		err = &foreign{errorText(err), err}
	}
	return err
}

// A foreign error was made by others, who are asked only once what it says:
// where they may hang.
type foreign struct {
	text string
	err  error
}

// Error returns what the error says.
func (f *foreign) Error() string { return f.text }

// Unwrap returns the error.
func (f *foreign) Unwrap() error { return f.err }
