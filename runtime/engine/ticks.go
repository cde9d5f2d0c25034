package engine

import "time"

// count sets the length of the phase that begins at now to a number of ticks of the timer, and
// returns when the first tick is over. A late tick counts once, because a process that was stopped
// has not used the time. c.mu is held.
func (c *call) count(now time.Time, ticks int, tick time.Duration) time.Time {
	c.ticks, c.tick = ticks, tick
	c.due = c.tickFrom(now)
	return c.due
}

// nextTick returns when the next tick is over. It is zero when the phase has no tick left or has no
// ticks, or when the turn that bounds it is over. c.mu is held.
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

// tickFrom returns when a tick that begins at now is over. A tick of a commit ends with the turn at
// the latest.
func (c *call) tickFrom(now time.Time) time.Time {
	due := now.Add(c.tick)
	if ends := c.ends(); c.phase == phaseCommitting && !ends.IsZero() && ends.Before(due) {
		return ends
	}
	return due
}
