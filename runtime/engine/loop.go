package engine

import (
	"context"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// ExecuteRequired makes the calls for which the declaration holds complete arguments:
// those of start tools that have not succeeded yet and may still run, and, once the run
// is ending or its model has stopped, those of required tools that are open.
func (t *Turn) ExecuteRequired(ctx context.Context) []runtime.Outcome {
	if t == nil || t.run == nil || t.run.session == nil {
		return nil
	}
	r, s := t.run, t.run.session
	defer s.place.Pin()()
	s.mu.Lock()
	names := s.memory.Required(r.id, r.by.Principal)
	s.mu.Unlock()
	var outcomes []runtime.Outcome
	for _, name := range names {
		if tool := s.exec.lookup(name); tool.Spec.Args != "" {
			outcomes = append(outcomes, t.Execute(ctx, runtime.Call{Tool: name, Input: []byte(tool.Spec.Args)}))
		}
	}
	return outcomes
}

// Periodic makes a call of each tool that declares every, with the arguments that it declares, once
// per period, until ctx ends or r is closed. Each call has a turn of its own. The first call is
// made when the first period is over; a call that takes longer than a period delays the next one.
// The calls are admitted like all other calls; observers and sinks get their outcomes.
func (r *Run) Periodic(ctx context.Context) error {
	ctx = deadline.OrBackground(ctx)
	if r == nil || r.session == nil {
		return nil
	}
	e := r.session.exec
	specs, err := tools.Periodic(e.tools)
	if err != nil {
		return err
	}
	r.session.mu.Lock()
	closed := r.node.Closed(&e.sched)
	r.session.mu.Unlock()
	sched.Together(&e.sched, specs, func(spec *runtime.Spec) {
		sched.Repeat(&e.sched, spec.Every, closed, ctx.Done(), func() {
			r.Turn(TurnConfig{}).Execute(ctx, runtime.Call{Tool: spec.Name, Input: []byte(spec.Args)})
		})
	})
	return nil
}

// ModelStopped records that the model answered without a call, and returns the status of the run.
// While required tools are open, the status has a Reminder for the model, until the reminders are
// used up and the run is incomplete. While a call waits for consent, ModelStopped changes nothing.
func (r *Run) ModelStopped(_ context.Context) RunStatus {
	if r == nil || r.session == nil {
		return r.Status()
	}
	s := r.session
	defer s.place.Pin()()
	s.exec.approvals.ProcessDue()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory.StopRun(s.exec.instant(s.exec.sched.Now()), r.id) {
		s.recordRun(journal.KindRunStopped, r.id, r.node)
	}
	st := r.status()
	if st.State == runtime.RunRunning || st.State == runtime.RunCleanup {
		st.Reminder = "the run cannot end yet: call " + strings.Join(st.PendingExit, ", ") + " first"
	}
	return st
}
