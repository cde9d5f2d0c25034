package engine

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var errPreparing = errors.New("what the undo needs is still being prepared")

// Undo reverses the effects of a call, or of all calls of a run that succeeded, the last first. It
// calls the tool's undo handler, if it has one, closes again what the call opened, and frees its
// groups. The slot and the cooldown of the call stay. The operator policy decides about the undo of
// each call first (runtime.ActUndo), and then the policy of calls, with PolicyInput.Undo. Both must
// allow it.
//
// An undo handler runs like the handler of a call: with the deadline of the tool, which ends
// earlier when ctx ends, under a fence (Commit), and in one transaction over the participants
// (PartOf), which is rolled back when the handler fails. A failed undo can be tried again. Its
// effects outside of participants are then not known, so an undo handler must check the present
// state.
//
// The error is an *action.Error. Undo of a run returns one when calls of UndoResult.Failed were not
// undone. A call that is not undoable is no error of the run. A run that the session does not know, as one that ended
// without a call, is action.CodeUnknownCall, dry or not, and so is a request that names neither a call nor a run.
//
// A dry run (UndoRequest.DryRun) calls no handler, records nothing and changes nothing. The policy
// is evaluated. A dry run cannot tell what only the undo handler finds out, such as drift.
func (s *Session) Undo(ctx context.Context, req action.UndoRequest) (action.UndoResult, error) {
	s = s.whole()
	ctx = deadline.OrBackground(ctx)
	if s == nil || s.exec == nil {
		return action.UndoResult{}, action.CodeUnknownCall.Err()
	}
	if err := s.place.Enter(); err != nil {
		return action.UndoResult{}, &action.Error{Code: action.CodeJournalUnavailable, Err: err}
	}
	defer s.place.Leave()
	if !s.memory.Undos.Enter() { // SEMANTICS 1.4.5
		return action.UndoResult{}, action.CodeExpired.Err()
	}
	defer s.memory.Undos.Leave()
	if req.CallID == "" {
		return s.undoRun(ctx, req)
	}
	r, err := s.past.Hold(req.CallID, s.revive)
	if err != nil {
		return action.UndoResult{}, err
	}
	defer s.past.LetGo(r)
	var res action.UndoResult
	if err = s.tryUndo(ctx, r, req); req.DryRun {
		res.Calls = []action.UndoneCall{(&successfulCall{ID: r.ID, Tool: r.Tool}).Undone(err)}
		s.addLater(res.Calls)
	}
	if err != nil {
		return res, err
	}
	return res, nil
}

// Undo is Session.Undo for a caller that has only the id of the session.
func (e *Executor) Undo(ctx context.Context, sessionID string, req action.UndoRequest) (action.UndoResult, error) {
	return e.sessionOf(sessionID).Undo(ctx, req)
}

// undoRun undoes the calls of a run that succeeded.
func (s *Session) undoRun(ctx context.Context, req action.UndoRequest) (all action.UndoResult, err error) {
	s.mu.Lock()
	known, succeeded := s.memory.KnowsRun(req.RunID), s.memory.Succeeded(req.RunID)
	s.mu.Unlock()
	switch {
	case req.RunID == "":
		return all, &action.Error{Code: action.CodeUnknownCall, Detail: "name a call, or a run"}
	case !known:
		return all, &action.Error{Code: action.CodeUnknownCall, Detail: "the session has no run " + wording.Quote(req.RunID) + " that is open or has made a call"}
	}
	all.Complete = true
	for _, of := range succeeded {
		one := &action.Error{Code: action.CodeNothingToUndo}
		if !s.exec.lookup(of.Tool).OnlyReads() {
			var r *callRecord
			if r, one = s.past.Hold(of.ID, s.revive); one == nil {
				defer s.past.LetGo(r) // addLater needs all of them
				one = s.tryUndo(ctx, r, req)
			}
		}
		all.Add(of.Undone(one))
	}
	if req.DryRun {
		s.addLater(all.Calls)
	}
	if len(all.Failed) > 0 {
		err = action.CodeFailed.Err()
	}
	return all, err
}

// tryUndo undoes one call, or says what that would do.
func (s *Session) tryUndo(ctx context.Context, r *callRecord, req action.UndoRequest) *action.Error {
	if req.DryRun {
		return s.dryUndo(ctx, r, req.By)
	}
	return s.undoCall(ctx, r, req)
}

// undoCall undoes one call.
func (s *Session) undoCall(ctx context.Context, r *callRecord, req action.UndoRequest) *action.Error {
	if !s.exec.enterForUndo() {
		return &action.Error{Code: action.CodeJournalUnavailable}
	}
	defer s.exec.capacity.Gate.Leave()
	if err := s.mayUndo(ctx, r, req.By, false); err != nil {
		return err
	}
	if why := s.beginUndo(r); why != "" {
		return &action.Error{Code: why, Detail: s.reportLost(r, why)}
	}
	u := undoing{r.Live, req.By.ID}
	fault := u.allowed(ctx, req.By)
	if fault == nil {
		fault = u.run(ctx)
	}
	if fault != nil && fault.Pending {
		return u.failed(fault)
	}
	return u.conclude(fault)
}

// mayUndo asks the operator policy about the undo of a call.
func (s *Session) mayUndo(ctx context.Context, r *callRecord, by runtime.Actor, dry bool) *action.Error {
	return s.exec.authorize(ctx, runtime.ActUndo, by, runtime.ActTarget{Session: s.id, Run: r.Run(), Call: r.ID, DryRun: dry}, s)
}

// beginUndo returns why a call cannot be undone. If it can, beginUndo keeps other goroutines from
// undoing it.
func (s *Session) beginUndo(r *callRecord) action.Code {
	s.mu.Lock()
	defer s.mu.Unlock()
	why := s.undoRefusal(r)
	if why == "" {
		r.Undo.Busy, r.Undo.Asked = true, s.exec.sched.Now()
	}
	return why
}

// undoRefusal returns why a call cannot be undone, empty when it can. s.mu is held.
func (s *Session) undoRefusal(r *callRecord) action.Code {
	returned := func() bool { return r.Live.progress.HandlerDone() }
	return r.RefuseUndo(s.exec.lookup(r.Tool), s.exec.sched.Now(), grace, returned)
}

// run calls the undo handler, if there is one.
func (u undoing) run(ctx context.Context) *undoFault {
	c := u.c
	hook := c.tool.Hooks.Undo
	if hook == nil {
		return nil
	}
	var output wire.Value
	if c.record.Kind() == runtime.Completed {
		output = c.values.Outputs
	}
	c.progress.Lock()
	state, isPrepared := c.prepared, c.isPrepared
	c.progress.Unlock()
	switch {
	case c.tool.Hooks.Prepare == nil || isPrepared:
	case c.progress.HandlerDone():
		return nil // the call ended before its handler was released: it had no effect
	default:
		return &undoFault{Code: action.CodeHandlerError, Err: errPreparing}
	}
	return u.runHandler(ctx, func(ctx context.Context) error {
		return hook(ctx, c.id, c.values.Final, state, c.fullOutput(ctx, output))
	})
}

// allowed evaluates the policy for the undo.
func (u undoing) allowed(ctx context.Context, by runtime.Actor) *undoFault {
	c, s := u.c, u.c.run.session
	s.mu.Lock()
	facts := c.run.currentFacts()
	s.mu.Unlock()
	in := c.policyInputOf(c.values.Final, facts, c.clock())
	in.Undo, in.UndoneBy = true, by
	return judgeUndo(c.evaluateDetached(ctx, in))
}

// dryUndo returns the result that an undo of a call would have, as far as it is known before the
// undo handler runs.
func (s *Session) dryUndo(ctx context.Context, r *callRecord, by runtime.Actor) *action.Error {
	if !s.exec.enterForUndo() {
		return &action.Error{Code: action.CodeJournalUnavailable}
	}
	defer s.exec.capacity.Gate.Leave()
	if err := s.mayUndo(ctx, r, by, true); err != nil {
		return err
	}
	s.mu.Lock()
	why := s.undoRefusal(r)
	s.mu.Unlock()
	if why != "" {
		return &action.Error{Code: why}
	}
	u := undoing{r.Live, by.ID}
	if fault := u.allowed(ctx, by); fault != nil {
		return u.failed(fault)
	}
	return nil
}

// addLater adds to calls that would be undone the later calls that share something with them,
// except those that would be undone too.
func (s *Session) addLater(calls []action.UndoneCall) {
	ran := func(c *call) wire.Value {
		if c == nil {
			return nil
		}
		return c.values.Final
	}
	s.past.AddLater(calls, overlapRules{Tool: s.exec.lookup, Final: ran})
}
