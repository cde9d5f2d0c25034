// Package tally holds what an executor tells counters and tracers: what the parts of a call take, and
// how many calls do what at the moment. It keeps counters and tracers, which are code of the
// application, from failing a call.
package tally

import (
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// A Tally counts for runtime.Stats and calls the counter of the application. The first three fields
// are set before the first call. Its methods are safe for concurrent use.
type Tally struct {
	Counter runtime.Counter // nil: there is none
	Tracer  runtime.Tracer  // nil: there is none
	Report  func(error)     // takes the panics of both, and must not wait for them

	Running atomic.Int64 // handlers
	Queued  atomic.Int64 // calls that wait for a slot of their tool

	late   atomic.Uint64
	broken atomic.Bool // Counter has panicked
}

// LateResults returns how many results came after their call had ended.
func (t *Tally) LateResults() uint64 { return t.late.Load() }

// Notice begins a transition, and reports whether Count is to be told of it.
func (t *Tally) Notice(kind runtime.EventKind) bool {
	if kind == runtime.EventLateResult {
		t.late.Add(1)
	}
	return t.Counter != nil
}

// Count passes a transition to the counter, which is called no more once it has panicked.
func (t *Tally) Count(tr runtime.Transition) {
	if t.broken.Load() {
		return
	}
	defer t.recovered()
	t.Counter.Count(tr)
}

// recovered recovers a panic of the counter.
func (t *Tally) recovered() {
	if v := recover(); v != nil && !t.broken.Swap(true) {
		t.Report(usercode.Panic(v))
	}
}
