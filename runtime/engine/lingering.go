package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// lingers counts the handler of c, if it still runs while the call ends now, as one that outlives
// its call. c.mu is held.
func (c *call) lingers(now time.Time) {
	if c.back || c.phase != phaseRunning && c.phase != phaseGrace || c.attempt == 0 {
		return
	}
	c.lingering, c.due = true, now.Add(grace)
	c.exec.lingering.Add(1)
}

// tellLingering records that the handler of an ended call still runs, once the grace is over.
// Before that it returns when the grace will be over. c.mu is held.
func (c *call) tellLingering(now time.Time) (again time.Time) {
	later, tell := c.life.Linger(now)
	due, lasts := c.due, c.lingering && !c.due.IsZero() && !now.Before(c.due)
	agree(c, "lingering", lasts && c.life.Recorded(), tell)
	agree(c, "lingers on", c.lingering && !due.IsZero() && !lasts, later.Equal(due) && !due.IsZero() && c.lingering)
	switch {
	case !c.lingering || c.due.IsZero():
		return time.Time{}
	case now.Before(c.due):
		return c.due
	}
	c.due = time.Time{}
	if c.life.Recorded() {
		c.transition(runtime.EventLingering, c.state, &note{at: now})
	}
	return time.Time{}
}

// departHandler records that the handler of c has returned.
func (c *call) departHandler() {
	c.left.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	if agree(c, "depart", c.lingering, c.life.Depart()) {
		c.lingering = false
		c.exec.lingering.Add(-1)
	}
}
