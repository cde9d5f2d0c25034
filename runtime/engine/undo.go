package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/enum"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An UndoRequest says what is to be undone: one call or all calls of a run.
type UndoRequest struct {
	CallID string
	RunID  string // when CallID is empty
	By     string
	Reason string
	DryRun bool // only report what would be undone, and which later calls share something with it
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
func (k UndoKind) String() string { return enum.Name("undo", undoKindNames[:], k) }

// MarshalText returns the name of k.
func (k UndoKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// An UndoReason says why an undo was rejected, or failed.
type UndoReason uint8

// The reasons, in the order in which they are checked.
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
	UndoUnrecorded    // the journal cannot be written; with UndoFailed the undo was attempted
	UndoTimedOut      // the undo handler ran past the deadline of the tool
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
func (r UndoReason) String() string { return enum.Name("undo reason", undoReasonNames[:], r) }

// MarshalText returns the name of r.
func (r UndoReason) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// An UndoResult says what an undo did. The result for a call has Kind, Reason and the two texts.
// The result for a run has the lists of call ids, each in the order of the attempts.
type UndoResult struct {
	Kind        UndoKind
	Reason      UndoReason
	Message     string // the cause, as a model may see it: the error of the handler only with safe_errors or Public
	Err         string // the cause, for operators; sensitive values of the call are removed
	Undone      []string
	Failed      []string
	NotUndoable []string
	Reads       []string     // calls of tools that only read and declare no undo: there is nothing to undo
	Calls       []UndoneCall // of a run, or a dry run: all calls, in the order of the attempts
	Complete    bool         // Failed and NotUndoable are empty
}

// An UndoneCall is the result for one call of the undo of a run. For a call that only reads, Kind
// is UndoRejected and Reason UndoNothingToUndo.
type UndoneCall struct {
	CallID, Tool string
	Kind         UndoKind
	Reason       UndoReason
	Message, Err string      // as in UndoResult
	Later        []LaterCall // of a dry run: in the order in which they were made
}

// An undoable is the state of a call with respect to undo.
type undoable struct {
	possible bool // its handler was started, and its tool declares undo
	done     bool // it was undone
	busy     bool // it is being undone
	ended    time.Time
	lost     error // why the journal no longer has what the undo needs
}

// Undo reverses the effects of a call, or of all calls of a run that succeeded, the last first. It
// calls the tool's undo handler, if it has one, closes again what the call opened, and frees its
// groups. The slot and the cooldown of the call stay. The policy decides about the undo first, with
// PolicyInput.Undo.
//
// An undo handler runs like the handler of a call: with the deadline of the tool, which ends
// earlier when ctx ends, under a fence (Commit), and in one transaction over the participants
// (PartOf), which is rolled back when the handler fails. A failed undo can be tried again. Its
// effects outside of participants are then not known, so an undo handler must check the present
// state.
//
// A dry run (UndoRequest.DryRun) calls no handler, records nothing and changes nothing. The policy
// is evaluated. A dry run cannot tell what only the undo handler finds out, such as drift.
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

// succeeded returns the calls of a run that completed and were not undone, the last first. It
// visits no calls of other runs.
func (s *Session) succeeded(run string) (list []*callRecord) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.byRun[run].all() {
		if r.ended() && r.outcome().Kind == runtime.Completed && !r.undo.done {
			list = append(list, r)
		}
	}
	return list
}

// onlyReads reports whether the calls of a tool have no effect that could be undone.
func (e *Executor) onlyReads(name string) bool {
	tool, _ := e.lookup(name)
	return tool != nil && tool.spec.Effect == runtime.SideEffectRead && tool.spec.Undo == nil
}

// of returns the UndoneCall of r, whose result is res.
func (res *UndoResult) of(r *callRecord) UndoneCall {
	return UndoneCall{CallID: r.id, Tool: r.tool, Kind: res.Kind, Reason: res.Reason, Message: res.Message, Err: res.Err}
}

// add adds the result for one call to that for the run.
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
	defer s.exec.gate.Leave()
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

// concludeUndo records the result of an undo of c. If the caller of the undo left a decided commit,
// that commit calls concludeUndo when the journal can be written again (SEMANTICS section 6.4).
func (c *call) concludeUndo(by string, fault *undoFault) UndoResult {
	e := c.exec
	if fault != nil && fault.why == UndoUnrecorded && !errors.Is(fault.err, journal.ErrUnavailable) { // recovery settles it
		c.releaseClaim()
		e.report(c.faulty(runtime.ReasonJournalUnavailable, fault.err))
		return c.undoFailed(fault)
	}
	res := c.run.session.settleUndo(c, by, fault)
	if err := c.durable(); err != nil {
		e.report(c.faulty(runtime.ReasonJournalUnavailable, err))
		return c.undoFailed(&undoFault{why: UndoUnrecorded, err: err})
	}
	return res
}

// settleUndo applies the result of an undo, in one step of the session. fault is nil when the undo
// succeeded.
func (s *Session) settleUndo(c *call, by string, fault *undoFault) UndoResult {
	if fault != nil {
		return c.settleUndoFailed(by, fault)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.exec.sched.Now()
	if ev, err := s.state.Undo(s.exec.instant(now), c.id); err == nil {
		s.note(&ev)
	}
	c.undone(now, by)
	return UndoResult{Kind: UndoOK}
}

// undone records that c was undone. The locks of c and its session are held.
func (c *call) undone(now time.Time, by string) {
	c.record.undo.busy, c.record.undo.done = false, true
	c.transition(runtime.EventUndone, runtime.StateRolledBack, &note{at: now, by: by, session: true})
}

// settleUndoFailed records that c was not undone.
func (c *call) settleUndoFailed(by string, fault *undoFault) UndoResult {
	res := c.undoFailed(fault)
	c.mu.Lock()
	s := c.run.session
	s.mu.Lock()
	c.record.undo.busy = false
	c.transition(runtime.EventUndoFailed, c.state, &note{at: s.exec.sched.Now(), by: by, text: res.Err, undo: &res})
	s.mu.Unlock()
	c.mu.Unlock()
	if !fault.expected {
		s.exec.report(c.faulty(runtime.ReasonNone, fmt.Errorf("undo: %w", fault.err)))
	}
	return res
}

// beginUndo returns why a call cannot be undone. If it can, beginUndo keeps other goroutines from
// undoing it.
func (s *Session) beginUndo(r *callRecord) UndoReason {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := s.mayNotUndo(r)
	r.undo.busy = r.undo.busy || why == UndoReasonNone
	return why
}

// mayNotUndo returns why a call cannot be undone, UndoReasonNone when it can. s.mu is held.
func (s *Session) mayNotUndo(r *callRecord) UndoReason {
	tool, _ := s.exec.lookup(r.tool)
	now := s.exec.sched.Now()
	ended := r.first.Fired() && r.final == nil || r.final != nil && r.final.Fired()
	switch {
	case r.undo.done:
		return UndoAlreadyUndone
	case tool == nil || tool.spec.Undo == nil || r.undo.possible && r.undo.lost != nil:
		return UndoNotUndoable
	case !ended && r.final != nil && r.call.reservation != reservedAndInvoked:
		return UndoNotSuccessful
	case !ended:
		return UndoStillRunning
	case !r.undo.possible || r.outcome().Kind == runtime.Failed:
		return UndoNotSuccessful
	case !now.Before(r.undo.ended.Add(ruleTool(tool.spec).Undo)):
		return UndoExpired
	case r.undo.busy, r.outcome().Kind != runtime.Completed && !r.call.left.Load() && now.Before(r.undo.ended.Add(grace)):
		return UndoStillRunning
	}
	return UndoReasonNone
}

// undoAllowed evaluates the policy for the undo of the call.
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
	case d.Effect == runtime.EffectDeny:
		denied.expected, denied.err = true, errors.New("no policy allows the undo")
	default:
		return nil
	}
	return denied
}

// undo calls the undo handler, if there is one.
func (c *call) undo(ctx context.Context, by string) *undoFault {
	hook := c.tool.hooks.Undo
	if hook == nil {
		return nil
	}
	var output wire.Value
	if c.record.outcome().Kind == runtime.Completed {
		output = c.outputs
	}
	c.mu.Lock()
	state, isPrepared := c.prepared, c.isPrepared
	c.mu.Unlock()
	switch {
	case c.tool.hooks.Prepare == nil || isPrepared:
	case c.left.Load():
		return nil // the call ended before its handler was released: it had no effect
	default:
		return &undoFault{why: UndoHandlerError, err: errPreparing}
	}
	return c.undoAttempt(ctx, by).run(func(ctx context.Context) error {
		return hook(ctx, c.id, c.final, state, c.wholeOutput(ctx, output))
	})
}

// guard calls f and returns its error. A panic becomes an error.
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

// A foreign is an error of code outside of the engine, with its text. The text is read once, in
// guard, because the Error method may hang.
type foreign struct {
	text string
	err  error
}

// Error returns the text of the error.
func (f *foreign) Error() string { return f.text }

// Unwrap returns the original error.
func (f *foreign) Unwrap() error { return f.err }
