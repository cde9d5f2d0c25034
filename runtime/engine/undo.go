package engine

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/operator"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var errPreparing = errors.New("what the undo needs is still being prepared")

// An UndoRequest says what is to be undone: one call or all calls of a run.
type UndoRequest struct {
	CallID string
	RunID  string // when CallID is empty
	By     operator.Actor
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

// Undo reverses the effects of a call, or of all calls of a run that succeeded, the last first. It
// calls the tool's undo handler, if it has one, closes again what the call opened, and frees its
// groups. The slot and the cooldown of the call stay. The operator policy decides about the undo of
// each call first (operator.Undo), and then the policy of calls, with PolicyInput.Undo. Both must
// allow it.
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
		return UndoResult{}, actionError(CodeUnknownCall)
	}
	if req.CallID == "" {
		return s.undoRun(ctx, req)
	}
	r := s.find(req.CallID)
	if r == nil {
		return UndoResult{}, actionError(CodeUnknownCall)
	}
	var res UndoResult
	var err *ActionError
	if req.DryRun {
		err = s.dryUndo(ctx, r, req.By)
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

// Undo is Session.Undo for a caller that has only the id of the session.
func (e *Executor) Undo(ctx context.Context, sessionID string, req UndoRequest) (UndoResult, error) {
	return e.sessionOf(sessionID).Undo(ctx, req)
}

// undoRun undoes the calls of a run that succeeded.
func (s *Session) undoRun(ctx context.Context, req UndoRequest) (all UndoResult, err error) {
	all.Complete = true
	for _, r := range s.succeeded(req.RunID) {
		one := &ActionError{Code: CodeNothingToUndo}
		switch {
		case s.exec.onlyReads(r.tool):
		case req.DryRun:
			one = s.dryUndo(ctx, r, req.By)
		default:
			one = s.undoCall(ctx, r, req)
		}
		all.add(r, one)
	}
	if req.DryRun {
		s.addLater(all.Calls)
	}
	if len(all.Failed) > 0 {
		err = actionError(CodeFailed)
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
	if !s.exec.enterForUndo() {
		return &ActionError{Code: CodeJournalUnavailable}
	}
	defer s.exec.gate.Leave()
	if err := s.mayUndo(ctx, r, req.By, false); err != nil {
		return err
	}
	if why := s.beginUndo(r); why != "" {
		return &ActionError{Code: why, Detail: s.reportLost(r, why)}
	}
	c := r.call
	fault := c.undoAllowed(ctx, req.By)
	if fault == nil {
		fault = c.undo(ctx, req.By.ID)
	}
	if fault != nil && fault.pending {
		return c.undoFailed(fault)
	}
	return c.concludeUndo(req.By.ID, fault)
}

// mayUndo asks the operator policy about the undo of a call.
func (s *Session) mayUndo(ctx context.Context, r *callRecord, by operator.Actor, dry bool) *ActionError {
	return s.exec.authorize(ctx, operator.Undo, by, operator.Target{Session: s.id, Run: r.run.id, Call: r.id, DryRun: dry}, s)
}

// beginUndo returns why a call cannot be undone. If it can, beginUndo keeps other goroutines from
// undoing it.
func (s *Session) beginUndo(r *callRecord) Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := s.undoRefusal(r)
	if why == "" {
		r.undo.busy, r.undo.asked = true, s.exec.sched.Now()
	}
	return why
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
	case c.handlerDone.Load():
		return nil // the call ended before its handler was released: it had no effect
	default:
		return &undoFault{why: CodeHandlerError, err: errPreparing}
	}
	return c.runUndoHandler(ctx, by, func(ctx context.Context) error {
		return hook(ctx, c.id, c.final, state, c.fullOutput(ctx, output))
	})
}
