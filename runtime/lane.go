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
	waiting []chan struct{} // closed when its owner got a slot
}

// acquire takes a slot. When none is free it returns what to wait for.
func (l *lane) acquire() (wait chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running < l.limit {
		l.running++
		return nil
	}
	wait = make(chan struct{})
	l.waiting = append(l.waiting, wait)
	return wait
}

// release gives a slot back, to the first who waits.
func (l *lane) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.running--
		return
	}
	close(l.waiting[0])
	l.waiting = slices.Delete(l.waiting, 0, 1)
}

// forgo stops waiting. A slot that was given meanwhile is given back.
func (l *lane) forgo(wait chan struct{}) {
	l.mu.Lock()
	i := slices.Index(l.waiting, wait)
	if i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
	}
	l.mu.Unlock()
	if i < 0 {
		l.release()
	}
}

// queue waits for a slot of the tool, inside the turn's budget. A slot is held
// until the handler has returned, even when its call was given up before.
func (c *call) queue() bool {
	lane := &c.exec.lanes[c.index]
	if lane.limit == 0 {
		return true
	}
	if !c.enter(phaseQueued, c.turn.ends) {
		return false
	}
	wait := lane.acquire()
	if wait != nil {
		select {
		case <-wait:
		case <-c.record.done:
			lane.forgo(wait)
			return false
		}
		c.now = c.clock()
	}
	c.slot = true
	return c.unblocked()
}
