package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Status returns the status of r. For a closed run it is the status at the time of closing.
func (r *Run) Status() RunStatus {
	if r == nil || r.session == nil {
		return RunStatus{ID: r.ID(), State: runtime.RunFinished, Invocations: map[string]int{}}
	}
	r.session.mu.Lock()
	defer r.session.mu.Unlock()
	return r.status()
}

// status is Status. The session's lock is held.
func (r *Run) status() RunStatus {
	if r.node.final != nil {
		return *r.node.final
	}
	st := RunStatus{ID: r.id, Invocations: map[string]int{}}
	in := r.session.state.Status(r.id)
	st.State, st.Waiting, st.PendingExit, st.Reminders = runState(in.State), in.Waiting, in.PendingExit, in.Reminders
	if r.node.workers.IsShut() {
		st.State = runtime.RunFinished
	}
	st.Active = len(r.node.active)
	facts := r.currentFacts()
	for i, t := range r.session.exec.tools {
		f := facts.Tool(i)
		if f.Invocations > 0 {
			st.Invocations[t.spec.Name] = int(f.Invocations)
		}
		if f.Successes > 0 {
			st.Succeeded = append(st.Succeeded, t.spec.Name)
		}
	}
	return st
}

// Close ends r: it cancels the calls without an outcome (run_closed); later calls are denied
// run_finished. It waits for the handlers. When ctx ends first, the error says how many handlers
// still run.
func (r *Run) Close(ctx context.Context) error {
	ctx = orBackground(ctx)
	if r == nil || r.session == nil {
		return nil
	}
	s := r.session
	s.mu.Lock()
	parts := r.node.shut(s.exec, nil)
	var active []*call
	for _, p := range parts {
		active = append(active, p.active...)
	}
	s.mu.Unlock()
	slices.SortFunc(active, func(a, b *call) int { return a.record.number - b.record.number })
	s.exec.forEachCall(active, func(c *call) {
		c.finish(cancellation(runtime.ReasonRunClosed))
		c.mu.Lock()
		over := c.done() // another goroutine may be about to end the call
		c.mu.Unlock()
		s.exec.sched.Wait(over, nil, nil)
	})
	if r.node.parent == nil {
		r.end()
	}
	var left int64
	for _, p := range parts {
		left += p.workers.Wait(&s.exec.sched, nil, ctx.Done())
	}
	if err := s.exec.log.FlushAll(); err != nil {
		return fmt.Errorf("run %q: %w", r.id, err)
	}
	if left > 0 {
		return fmt.Errorf("run %q: %d handlers are still running: %w", r.id, left, context.Cause(ctx))
	}
	return nil
}

// end closes the run in the rules and retains its final status.
func (r *Run) end() {
	s := r.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.node.final != nil {
		return
	}
	st := r.status()
	st.State = runtime.RunFinished
	if s.state.RunState(r.id) == rules.RunIncomplete {
		st.State = runtime.RunIncomplete
	}
	r.node.final = &st
	if _, ev, err := s.state.CloseRun(s.exec.instant(s.exec.sched.Now()), r.id); err == nil {
		s.addRuleEvent(&ev)
		s.recordRun(journal.KindRunClosed, r.id, r.node)
	}
	s.closeNode(r.id)
}
