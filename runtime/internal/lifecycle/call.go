package lifecycle

import "time"

// An evaluation is what the policy is doing for a call.
type evaluation uint8

const (
	evaluated         evaluation = iota // nothing, or it has returned
	evaluating                          // it has not returned
	abandoned                           // it has not returned, and its time was up
	returnedAbandoned                   // it has returned after it was abandoned
)

// A handler is what the handler of the present attempt is doing.
type handler uint8

const (
	absent    handler = iota // there is none in this process
	ready                    // its attempt has begun, and it is not released yet
	executing                // it was released, and has not returned
	returned                 // it has returned
	lingering                // it has not returned, and its call has ended
)

// An audience says which caller waits for the outcome.
type audience uint8

const (
	attended  audience = iota // a caller
	triggered                 // no caller: StartCall made the call, or an earlier process did
	detached                  // no caller any more: it has the outcome pending, and the call left its turn
)

// A reevaluation is the state of the policy's evaluation of a call whose handler an earlier process
// started.
type reevaluation uint8

const (
	notReevaluated reevaluation = iota
	reevaluating                // the policy has not decided yet whether the handler may run again
	reevaluated                 // it may
)

// A Call is the life of one call. The zero value is that of a call that no worker has: it
// may end, and may not run a handler.
type Call struct {
	due   time.Time     // end of the phase, or of its present tick; zero: none
	bound time.Time     // no tick ends later; zero: none
	tick  time.Duration // the unit in which the time of the phase is counted
	ticks int           // that the phase has left; 0: its time is not counted

	attempt      int // 0: the handler was not started
	fence        fence
	phase        Phase // in which the call ended, once it has
	cause        Cause
	evaluation   evaluation
	handler      handler
	audience     audience
	reevaluation reevaluation
	released     bool // a handler was released: it may have had effects
	aborted      bool // a shutdown canceled an attempt
	workerLeft   bool // waits for consent, and its worker has returned
	approved     bool // waits for consent, and has it
}

// Ended reports whether the call has ended: its outcome is stored, or is about to be.
func (c *Call) Ended() bool { return c.cause != NotEnded }

// Cause returns why the call ended, NotEnded when it has not.
func (c *Call) Cause() Cause { return c.cause }

// Phase returns what the call is doing, or was doing when it ended.
func (c *Call) Phase() Phase { return c.phase }

// Moment returns the present moment, for a cause that will try to end the call.
func (c *Call) Moment() Moment { return Moment{c.phase, c.attempt} }

// Due returns when the phase ends, zero for never.
func (c *Call) Due() time.Time { return c.due }

// Attempt returns the number of the present attempt, 0 when there was none.
func (c *Call) Attempt() int { return c.attempt }

// Released reports whether a handler was released, so that the call may have had effects.
func (c *Call) Released() bool { return c.released }

// Aborted reports whether a shutdown canceled an attempt of the call.
func (c *Call) Aborted() bool { return c.aborted }

// Committing reports whether the commit was decided, so that only the commit ends the call.
func (c *Call) Committing() bool { return c.phase == Committing }

// Lingers reports whether the call has ended and its handler has not returned.
func (c *Call) Lingers() bool { return c.handler == lingering }

// Recorded reports whether the journal may get further entries of the call. A call that a shutdown
// abandoned is left to recovery unchanged (SEMANTICS 6.9.6).
func (c *Call) Recorded() bool { return c.cause != ByAbandon }

// Prepare gives the call to a worker. The phase ends at due; a zero due is never.
func (c *Call) Prepare(due time.Time) bool {
	return c.attempt == 0 && c.step(set(Idle), Preparing, due)
}

// Restore makes of the zero Call that of an earlier process with its number of attempts.
// A detached call has left its turn. The call stays Idle until recovery settles it.
func (c *Call) Restore(attempt int, left bool) bool {
	if *c != (Call{}) || attempt < 0 {
		return false
	}
	c.attempt, c.released, c.workerLeft, c.audience = attempt, attempt > 0, true, triggered
	if left {
		c.audience = detached
	}
	return true
}

// Rerun gives a restored call whose handler was started to a worker. The policy evaluates it before
// its handler runs again (SEMANTICS 6.2.5, 6.7.2).
func (c *Call) Rerun() bool {
	if c.attempt == 0 || !c.step(set(Idle), Preparing, time.Time{}) {
		return false
	}
	c.reevaluation = reevaluating
	return true
}

// Reevaluating reports whether the policy has yet to decide if the handler may run again. If it may
// not, the call ends as its interruption says.
func (c *Call) Reevaluating() bool { return c.reevaluation == reevaluating }

// Reevaluated records that the policy lets the handler run again.
func (c *Call) Reevaluated() bool {
	if c.cause != NotEnded || c.reevaluation != reevaluating || !startPhases.has(c.phase) {
		return false
	}
	c.reevaluation = reevaluated
	return true
}

// Enter takes the call to phase p, which ends at due; a zero due is never. It reports false
// when the call has ended, and when p does not follow the present phase.
func (c *Call) Enter(p Phase, due time.Time) bool {
	return p < phases && c.evaluation == evaluated && c.step(enterFrom[p], p, due)
}

// step takes the call from one of several phases to p.
func (c *Call) step(from phaseSet, p Phase, due time.Time) bool {
	if c.cause != NotEnded || !from.has(c.phase) {
		return false
	}
	c.phase, c.due, c.bound, c.tick, c.ticks = p, due, time.Time{}, 0, 0
	return true
}

// Evaluate begins an evaluation of the policy, whose time is counted in ticks from now
// (SEMANTICS 3.5).
func (c *Call) Evaluate(now time.Time, ticks int, tick time.Duration) bool {
	if c.evaluation != evaluated || !c.step(set(Preparing, Admitting), Deciding, time.Time{}) {
		return false
	}
	c.evaluation = evaluating
	c.count(now, ticks, tick, time.Time{})
	return true
}

// Evaluated records that the policy has returned, and reports whether its evaluation was
// abandoned before. The worker of an abandoned evaluation cannot Enter a phase.
func (c *Call) Evaluated() (wasAbandoned bool) {
	switch c.evaluation {
	case evaluating:
		c.evaluation = evaluated
	case abandoned:
		c.evaluation = returnedAbandoned
		return true
	}
	return false
}

// Evaluating reports whether the policy has not returned, abandoned or not.
func (c *Call) Evaluating() bool { return c.evaluation == evaluating || c.evaluation == abandoned }
