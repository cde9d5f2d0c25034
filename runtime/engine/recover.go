package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
)

// Recover reads the journal (WithJournal) and restores from it what lasts: sessions and runs with
// their rule state, grants, requests that approvers may still answer, and the outcomes of calls
// with the state that their undo needs. It settles the calls that had no outcome. A call whose
// handler was never started has failed (interrupted) and had no effect. A call whose handler was
// started is unknown, until its tool's reconcile handler, an operator or an undo gives it an
// outcome.
//
// The application calls Recover once, before any other method. Without a journal Recover only rolls
// back the remaining parts of calls at participants.
//
// An error says that the journal cannot be read, was not written for these tools or belongs to
// another process, or that a participant does not answer. The executor then starts no call, now or
// later.
func (e *Executor) Recover(ctx context.Context) error {
	if e == nil || e.engine == nil {
		return errors.New("only an executor made by NewExecutor can recover")
	}
	ctx = deadline.OrBackground(ctx)
	switch {
	case !e.log.On():
		e.simulate(simhooks.From(ctx))
		parts, err := e.findParts(ctx)
		if err != nil {
			return err
		}
		return parts.SettleRest(ctx)
	case errors.Is(e.log.Health(), commitlog.ErrClosed):
		return errors.New("the executor was shut down: a new one recovers the journal")
	case !errors.Is(e.log.Health(), commitlog.ErrNotRecovered):
		return errors.New("the journal was recovered before")
	}
	e.simulate(simhooks.From(ctx))
	if err := e.lease.Claim(ctx, e.journal); err != nil {
		return err
	}
	parts, unsettled := e.findParts(ctx)
	h, err := e.readJournal(ctx, parts)
	if err != nil {
		e.lease.Unclaim()
		return err
	}
	e.log.Begin(h.Last)
	e.lease.Hold()
	e.recordOwner()
	if err = unsettled; err == nil {
		err = e.restore(ctx, h, parts)
	}
	if err == nil {
		err = e.log.FlushAll()
	}
	if err == nil {
		e.reconcile(ctx, h)
		err = e.snapshots.Checkpoint(ctx)
	}
	if err != nil {
		e.log.Fail(fmt.Errorf("recovery has failed: %w", err))
		e.lease.Release(grace)
		return err
	}
	if err := e.processes.SweepSpool(); err != nil {
		e.report(&action.CallError{Err: err})
	}
	for id := range h.Sessions {
		e.seat(id).place.Leave()
	}
	if e.hooks == nil { // a simulation says itself when sessions leave memory
		e.sessions.Begin()
	}
	return nil
}

// readJournal reads what a start needs of the journal, and restores the sessions in which something is to be settled,
// without their calls. The caller has to leave them. parts are what participants hold.
func (e *Executor) readJournal(ctx context.Context, parts *undecidedParts) (*history.History, error) {
	if e.sessions.Len() > 0 {
		return nil, errors.New("recover before the first session is made")
	}
	inputs, requests, err := recoverKeys(ctx, e.journal, e.approvals.Key())
	if err != nil {
		return nil, err
	}
	e.inputs = inputs
	e.approvals.SetKey(requests)
	h, err := readSessions(ctx, e.journal, e.engine, e.approvals.Key(), e.holdings, parts)
	if err != nil {
		return nil, err
	}
	e.approvals.Restore(h.Books)
	e.seen.Restore(h.Commands)
	for id, of := range h.Sessions {
		s := e.seat(id)
		s.restore(of)
		s.place.Put()
	}
	return h, nil
}

// restore sets s to what the journal says of it, with its open runs, but without its calls.
func (s *Session) restore(of *history.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Store(configOf(of))
	s.memory.Restore(of)
}

// findParts returns what participants hold of earlier calls.
func (e *Executor) findParts(ctx context.Context) (*undecidedParts, error) {
	return findParts(ctx, e.participants, func(key runtime.CallKey, err error) {
		e.report(&action.CallError{CallID: key.Call, SessionID: key.Session, Reason: runtime.ReasonCommitFailed, Err: err})
	})
}

// restore adds the calls of h to their sessions. It settles their remaining parts at participants,
// and the calls that have no outcome.
func (e *Executor) restore(ctx context.Context, h *history.History, parts *undecidedParts) error {
	if e.hooks == nil || e.config.Runner != nil { // a simulation without a runner has no processes
		e.processes.EndRecorded(ctx, h.Calls, func(r *history.Call, err error) {
			e.report(&action.CallError{Tool: r.Tool, CallID: r.ID, SessionID: r.Session, RunID: r.Run, Reason: runtime.ReasonInterrupted, Err: err})
		})
	}
	var unfinished, undos, ended []interrupted
	for _, r := range h.Calls {
		key := runtime.CallKey{Session: r.Session, Call: r.ID}
		of := parts.Take(key)
		c, redeclared := e.restoreCall(e.seat(r.Session), r, h.Books)
		if redeclared {
			e.reportRedeclared(r)
		}
		if c != nil {
			unfinished = append(unfinished, interrupted{c, r, parts, of})
		} else if r.Outcome != nil {
			parts.SettleEnded(ctx, key, of, r)
			if len(r.Processes) > 0 {
				ended = append(ended, interrupted{c: e.undoneCall(r), of: r})
			}
		}
		key.Undo = true
		of = parts.Take(key)
		if r.Undo != nil {
			undos = append(undos, interrupted{e.undoneCall(r), r, parts, of})
		} else {
			parts.Settle(ctx, key, of, r.Undone)
		}
	}
	parts.SettlePast(ctx, h.Sessions)
	parts.LeaveRest()
	e.approvals.Resume()
	stale := e.sched.Now().Sub(h.LastAt) > DefaultStale
	for _, o := range ended {
		o.recordEnds()
	}
	for _, o := range undos {
		o.settleUndo(ctx)
	}
	for _, o := range unfinished {
		if !e.hooks.Skips(o.of.Session, o.of.ID) {
			o.settle(ctx, stale)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(h.Sessions)) { // also what versions up to 89cfa63 have left open
		for _, run := range slices.Sorted(maps.Keys(h.Sessions[id].Open)) {
			e.seat(id).endMoot(run)
		}
	}
	return nil
}

// restoreCall adds a call that outlives its session. It returns the call when recovery has to settle it. It reports
// whether the call waits for consent and its tool has another declaration now.
func (e *Executor) restoreCall(s *Session, r *history.Call, books *consent.Books) (_ *call, redeclared bool) {
	if r.Outcome == nil {
		s.place.Put() // finish leaves it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := restoredRecord(r)
	calls := s.memory.Calls(r.Run)
	calls.Restore(r.Turn, r.Agent)
	s.memory.Add(rec, calls)
	if r.Outcome != nil {
		rec.Store(r.Outcome)
		rec.RestoreUndo(r)
		e.sched.Fire(&rec.First)
		s.reviveIn(s.memory.Node(r.Run), r, rec)
		return nil, false
	}
	c := s.callOf(s.memory.Node(r.Run), r, rec)
	rec.Live, c.entered = c, true
	c.position = c.run.node.Enter(c)
	req, waits := r.OpenRequest(books)
	if waits {
		c.consent = approvals.Restored(&req)
		c.progress.Watch.Enter(tally.Consent, req.Created)
	}
	switch {
	case waits && (c.values.Final != nil || c.redeclared(&req)):
		c.declarationChanged = c.redeclared(&req)
		c.record.Reservation, c.needsReadmission = reserved, c.progress.State() == runtime.StateAuthorized
		interrupted{c: c, of: r}.restoreWait(&req)
		if req.Status != consent.StatusApproved {
			return nil, c.declarationChanged
		}
		c.progress.Life.Approve() // its handler was not started: it continues
		return c, c.declarationChanged
	case c.progress.State() == runtime.StateExecuting:
		c.record.Reservation, c.isSettled = reservedAndInvoked, true
	case c.progress.State() == runtime.StateAuthorized || r.Request != "":
		c.record.Reservation = reserved
		c.needsReadmission = r.Triggered && c.progress.State() == runtime.StateAuthorized && c.values.Args != nil
	}
	return c, false
}

// restoreWait lets the call continue to wait for consent. The lock of its session is held.
func (i interrupted) restoreWait(req *consent.Request) {
	c := i.c
	c.progress.Life.RestoreWait(false)
	c.record.Final, c.record.Live = sched.NewEvent(), c
	c.exec.approvals.Attach(req.ID, c)
	c.exec.sched.Fire(&c.record.First)
}

// redeclared reports whether the declaration of the tool of a waiting call has changed since the
// request for consent. The lock of the call's session is held.
func (c *ident) redeclared(req *consent.Request) bool {
	return c.tool == nil || c.tool.Spec.Pin != req.Pin
}

// reportRedeclared reports, to the sinks and the error handler, a request that stays open and that
// no approval under the present declaration can satisfy (SEMANTICS 2.1.8 and 5.8.2).
func (e *Executor) reportRedeclared(r *history.Call) {
	rec, _ := e.sessionOf(r.Session).past.Find(r.ID)
	c := rec.Live
	c.progress.Lock()
	defer c.progress.Unlock()
	err := fmt.Errorf("the declaration of tool %q has changed since consent was asked for: request %s stays open, and an approval under this declaration is rejected (%s) and changes nothing; under the former one it counts", c.record.Tool, c.consent.Request, consent.TermsChanged)
	c.transition(runtime.EventStale, c.progress.State(), &note{At: c.clock(), Text: err.Error()})
	e.report(c.newFault(runtime.ReasonNone, err))
}
