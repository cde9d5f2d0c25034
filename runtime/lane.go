package runtime

import (
	"slices"
	"sync"
)

// A lane lets the handlers of one tool run, limited in number, in the order in
// which they came.
type lane struct {
	limit int // 0: none

	mu      sync.Mutex
	running int
	waiting []*signal // happens when its owner got a slot
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
	if len(l.waiting) == 0 {
		l.running--
		return
	}
	e.fire(l.waiting[0])
	l.waiting = slices.Delete(l.waiting, 0, 1)
}

// forgo stops waiting. A slot that was given meanwhile is given back.
func (l *lane) forgo(wait *signal, e *Executor) {
	l.mu.Lock()
	i := slices.Index(l.waiting, wait)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 {
		l.release(e)
	}
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
			due = c.clock().Add(c.tool.spec.deadline())
		}
		if !c.enter(phaseQueued, due) || c.exec.wait(c.lane, c.over(), nil) == sawB {
			return false
		}
		c.lane, c.slot = nil, true
		c.now = c.clock()
	}
	return c.unblocked()
}
