package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
)

// Execute carries out a call and returns its outcome. It never panics. It returns when the outcome
// is known: at the deadline at the latest, or as soon as ctx is done, whether or not the handler
// has returned.
//
// A call with the id and the arguments of an earlier call of the session is not run again: it gets
// the outcome of the earlier call, once that call has ended.
func (t *Turn) Execute(ctx context.Context, in runtime.Call) (out runtime.Outcome) {
	ctx = orBackground(ctx)
	switch c, earlier := t.begin(ctx, in, nil); {
	case c != nil:
		c.await(&out)
	case earlier != nil:
		out = earlier.await(ctx, t.run.session)
	default:
		out = noRun(in)
	}
	return out
}

// begin passes a call to a worker, unless it ends before or repeats an earlier call.
func (t *Turn) begin(ctx context.Context, in runtime.Call, b *batch) (c *call, earlier *callRecord) {
	if c, earlier = t.open(ctx, in, ctx.Done()); c == nil || earlier != nil {
		return nil, earlier
	}
	c.batch = b
	t.launch(c)
	return c, nil
}

// launch passes a new call to a worker, unless the call ends before.
func (t *Turn) launch(c *call) {
	c.announce()
	if r := c.lookup(); r != nil {
		c.finish(r)
		c.depart()
		return
	}
	c.exec.workers.take(c)
}

// noRun returns the outcome of a call in a turn that belongs to no run.
func noRun(in runtime.Call) runtime.Outcome {
	return runtime.Outcome{
		CallID: in.ID, Tool: in.Tool, Kind: runtime.Denied,
		Reason: runtime.ReasonShuttingDown, AllReasons: []runtime.Reason{runtime.ReasonShuttingDown},
		Message: "no executor is running: calls are made in a turn of a run",
	}
}
