package engine

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
)

// A slots limits how many handlers of one tool, or evaluations of the policy, run at once. Waiters
// get slots in the order in which they came.
type slots struct {
	limit  int          // 0: no limit
	most   int64        // that may be inside, including those that the policy evaluates
	inside atomic.Int64 // calls in flight

	mu           sync.Mutex
	running      int
	waiting      []*signal     // each fires when its owner gets a slot
	firstWaiting int           // index of the first signal in waiting
	mean         time.Duration // for which a slot was held lately
}

// acquire takes a slot. When none is free it returns the signal that fires when the caller has one.
func (l *slots) acquire() (wait *signal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acquireLocked()
}

// acquireLocked is acquire with l.mu held.
func (l *slots) acquireLocked() (wait *signal) {
	if l.running < l.limit {
		l.running++
		return nil
	}
	wait = newSignal()
	l.waiting = append(l.waiting, wait)
	return wait
}

// release gives a slot to the first waiter, or frees it.
func (l *slots) release(e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.releaseLocked(e)
}

// releaseAfter is release for a slot that was held for d.
func (l *slots) releaseAfter(d time.Duration, e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took(d)
	l.releaseLocked(e)
}

// releaseLocked is release with l.mu held.
func (l *slots) releaseLocked(e *Executor) {
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

// cancelWait stops waiting. A slot that the caller got meanwhile is released.
func (l *slots) cancelWait(wait *signal, e *Executor) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, wait); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	l.releaseLocked(e)
}

// requestSlot queues the call for a slot of its tool. The mutex of s is held.
func (c *call) requestSlot(s *slots) {
	if c.slotGranted = s.acquireLocked(); c.slotGranted == nil {
		c.slot = true
	}
}

// awaitSlot waits for a slot of the tool, until the turn's budget is used up; in a turn without a
// budget, for the deadline of the tool. The call holds the slot until its handler has returned,
// even when the call has ended before.
func (c *call) awaitSlot() bool {
	if c.batch != nil && !c.batch.wait(c) {
		return false
	}
	if c.slotGranted != nil {
		due := c.ends()
		if due.IsZero() {
			due = c.clock().Add(c.deadline())
		}
		if !c.enter(lifecycle.Queued, due) || c.exec.wait(c.slotGranted, c.over(), nil) == sawB {
			return false
		}
		c.slotGranted, c.slot = nil, true
		c.now = c.clock()
	}
	return c.unblocked()
}
