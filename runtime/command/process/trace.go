package process

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
)

// A Trace is told of the process of an attempt, by the goroutine that runs the attempt, which waits for it.
// Its functions may be nil. They get nothing of what the process is given or writes.
type Trace struct {
	// Started is called once the process is recorded, before its program runs.
	Started func(runtime.RunningProcess)

	// Ended is called when nothing of the process is left.
	Ended func(*Summary)
}

type traceKey struct{}

// WithTrace returns a context, for a tracer to return from runtime.Span.Attempt: t is told of the process that
// the attempt runs, if its tool is a command.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the Trace of a context; nil: it has none.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}
