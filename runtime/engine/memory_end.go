package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A session ends in two steps. Once it is shut it takes no call, run or undo (SEMANTICS 1.4.5), and its runs are
// closed. When these have ended it forgets.

// Shut keeps new calls, runs and undos out of the session.
func (m *memory) Shut() { m.Undos.Shut() }

// IsShut reports whether the session has ended or is ending.
func (m *memory) IsShut() bool { return m.Undos != nil && m.Undos.IsShut() }

// Refuse returns the outcome of a new call that is not added: that of a call in a session that is shut, otherwise full,
// that of a call for which there is no room. nil: the call is added.
func (m *memory) Refuse(r *callRecord, full *runtime.Outcome) *runtime.Outcome {
	if !m.IsShut() {
		return full
	}
	out := outcomes.SessionEnded(r.ID, r.Tool)
	return &out
}

// AwaitWork waits until nothing of a session runs that is shut and whose runs were closed: no undo, and no handler that
// the end of a run or of an undo did not wait for. When ctx ends first, the error says how many still run. runs is what
// the ends of the runs have failed with; AwaitWork returns it too, and names the handlers only where it is nil: they may
// be the same ones.
func (m *memory) AwaitWork(ctx context.Context, s *sched.Scheduler, runs error) error {
	if left := m.Undos.Wait(s, nil, ctx.Done()); left > 0 {
		return errors.Join(runs, fmt.Errorf("%d undos are still running: %w", left, context.Cause(ctx)))
	}
	if runs != nil {
		return runs
	}
	m.Work.Shut()
	if left := m.Work.Wait(s, nil, ctx.Done()); left > 0 {
		return fmt.Errorf("%d handlers or commands of earlier runs or undos are still running: %w", left, context.Cause(ctx))
	}
	return nil
}

// Forget forgets what only later calls and undos would have needed: the state of the rules and the records of the
// calls. It keeps those of calls that have no outcome, whose outcome is unknown, or that are being undone or
// resolved. It reports false when the session had forgotten before.
func (m *memory) Forget() bool {
	if m.forgot {
		return false
	}
	m.forgot, m.changes = true, nil
	if m.engine != nil {
		m.rules = m.engine.NewState()
	}
	all, refs := m.calls, m.ended
	m.calls, m.ended, m.recent = callIndex{}, calls{}, nil
	for _, x := range m.byRun {
		x.last = nil
	}
	clear(m.byRun)
	for _, first := range all.chains {
		for r := first; r != nil; {
			next := r.next
			if r.outlives() {
				m.calls.putIfAbsent(r)
				m.byRun[r.run.run] = r.run
				r.run.add(r)
			}
			r = next
		}
	}
	for c := range refs.All() {
		if c.Kind == runtime.Unknown {
			m.ended.Put(&c)
		}
	}
	return true
}

// outlives reports whether the record is kept when its session has ended.
func (r *callRecord) outlives() bool {
	return !r.Ended() || r.Undo.Busy || r.Kind() == runtime.Unknown
}
