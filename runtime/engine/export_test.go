package engine

import (
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Note sets a function that gets every change of a rule state. Call Note before the
// first change.
func (e *Executor) Note(f func(session string, ev rules.Event)) { e.onRuleEvent = f }

// NoteConsent sets a function that gets every change of the book of requests.
func (e *Executor) NoteConsent(f func(consent.Event)) {
	asking := e.approvals.Begin(time.Time{}, nil) // which locks the book
	defer asking.End()
	e.onConsentEvent = func(ev *consent.Event) { f(*ev) }
}

// Engine returns the rule engine of e.
func (e *Executor) Engine() *rules.Engine { return e.engine }

// BookKey returns the key of the book of requests.
func (e *Executor) BookKey() []byte { return e.approvals.Key() }

// Masked returns a digest of arguments in the form in which it is recorded.
func (e *Executor) Masked(d rules.Digest) rules.Digest {
	e.inputs.Mask(&d)
	return d
}

// Block keeps the tool at position i from running until the turn ends, as a tool that
// timed out is.
func (t *Turn) Block(i int) { t.blocked.Add(i) }

// WorkerDoneHolds reports whether the result that all calls share holds something of one.
func WorkerDoneHolds() bool { return workerDone.verdict != nil || workerDone.outcome.CallID != "" }

// AllocsOfUnsetHooks returns how many allocations the hooks of a call make without a tracer and a counter.
func (e *Executor) AllocsOfUnsetHooks() float64 {
	c := &call{}
	c.exec = e
	return testing.AllocsPerRun(100, func() {
		trace(c)
		ctx, end := c.span.Policy(c.ctx)
		end()
		_, end = c.span.Attempt(ctx, 1)
		end()
		c.span.Consent()
		endSpan(c)
		if e.tally.Notice(runtime.EventStarted) {
			panic("there is a counter")
		}
	})
}

// Resident returns how many sessions are in memory.
func (e *Executor) Resident() int { return e.sessions.Len() }

// Unload lets the sessions leave memory in which nothing is open, and returns how many have left.
func (e *Executor) Unload() int { return e.sessions.Unload() }

// Session returns the session of r.
func (r *Run) Session() *Session { return r.session }

// Holds returns how many runs of s are open, and how many goroutines work for it.
func (s *Session) Holds() (runs int, working int64) {
	over := sched.NewEvent()
	s.exec.sched.Fire(over)
	working = s.memory.Work.Wait(&s.exec.sched, over, nil)
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.memory.Open()), working
}

// What tests of the package's users compare with.
const (
	ManyCalls = manyCalls
	IdleTime  = idleTime
)
