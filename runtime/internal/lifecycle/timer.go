package lifecycle

import "time"

// An Expiry says what the executor has to do when the timer of a call has fired.
type Expiry struct {
	Again     time.Time // when the timer has to fire next; zero: not for this phase
	Overdue   Moment    // the moment whose time is up: the call ends by ByTimer, or enters its grace; zero: none
	Abandon   bool      // the evaluation of the policy was abandoned just now
	Lingering bool      // the handler of an ended call still runs, which has not been recorded yet
}

// Expire records that the timer has fired at now. It abandons an evaluation that still runs when
// its time is up, even when the call has ended. It ends no call: TryEnd does, in the same moment.
func (c *Call) Expire(now time.Time) (x Expiry) {
	switch {
	case c.cause != NotEnded && !c.Evaluating():
		x.Again, x.Lingering = c.Linger(now)
		return x
	case c.due.IsZero():
		return x
	case now.Before(c.due):
		x.Again = c.due
		return x
	}
	if x.Again = c.nextTick(now); !x.Again.IsZero() {
		return x
	}
	if c.evaluation == evaluating {
		c.evaluation, x.Abandon = abandoned, true
	}
	if c.cause == NotEnded && timed.has(c.phase) {
		x.Overdue = c.Moment()
	}
	return x
}

// Linger reports whether it has to be recorded that the handler of an ended call still runs, once
// its grace period is over (SEMANTICS 2.1.5). Before that, again is when it will be over.
func (c *Call) Linger(now time.Time) (again time.Time, tell bool) {
	switch {
	case c.handler != lingering || c.due.IsZero():
		return time.Time{}, false
	case now.Before(c.due):
		return c.due, false
	}
	c.due = time.Time{}
	return time.Time{}, c.Recorded()
}

// count sets the time of the phase that begins at now to a number of ticks of the timer, none of
// which ends after bound. A late tick counts once, because a process that was stopped has not used
// the time (SEMANTICS 3.5).
func (c *Call) count(now time.Time, ticks int, tick time.Duration, bound time.Time) {
	if ticks > 0 {
		c.ticks, c.tick, c.bound = ticks, tick, bound
		c.due = c.tickFrom(now)
	}
}

// nextTick returns when the next tick is over. It is zero when the phase has no tick left or has no
// ticks, or when the bound is reached.
func (c *Call) nextTick(now time.Time) time.Time {
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

// tickFrom returns when a tick that begins at now is over.
func (c *Call) tickFrom(now time.Time) time.Time {
	due := now.Add(c.tick)
	if !c.bound.IsZero() && c.bound.Before(due) {
		return c.bound
	}
	return due
}
