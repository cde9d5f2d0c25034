package lifecycle

import "time"

// startPhases are the phases in which the first attempt of this process begins.
var startPhases = set(Admitting, Held, Queued)

// A Release says whether a handler may run.
type Release uint8

// What Release returns.
const (
	ReleaseEnded   Release = iota // the call has ended, or has no attempt to release: no handler may run
	ReleaseAborted                // a shutdown came first: the call is to be refused
	Released                      // the handler may run now
)

// Begin begins the next attempt, which ends at due, and opens its fence. It reports false when
// the call has ended or is about to be aborted, when it still waits for a policy, a preview or
// an approval, and when an effect of the former attempt has not ended (SEMANTICS 4.4).
func (c *Call) Begin(due time.Time) bool {
	from := startPhases
	if c.attempt > 0 && c.reevaluation != reevaluated {
		from = set(Backoff) // of the former attempt nothing is left (SEMANTICS 6.2.4)
	}
	if c.aborted || c.fence.inside > 0 || !c.step(from, Running, due) {
		return false
	}
	c.reevaluation = notReevaluated
	c.attempt++
	c.handler = ready
	c.fence.open = true
	return true
}

// Release releases the handler of the attempt, whose intent is durable (SEMANTICS 6.6.3), once.
func (c *Call) Release() Release {
	switch {
	case c.cause != NotEnded, c.handler != ready:
		return ReleaseEnded
	case c.aborted && !c.released:
		return ReleaseAborted
	}
	c.handler, c.released = executing, true
	return Released
}

// Return records at now that the handler has returned, and reports whether it came late. One
// reading of the clock decides whether the timer or the handler came first (SEMANTICS 6.1.3). A
// result that came in time has the grace period, but not longer than until ends, to become the
// outcome (SEMANTICS 6.1.4). With again, a call whose handler came late can be run again.
func (c *Call) Return(now, ends time.Time, again bool) (late bool) {
	if c.cause != NotEnded {
		return true
	}
	before := c.handler
	if before == ready || before == executing { // what comes before the release can fail, too
		c.handler = returned
	}
	switch {
	case c.phase != Running:
		return c.phase == Grace
	case before == returned: // it was late
	case now.Before(c.due):
		by := now.Add(GracePeriod)
		if c.due.After(by) {
			by = c.due
		}
		if !ends.IsZero() && ends.Before(by) {
			by = ends
		}
		return !c.step(set(Running), Finishing, by)
	case again:
		c.enterGrace(now)
	}
	return true
}

// EnterGrace ends the attempt, but not the call, because the time of the attempt was up at the
// moment during. Its handler is run again if it returns within the grace period (SEMANTICS 6.2.2).
func (c *Call) EnterGrace(during Moment, now time.Time) bool {
	if c.cause != NotEnded || c.phase != Running || during != c.Moment() {
		return false
	}
	c.enterGrace(now)
	return true
}

func (c *Call) enterGrace(now time.Time) {
	c.fence.open = false
	c.step(set(Running), Grace, now.Add(GracePeriod))
}

// EndAttempt ends an attempt after which a further one begins, and shuts its fence.
func (c *Call) EndAttempt() bool {
	if c.handler != returned || !c.step(set(Finishing, Grace), Backoff, time.Time{}) {
		return false
	}
	c.fence.open = false
	return true
}

// IsLate reports whether the result of the handler comes too late to be the outcome.
func (c *Call) IsLate(now time.Time) bool {
	return c.phase == Finishing && !now.Before(c.due)
}

// Commit records that the commit is decided: only the commit ends the call (SEMANTICS 6.8.3). Its
// time is counted in ticks from now and ends with the turn at the latest; with no ticks it has no
// end. Commit reports false when the call has ended, and when the result comes too late.
func (c *Call) Commit(now time.Time, ticks int, tick time.Duration, ends time.Time) bool {
	if c.IsLate(now) || !c.step(set(Finishing), Committing, time.Time{}) {
		return false
	}
	c.fence.open = false
	c.count(now, ticks, tick, ends)
	return true
}

// Decide reports whether the result of the handler may become the outcome at now. From then on no
// timer ends the call (SEMANTICS 6.1.4). TryEnd says whether a different cause came first.
func (c *Call) Decide(now time.Time) bool {
	if c.IsLate(now) {
		return false
	}
	c.step(set(Finishing), Decided, time.Time{})
	return true
}

// HandlerReturned records that the handler has returned, and reports whether it had outlived its
// call.
func (c *Call) HandlerReturned() (lingered bool) {
	lingered = c.handler == lingering
	if lingered {
		c.handler = returned
	}
	return lingered
}

// Undo makes of the zero Call that of an undo handler, which runs as a handler does (SEMANTICS
// 6.4.1): in the attempt of the call that it undoes, until due.
func (c *Call) Undo(attempt int, due time.Time) bool {
	if *c != (Call{}) || attempt < 1 {
		return false
	}
	c.phase, c.attempt, c.due, c.handler, c.released, c.fence.open = Running, attempt, due, executing, true, true
	return true
}
