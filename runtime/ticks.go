package runtime

import "time"

// count makes the phase that begins at now last for a number of ticks of the timer,
// and returns when the first one is over. A tick that comes late counts once: a
// process that was stopped has not used the time. c.mu is held.
func (c *call) count(now time.Time, ticks int, tick time.Duration) time.Time {
	c.ticks, c.tick = ticks, tick
	c.due = c.tickFrom(now)
	return c.due
}

// nextTick returns when the next tick is over; zero when the phase has used them up,
// does not count them, or is bounded by the turn and that is over. c.mu is held.
func (c *call) nextTick(now time.Time) time.Time {
	if c.ticks == 0 {
		return time.Time{}
	}
	c.ticks--
	if due := c.tickFrom(now); c.ticks > 0 && due.After(now) {
		c.due = due
		return due
	}
	c.ticks = 0
	return time.Time{}
}

// tickFrom returns when a tick that begins at now is over. That of a commit does
// not outlast the turn.
func (c *call) tickFrom(now time.Time) time.Time {
	due := now.Add(c.tick)
	if ends := c.ends(); c.phase == phaseCommitting && !ends.IsZero() && ends.Before(due) {
		return ends
	}
	return due
}
