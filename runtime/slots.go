package runtime

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A slots lets the handlers of one tool, or the evaluations of the policy, run,
// limited in number, in the order in which they came.
type slots struct {
	limit  int          // 0: none
	most   int64        // that may be inside, which includes those that are judged
	inside atomic.Int64 // calls in flight

	mu           sync.Mutex
	running      int
	waiting      []*signal     // happens when its owner got a slot
	firstWaiting int           // of those that wait
	mean         time.Duration // for which a slot was held lately
}

// acquire takes a slot. When none is free it returns what to wait for.
func (l *slots) acquire() (wait *signal) {
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
func (l *slots) release(e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handOver(e)
}

// releaseAfter is release for a slot that was held for d.
func (l *slots) releaseAfter(d time.Duration, e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took(d)
	l.handOver(e)
}

// handOver is release with l.mu held.
func (l *slots) handOver(e *Executor) {
	if l.firstWaiting == len(l.waiting) {
		l.running--
		return
	}
	e.fire(l.waiting[l.firstWaiting])
	l.waiting[l.firstWaiting] = nil
	if l.firstWaiting++; 2*l.firstWaiting >= len(l.waiting) {
		l.waiting = slices.Delete(l.waiting, 0, l.firstWaiting)
		l.firstWaiting = 0
	}
}

// cancelWait stops waiting. A slot that was given meanwhile is given back.
func (l *slots) cancelWait(wait *signal, e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, wait); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	l.handOver(e)
}

// requestSlot takes the call's place among those that want a slot of its tool, in the
// order of their admission.
func (c *call) requestSlot() {
	lane := &c.exec.slots[c.index]
	if lane.limit == 0 {
		return
	}
	if c.slotGranted = lane.acquire(); c.slotGranted == nil {
		c.slot = true
	}
}

// awaitSlot waits for a slot of the tool, inside the turn's budget; without one as
// long as a handler of the tool may take. A slot is held until the handler has
// returned, even when its call was given up before.
func (c *call) awaitSlot() bool {
	if c.batch != nil && !c.batch.wait(c) {
		return false
	}
	if c.slotGranted != nil {
		due := c.ends()
		if due.IsZero() {
			due = c.clock().Add(c.deadline())
		}
		if !c.enter(phaseQueued, due) || c.exec.wait(c.slotGranted, c.over(), nil) == sawB {
			return false
		}
		c.slotGranted, c.slot = nil, true
		c.now = c.clock()
	}
	return c.unblocked()
}
