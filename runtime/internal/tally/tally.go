// Package tally holds what an executor tells counters and tracers: what the parts of a call take, and
// how many calls do what at the moment. It keeps counters and tracers, which are code of the
// application, from failing a call.
package tally

import (
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// A Tally counts for runtime.Stats and calls the counters of the application. The first two fields are
// set, and the counters added, before the first call. Its other methods are safe for concurrent use.
type Tally struct {
	Tracer runtime.Tracer // nil: there is none
	Report func(error)    // takes the panics of counters and of the tracer, and must not wait for them

	Running atomic.Int64 // handlers
	Queued  atomic.Int64 // calls that wait for a slot of their tool

	late     atomic.Uint64
	counters []*counter
}

// A counter is one of the application.
type counter struct {
	runtime.Counter
	broken atomic.Bool // it has panicked
}

// Add adds a counter. It counts beside those that there are.
func (t *Tally) Add(c runtime.Counter) {
	if c != nil {
		t.counters = append(t.counters, &counter{Counter: c})
	}
}

// LateResults returns how many results came after their call had ended.
func (t *Tally) LateResults() uint64 { return t.late.Load() }

// Notice begins a transition, and reports whether Count is to be told of it.
func (t *Tally) Notice(kind runtime.EventKind) bool {
	if kind == runtime.EventLateResult {
		t.late.Add(1)
	}
	return len(t.counters) > 0
}

// Count passes a transition to the counters. One that has panicked is called no more.
func (t *Tally) Count(tr runtime.Transition) {
	for _, c := range t.counters {
		if !c.broken.Load() {
			t.count(c, tr)
		}
	}
}

func (t *Tally) count(c *counter, tr runtime.Transition) {
	defer t.recovered(c)
	c.Count(tr)
}

// recovered recovers a panic of a counter.
func (t *Tally) recovered(c *counter) {
	if v := recover(); v != nil && !c.broken.Swap(true) {
		t.Report(usercode.Panic(v))
	}
}
