package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/journal"
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
	ctx = orBackground(ctx)
	switch {
	case !e.log.On():
		e.simulate(simhooks.From(ctx))
		left, err := e.participants.Unsettled(ctx)
		if err != nil {
			return err
		}
		return e.settleUnknownCalls(ctx, left)
	case !errors.Is(e.log.Health(), commitlog.ErrNotRecovered):
		return errors.New("the journal was recovered before")
	}
	e.simulate(simhooks.From(ctx))
	if err := e.lease.Claim(ctx, e.journal); err != nil {
		return err
	}
	h, err := e.readJournal(ctx)
	if err != nil {
		e.lease.Unclaim()
		return err
	}
	e.log.Begin(h.Last)
	e.lease.Hold()
	e.recordOwner()
	if err = e.restore(ctx, h); err == nil {
		err = e.log.FlushAll()
	}
	if err != nil {
		e.log.Fail(fmt.Errorf("recovery has failed: %w", err))
		e.lease.Release(grace)
		return err
	}
	e.reconcile(ctx, h)
	if err = e.log.FlushAll(); err != nil {
		e.log.Fail(fmt.Errorf("recovery has failed: %w", err))
		e.lease.Release(grace)
	}
	return err
}

// readJournal reads the journal, and restores the sessions without their calls.
func (e *Executor) readJournal(ctx context.Context) (*history.History, error) {
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	if len(e.sessions.byID) > 0 {
		return nil, errors.New("recover before the first session is made")
	}
	if err := e.readKeys(ctx); err != nil {
		return nil, err
	}
	h, err := history.Read(ctx, e.journal, e.engine, e.approvals.Key())
	if err != nil {
		return nil, err
	}
	e.approvals.Restore(h.Book)
	e.seen.restore(h.Commands)
	for id, of := range h.Sessions {
		e.sessions.byID[id] = e.restoreSession(of)
	}
	return h, nil
}

// restoreSession returns a session of an earlier process, with its open runs.
func (e *Executor) restoreSession(of *history.Session) *Session {
	s := e.newSession(&SessionConfig{
		ID: of.ID, Principal: of.Principal, Behavior: of.Setup.Behavior, Modes: of.Setup.Modes, Capabilities: of.Setup.Capabilities,
	})
	s.state, s.runs = of.State, of.Runs
	for run, m := range of.Open {
		s.openNode(run, m)
	}
	return s
}

// readKeys reads the keys that the journal keeps apart from its entries, if it keeps any. A request
// of an earlier process can be approved only with the key that it was bound with.
func (e *Executor) readKeys(ctx context.Context) (err error) {
	keeper, ok := e.journal.(journal.Keeper)
	if !ok {
		e.inputs = e.approvals.Key()
		return nil
	}
	if e.inputs, err = keeper.Key(ctx, "inputs"); err != nil {
		return fmt.Errorf("the key of inputs: %w", err)
	}
	key, err := keeper.Key(ctx, "consent")
	if err != nil {
		return fmt.Errorf("the key of requests for consent: %w", err)
	}
	e.approvals.SetKey(key)
	return nil
}
