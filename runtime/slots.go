package runtime

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A lane lets the handlers of one tool, or the evaluations of the policy, run,
// limited in number, in the order in which they came.
type lane struct {
	limit  int          // 0: none
	most   int64        // that may be inside, which includes those that are judged
	inside atomic.Int64 // calls in flight

	mu      sync.Mutex
	running int
	waiting []*signal     // happens when its owner got a slot
	first   int           // of those that wait
	mean    time.Duration // for which a slot was held lately
}

// acquire takes a slot. When none is free it returns what to wait for.
func (l *lane) acquire() (wait *signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running < l.limit {
		l.running++
		return nil
	}
	wait = newSignal()
	l.waiting = append(l.waiting, wait)
	return wait
}

// release gives a slot back, to the first who waits.
func (l *lane) release(e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pass(e)
}

// releaseAfter is release for a slot that was held for d.
func (l *lane) releaseAfter(d time.Duration, e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took(d)
	l.pass(e)
}

// pass is release with l.mu held.
func (l *lane) pass(e *Executor) {
	if l.first == len(l.waiting) {
		l.running--
		return
	}
	e.fire(l.waiting[l.first])
	l.waiting[l.first] = nil
	if l.first++; 2*l.first >= len(l.waiting) {
		l.waiting = slices.Delete(l.waiting, 0, l.first)
		l.first = 0
	}
}

// forgo stops waiting. A slot that was given meanwhile is given back.
func (l *lane) forgo(wait *signal, e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, wait); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	l.pass(e)
}

// line takes the call's place among those that want a slot of its tool, in the
// order of their admission.
func (c *call) line() {
	lane := &c.exec.lanes[c.index]
	if lane.limit == 0 {
		return
	}
	if c.lane = lane.acquire(); c.lane == nil {
		c.slot = true
	}
}

// queue waits for a slot of the tool, inside the turn's budget; without one as
// long as a handler of the tool may take. A slot is held until the handler has
// returned, even when its call was given up before.
func (c *call) queue() bool {
	if c.batch != nil && !c.batch.wait(c) {
		return false
	}
	if c.lane != nil {
		due := c.ends()
		if due.IsZero() {
			due = c.clock().Add(c.deadline())
		}
		if !c.enter(phaseQueued, due) || c.exec.wait(c.lane, c.over(), nil) == sawB {
			return false
		}
		c.lane, c.slot = nil, true
		c.now = c.clock()
	}
	return c.unblocked()
}
