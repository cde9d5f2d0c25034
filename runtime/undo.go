package runtime

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An UndoRequest says what is to be undone: one call or all of a run.
type UndoRequest struct {
	CallID string
	RunID  string // when CallID is empty
	By     string
	Reason string
	DryRun bool // only say what would be undone, and what later calls have touched since
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
	UndoUnrecorded    // the journal cannot be written: when the result failed it was tried
	UndoTimedOut      // the undo handler outlived the deadline of the tool
	UndoCancelled     // the context of Undo ended, or the executor was shut down
	UndoCommitFailed  // a participant could not commit what the undo handler did
	UndoUnknown       // it is not known whether what the undo handler did was committed
	UndoInterrupted   // the process stopped while the undo handler ran: Recover says so in an event
	UndoNothingToUndo // the tool only reads
)

var undoReasonNames = [...]string{
	"", "unknown_call", "already_undone", "not_undoable", "not_successful", "expired", "drift", "still_running", "denied",
	"handler_error", "journal_unavailable", "timed_out", "cancelled", "commit_failed", "unknown", "interrupted", "nothing_to_undo",
}

// String returns the name of r, such as already_undone; that of UndoReasonNone is empty.
func (r UndoReason) String() string { return nameOf("undo reason", undoReasonNames[:], r) }

// MarshalText returns the name of r.
func (r UndoReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// An UndoResult says what an undo did. Of a call Kind, Reason and the two texts are
// set, of a run the lists of call ids, each in the order in which they were tried.
type UndoResult struct {
	Kind        UndoKind
	Reason      UndoReason
	Message     string // why, as a model may see it: the error of the handler only with safe_errors or Public
	Err         string // why, for operators; sensitive values of the call are taken out
	Undone      []string
	Failed      []string
	NotUndoable []string
	Reads       []string     // calls of tools that only read and declare no undo: there is nothing to take back
	Calls       []UndoneCall // of a run, or a dry run: all of these, in the order in which they were tried
	Complete    bool         // Failed and NotUndoable are empty
}

// An UndoneCall says what became of one call of a run that was undone. Of a call
// that only reads Kind is UndoRejected and Reason UndoNothingToUndo.
type UndoneCall struct {
	CallID, Tool string
	Kind         UndoKind
	Reason       UndoReason
	Message, Err string      // as in UndoResult
	Later        []LaterCall // of a dry run: in the order in which they were made
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
//
// An undo handler runs as the handler of a call does: with the deadline of the
// tool, which ends earlier when ctx ends, under a fence (Commit), and in one
// transaction over the participants (PartOf), which is rolled back when the
// handler fails. An undo that failed can be tried again. What it did outside of
// participants is not known then, so that an undo handler has to look at what
// there is.
//
// A dry run (UndoRequest.DryRun) calls no handler, records nothing and changes
// nothing. The policy is asked. What an undo handler finds out, such as drift, it
// cannot know.
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
	if req.DryRun {
		res := s.dryUndo(ctx, r)
		res.Calls = []UndoneCall{res.of(r)}
		s.addLater(res.Calls)
		return res
	}
	return s.undoCall(ctx, r, req)
}

// undoRun undoes the calls of a run that succeeded.
func (s *Session) undoRun(ctx context.Context, req UndoRequest) (all UndoResult) {
	all.Kind, all.Complete = UndoOK, true
	for _, r := range s.succeeded(req.RunID) {
		one := UndoResult{Reason: UndoNothingToUndo}
		switch {
		case s.exec.onlyReads(r.tool):
		case req.DryRun:
			one = s.dryUndo(ctx, r)
		default:
			one = s.undoCall(ctx, r, req)
		}
		all.add(r, &one)
	}
	if req.DryRun {
		s.addLater(all.Calls)
	}
	return all
}

// succeeded returns the calls of a run that completed and were not undone, the
// last first. It looks at no calls of other runs.
func (s *Session) succeeded(run string) (list []*callRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.byRun[run].all() {
		if r.ended() && r.outcome().Kind == Completed && !r.undo.done {
			list = append(list, r)
		}
	}
	return list
}

// onlyReads reports whether the calls of a tool leave nothing that could be taken back.
func (e *Executor) onlyReads(name string) bool {
	tool, _, known := e.reg.Lookup(name)
	return known && tool.spec.Effect == SideEffectRead && tool.spec.Undo == nil
}

// of returns what became of a call, of which res is the result.
func (res *UndoResult) of(r *callRecord) UndoneCall {
	return UndoneCall{CallID: r.id, Tool: r.tool, Kind: res.Kind, Reason: res.Reason, Message: res.Message, Err: res.Err}
}

// add adds what became of a call.
func (all *UndoResult) add(r *callRecord, one *UndoResult) {
	all.Calls = append(all.Calls, one.of(r))
	list := &all.Failed
	switch {
	case one.Kind == UndoOK:
		list = &all.Undone
	case one.Reason == UndoNothingToUndo:
		list = &all.Reads
	case one.Reason == UndoNotUndoable || one.Reason == UndoExpired:
		list = &all.NotUndoable
	}
	*list = append(*list, r.id)
	all.Complete = len(all.Failed)+len(all.NotUndoable) == 0
	if len(all.Failed) > 0 {
		all.Kind = UndoFailed
	}
}

// undoCall undoes one call.
func (s *Session) undoCall(ctx context.Context, r *callRecord, req UndoRequest) UndoResult {
	if !s.exec.mayUndo() {
		return UndoResult{Reason: UndoUnrecorded}
	}
	defer s.exec.gate.leave()
	if why := s.beginUndo(r); why != UndoReasonNone {
		return UndoResult{Reason: why, Err: s.tellLost(r, why)}
	}
	c := r.call
	fault := c.undoAllowed(ctx)
	if fault == nil {
		fault = c.undo(ctx, req.By)
	}
	if fault != nil && fault.pending {
		return c.undoFailed(fault)
	}
	return c.concludeUndo(req.By, fault)
}

// concludeUndo records how an undo of c went. A commit that its caller has left
// concludes it when there is room for its decision (SEMANTICS section 6.4).
func (c *call) concludeUndo(by string, fault *undoFault) UndoResult {
	e := c.exec
	if fault != nil && fault.why == UndoUnrecorded && !errors.Is(fault.err, journal.ErrUnavailable) { // recovery says what became of it
		c.letGoOf()
		e.report(c.faulty(ReasonJournalUnavailable, fault.err))
		return c.undoFailed(fault)
	}
	res := c.run.session.settleUndo(c, by, fault)
	if err := c.durable(); err != nil {
		e.report(c.faulty(ReasonJournalUnavailable, err))
		return c.undoFailed(&undoFault{why: UndoUnrecorded, err: err})
	}
	return res
}

// settleUndo notes how an undo went: one step of the session. A fault says why it
// failed.
func (s *Session) settleUndo(c *call, by string, fault *undoFault) UndoResult {
	if fault != nil {
		return c.settleUndoFailed(by, fault)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.exec.now()
	if ev, err := s.state.Undo(s.exec.instant(now), c.id); err == nil {
		s.note(&ev)
	}
	c.undone(now, by)
	return UndoResult{Kind: UndoOK}
}

// undone notes that c was undone. The locks of c and its session are held.
func (c *call) undone(now time.Time, by string) {
	c.record.undo.busy, c.record.undo.done = false, true
	c.transition(EventUndone, StateRolledBack, &note{at: now, by: by, session: true})
}

// settleUndoFailed notes that c was not undone.
func (c *call) settleUndoFailed(by string, fault *undoFault) UndoResult {
	res := c.undoFailed(fault)
	c.mu.Lock()
	s := c.run.session
	s.mu.Lock()
	c.record.undo.busy = false
	c.transition(EventUndoFailed, c.state, &note{at: s.exec.now(), by: by, text: res.Err, undo: &res})
	s.mu.Unlock()
	c.mu.Unlock()
	if !fault.expected {
		s.exec.report(c.faulty(ReasonNone, fmt.Errorf("undo: %w", fault.err)))
	}
	return res
}

// beginUndo says why a call cannot be undone, or keeps others from undoing it.
func (s *Session) beginUndo(r *callRecord) UndoReason {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := s.mayNotUndo(r)
	r.undo.busy = r.undo.busy || why == UndoReasonNone
	return why
}

// mayNotUndo says why a call cannot be undone. s.mu is held.
func (s *Session) mayNotUndo(r *callRecord) UndoReason {
	tool, _, known := s.exec.reg.Lookup(r.tool)
	now := s.exec.now()
	ended := r.first.happened() && r.final == nil || r.final != nil && r.final.happened()
	switch {
	case r.undo.done:
		return UndoAlreadyUndone
	case !known || tool.spec.Undo == nil || r.undo.possible && r.undo.lost != nil:
		return UndoNotUndoable
	case !ended && r.final != nil && r.call.reservation != reservedAndInvoked:
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
	return UndoReasonNone
}

// undoAllowed asks the policy whether the call may be undone.
func (c *call) undoAllowed(ctx context.Context) *undoFault {
	s := c.run.session
	s.mu.Lock()
	facts := c.run.look()
	s.mu.Unlock()
	in := c.policyInputOf(c.final, facts, c.clock())
	in.Undo = true
	d, err := c.consultOnce(ctx, in)
	denied := &undoFault{why: UndoDenied, err: err}
	switch {
	case err != nil:
	case len(d.Denials) > 0:
		denied.expected, denied.err = true, fmt.Errorf("the policy denies the undo: %s", d.Denials[0].Code)
	case d.Effect == EffectDeny:
		denied.expected, denied.err = true, errors.New("no policy allows the undo")
	default:
		return nil
	}
	return denied
}

// undo calls the undo handler, if there is one.
func (c *call) undo(ctx context.Context, by string) *undoFault {
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
		return &undoFault{why: UndoHandlerError, err: errPreparing}
	}
	return c.undoAttempt(ctx, by).run(func(ctx context.Context) error {
		return hook(ctx, c.id, c.final, state, c.wholeOutput(ctx, output))
	})
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
