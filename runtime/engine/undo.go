package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/ambit-tools/ambit/runtime"
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

// An UndoResult says what became of the calls of a run, each list in the order of the attempts. For
// one call only Calls of a dry run is set.
type UndoResult struct {
	Undone      []string // ids of calls
	Failed      []string
	NotUndoable []string
	Reads       []string     // calls of tools that only read and declare no undo: there is nothing to undo
	Calls       []UndoneCall // all calls
	Complete    bool         // Failed and NotUndoable are empty
}

// An UndoneCall is the result for one call of the undo of a run, or of a dry run.
type UndoneCall struct {
	CallID, Tool string
	Err          error       // an *ActionError; nil: undone. A call that only reads has CodeNothingToUndo
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
// The error is an *ActionError. Undo of a run returns one when calls of UndoResult.Failed were not
// undone. A call that is not undoable is no error of the run.
//
// A dry run (UndoRequest.DryRun) calls no handler, records nothing and changes nothing. The policy
// is evaluated. A dry run cannot tell what only the undo handler finds out, such as drift.
func (s *Session) Undo(ctx context.Context, req UndoRequest) (UndoResult, error) {
	ctx = orBackground(ctx)
	if s == nil || s.exec == nil {
		return UndoResult{}, because(CodeUnknownCall)
	}
	if req.CallID == "" {
		return s.undoRun(ctx, req)
	}
	r := s.find(req.CallID)
	if r == nil {
		return UndoResult{}, because(CodeUnknownCall)
	}
	var res UndoResult
	var err *ActionError
	if req.DryRun {
		err = s.dryUndo(ctx, r)
		res.Calls = []UndoneCall{undoneCall(r, err)}
		s.addLater(res.Calls)
	} else {
		err = s.undoCall(ctx, r, req)
	}
	if err != nil {
		return res, err
	}
	return res, nil
}

// undoRun undoes the calls of a run that succeeded.
func (s *Session) undoRun(ctx context.Context, req UndoRequest) (all UndoResult, err error) {
	all.Complete = true
	for _, r := range s.succeeded(req.RunID) {
		one := &ActionError{Code: CodeNothingToUndo}
		switch {
		case s.exec.onlyReads(r.tool):
		case req.DryRun:
			one = s.dryUndo(ctx, r)
		default:
			one = s.undoCall(ctx, r, req)
		}
		all.add(r, one)
	}
	if req.DryRun {
		s.addLater(all.Calls)
	}
	if len(all.Failed) > 0 {
		err = because(CodeFailed)
	}
	return all, err
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

// undoneCall returns the result for r, which was not undone because of err; nil: it was undone.
func undoneCall(r *callRecord, err *ActionError) UndoneCall {
	c := UndoneCall{CallID: r.id, Tool: r.tool}
	if err != nil {
		c.Err = err
	}
	return c
}

// add adds the result for one call to that for the run.
func (all *UndoResult) add(r *callRecord, err *ActionError) {
	all.Calls = append(all.Calls, undoneCall(r, err))
	list := &all.Failed
	switch {
	case err == nil:
		list = &all.Undone
	case err.Code == CodeNothingToUndo:
		list = &all.Reads
	case err.Code == CodeNotUndoable || err.Code == CodeExpired:
		list = &all.NotUndoable
	}
	*list = append(*list, r.id)
	all.Complete = len(all.Failed)+len(all.NotUndoable) == 0
}

// undoCall undoes one call.
func (s *Session) undoCall(ctx context.Context, r *callRecord, req UndoRequest) *ActionError {
	if !s.exec.mayUndo() {
		return &ActionError{Code: CodeJournalUnavailable}
	}
	defer s.exec.gate.Leave()
	if why := s.beginUndo(r); why != "" {
		return &ActionError{Code: why, Detail: s.tellLost(r, why)}
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
func (c *call) concludeUndo(by string, fault *undoFault) *ActionError {
	e := c.exec
	if fault != nil && fault.why == CodeJournalUnavailable && !errors.Is(fault.err, journal.ErrUnavailable) { // recovery settles it
		c.releaseClaim()
		e.report(c.faulty(runtime.ReasonJournalUnavailable, fault.err))
		return c.undoFailed(fault)
	}
	res := c.run.session.settleUndo(c, by, fault)
	if err := c.durable(); err != nil {
		e.report(c.faulty(runtime.ReasonJournalUnavailable, err))
		return c.undoFailed(&undoFault{why: CodeJournalUnavailable, err: err})
	}
	return res
}

// settleUndo applies the result of an undo, in one step of the session. fault is nil when the undo
// succeeded.
func (s *Session) settleUndo(c *call, by string, fault *undoFault) *ActionError {
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
	return nil
}

// undone records that c was undone. The locks of c and its session are held.
func (c *call) undone(now time.Time, by string) {
	c.record.undo.busy, c.record.undo.done = false, true
	c.transition(runtime.EventUndone, runtime.StateRolledBack, &note{at: now, by: by, session: true})
}

// settleUndoFailed records that c was not undone.
func (c *call) settleUndoFailed(by string, fault *undoFault) *ActionError {
	res := c.undoFailed(fault)
	c.mu.Lock()
	s := c.run.session
	s.mu.Lock()
	c.record.undo.busy = false
	c.transition(runtime.EventUndoFailed, c.state, &note{at: s.exec.sched.Now(), by: by, text: res.Detail, undo: res})
	s.mu.Unlock()
	c.mu.Unlock()
	if !fault.expected {
		s.exec.report(c.faulty(runtime.ReasonNone, fmt.Errorf("undo: %w", fault.err)))
	}
	return res
}

// beginUndo returns why a call cannot be undone. If it can, beginUndo keeps other goroutines from
// undoing it.
func (s *Session) beginUndo(r *callRecord) Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := s.mayNotUndo(r)
	r.undo.busy = r.undo.busy || why == ""
	return why
}

// mayNotUndo returns why a call cannot be undone, empty when it can. s.mu is held.
func (s *Session) mayNotUndo(r *callRecord) Code {
	tool, _ := s.exec.lookup(r.tool)
	now := s.exec.sched.Now()
	ended := r.first.Fired() && r.final == nil || r.final != nil && r.final.Fired()
	switch {
	case r.undo.done:
		return CodeAlreadyUndone
	case tool == nil || tool.spec.Undo == nil || r.undo.possible && r.undo.lost != nil:
		return CodeNotUndoable
	case !ended && r.final != nil && r.call.reservation != reservedAndInvoked:
		return CodeNotSuccessful
	case !ended:
		return CodeStillRunning
	case !r.undo.possible || r.outcome().Kind == runtime.Failed:
		return CodeNotSuccessful
	case !now.Before(r.undo.ended.Add(ruleTool(tool.spec).Undo)):
		return CodeExpired
	case r.undo.busy, r.outcome().Kind != runtime.Completed && !r.call.left.Load() && now.Before(r.undo.ended.Add(grace)):
		return CodeStillRunning
	}
	return ""
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
	denied := &undoFault{why: CodeDenied, err: err}
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
		return &undoFault{why: CodeHandlerError, err: errPreparing}
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
