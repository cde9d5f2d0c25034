package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Status returns the status of r. For a closed run it is the status at the time of closing.
func (r *Run) Status() RunStatus {
	if r == nil || r.session == nil {
		return RunStatus{ID: r.ID(), State: runtime.RunFinished, Invocations: map[string]int{}}
	}
	defer r.session.place.Pin()()
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return r.status()
}

// status is Status. The session's lock is held.
func (r *Run) status() RunStatus {
	if r.node.Final != nil {
		return *r.node.Final
	}
	st := RunStatus{ID: r.id}
	in := r.session.memory.Rules().Status(r.id)
	st.State, st.Waiting, st.PendingExit, st.Reminders = runState(in.State), in.Waiting, in.PendingExit, in.Reminders
	if r.node.Workers.IsShut() {
		st.State = runtime.RunFinished
	}
	st.Active = len(r.node.Active())
	st.Invocations, st.Succeeded = r.currentFacts().ByName(func(i int) string { return r.session.exec.tools[i].Spec.Name })
	return st
}

// Close ends r: it cancels the calls without an outcome (run_closed); later calls are denied
// run_finished. It waits for the handlers. When ctx ends first, the error says how many handlers
// still run.
func (r *Run) Close(ctx context.Context) error {
	ctx = deadline.OrBackground(ctx)
	if r == nil || r.session == nil {
		return nil
	}
	s := r.session
	if err := s.place.Enter(); err != nil {
		return fmt.Errorf("run %q: %w", r.id, err)
	}
	defer s.place.Leave()
	s.mu.Lock()
	parts := r.node.Shut(&s.exec.sched, nil)
	var active []*call
	for _, p := range parts {
		active = append(active, p.Active()...)
	}
	s.mu.Unlock()
	slices.SortFunc(active, func(a, b *call) int { return a.record.Number - b.record.Number })
	sched.Each(&s.exec.sched, active, func(c *call) {
		c.finish(aborted(outcomes.RunClosed()))
		c.progress.Lock()
		over := c.done() // another goroutine may be about to end the call
		c.progress.Unlock()
		s.exec.sched.Wait(over, nil, nil)
	})
	if r.node.Root() {
		r.end()
	}
	var left int64
	for _, p := range parts {
		left += p.Workers.Wait(&s.exec.sched, nil, ctx.Done())
	}
	if err := s.exec.log.FlushAll(); err != nil {
		return fmt.Errorf("run %q: %w", r.id, err)
	}
	if left > 0 {
		return fmt.Errorf("run %q: %d handlers or commands are still running: %w", r.id, left, context.Cause(ctx))
	}
	return nil
}

// End ends s for good. It closes the runs of s as Run.Close does, cancels requests, takes grants back, waits for
// undos that run, and gives up those that have not begun. Every later call of s is denied run_finished, also one that repeats an
// earlier call; no run starts in s and no undo (SEMANTICS 1.4.5). A call whose outcome is unknown can still be resolved.
//
// When End returns nil the end is durable and nothing of s runs any more, whatever gave it up before: no handler of a call, an
// undo or a reconciliation, and no commit (SEMANTICS 1.4.8). When ctx ends first, s has ended and the error says what still
// runs. End may be called again.
func (s *Session) End(ctx context.Context) (err error) {
	s = s.whole()
	if s == nil || s.exec == nil || s.exec.reg == nil {
		return nil
	}
	ctx = deadline.OrBackground(ctx)
	if err := s.place.Enter(); err != nil {
		return err
	}
	defer s.place.Leave()
	s.mu.Lock()
	s.memory.Shut()
	open := s.memory.Open()
	s.mu.Unlock()
	for _, id := range open {
		r, _ := s.Run(id)
		err = errors.Join(err, r.Close(ctx))
	}
	err = s.memory.AwaitWork(ctx, &s.exec.sched, err)
	s.mu.Lock()
	if now := s.exec.sched.Now(); s.memory.Forget() {
		s.exec.approvals.End(now, s.id)
		s.record(journal.KindSessionEnded)
	}
	s.mu.Unlock()
	return errors.Join(err, s.exec.log.FlushAll())
}

// end closes the run in the rules and retains its final status.
func (r *Run) end() {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.node.Final != nil {
		return
	}
	st := r.status()
	st.State = runtime.RunFinished
	if s.memory.Rules().RunState(r.id) == rules.RunIncomplete {
		st.State = runtime.RunIncomplete
	}
	r.node.Final = &st
	if s.memory.CloseRun(s.exec.instant(s.exec.sched.Now()), r.id) {
		s.recordRun(journal.KindRunClosed, r.id, r.node)
	}
}
