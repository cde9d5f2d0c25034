package sched

import "github.com/ambit-tools/ambit/runtime/internal/lockorder"

// A Count counts goroutines that call code of the application. The zero value counts none.
type Count struct {
	mu   lockorder.Mutex[lockorder.Count]
	n    int
	idle []*Event // fired when n falls to 0
}

// Begin counts a goroutine in.
func (c *Count) Begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

// End counts a goroutine out, and fires the events when it was the last.
func (c *Count) End(s *Scheduler) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n > 0 {
		return
	}
	for _, e := range c.idle {
		s.Fire(e)
	}
	c.idle = nil
}

// Idle returns an event that fires when no goroutine is counted. It is nil when none is.
func (c *Count) Idle() *Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == 0 {
		return nil
	}
	e := NewEvent()
	c.idle = append(c.idle, e)
	return e
}

// Number returns how many goroutines are counted.
func (c *Count) Number() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}
