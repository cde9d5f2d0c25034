package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// ExecuteBatch makes the calls of one message of the model and returns one outcome for
// each, in their order. It admits them in that order in both modes. A refused call does
// not stop the following ones, and a call that waits for consent counts as ended. In
// both modes a call of a tool with an order, start or exit rule waits until all earlier
// calls have ended, and later calls wait for it.
func (t *Turn) ExecuteBatch(ctx context.Context, calls []runtime.Call, mode BatchMode) []runtime.Outcome {
	outcomes := make([]runtime.Outcome, len(calls))
	ctx = deadline.OrBackground(ctx)
	if mode == Sequential || t == nil || t.run == nil || t.run.session == nil {
		for i := range calls {
			outcomes[i] = t.Execute(ctx, calls[i])
		}
		return outcomes
	}
	e := t.run.session.exec
	for first := 0; first < len(calls); {
		last := first + 1
		if !e.tied(calls[first].Tool) {
			for last < len(calls) && !e.tied(calls[last].Tool) {
				last++
			}
		}
		t.executeParallel(ctx, calls[first:last], outcomes[first:last])
		first = last
	}
	return outcomes
}

// tied reports whether the tool that a call names has an order, start or exit rule.
func (e *Executor) tied(name string) bool {
	t := e.lookup(name)
	return t != nil && e.engine.Tied(t.Spec.Name)
}

// executeParallel admits calls one after the other, lets the admitted calls start at once, and
// waits for all of them.
func (t *Turn) executeParallel(ctx context.Context, calls []runtime.Call, outcomes []runtime.Outcome) {
	s := t.run.session
	e := s.exec
	open := sched.NewEvent()
	begun := make([]*call, len(calls))
	earlier := make([]*callRecord, len(calls))
	for i, in := range calls {
		b := &batch{admitted: sched.Event{}, open: open}
		c, r := t.begin(ctx, in, b)
		begun[i], earlier[i] = c, r
		if c == nil {
			continue
		}
		if e.sched.Wait(&b.admitted, &c.record.First, ctx.Done()) == sched.Done {
			c.cancelByCaller()
			e.sched.Wait(&b.admitted, &c.record.First, nil)
		}
	}
	e.sched.Fire(open)
	for i, c := range begun {
		if c != nil {
			c.await(&outcomes[i])
		} else {
			outcomes[i] = s.waiting().Answer(earlier[i], ctx.Done())
		}
	}
}
