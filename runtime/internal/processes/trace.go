package processes

import (
	"context"

	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// traceStart tells the tracer of an attempt of its process. A tracer that panics fails no call (SEMANTICS 6.13.5).
func (s *Set) traceStart(ctx context.Context, r *running) {
	t := process.TraceOf(ctx)
	if t == nil || t.Started == nil {
		return
	}
	s.mu.Lock()
	of := r.RunningProcess
	s.mu.Unlock()
	_ = usercode.Call(func() error { t.Started(of); return nil })
}

// traceEnd tells the tracer of an attempt how its process ended.
func traceEnd(ctx context.Context, sum *process.Summary) {
	if t := process.TraceOf(ctx); t != nil && t.Ended != nil {
		_ = usercode.Call(func() error { t.Ended(sum); return nil })
	}
}
