package lifecycle

import (
	"strconv"
	"time"
)

// GracePeriod is how long a call waits for what has begun: for a handler whose time is up
// to return, for a result that came in time to become the outcome, for an effect under
// the fence to end (SEMANTICS 8.1).
const GracePeriod = 5 * time.Second

// A Cause is why a call ended.
type Cause uint8

// The causes.
const (
	NotEnded    Cause = iota
	ByWorker          // a step of the worker refused the call, or its handler panicked
	ByReturn          // the handler's result, and its commit
	ByTimer           // the time of a phase is up
	ByCaller          // the context of the caller ended
	ByOperator        // Cancel, or the run was closed
	ByShutdown        // the executor shuts down
	ByLeaseIdle       // the lease is lost, and nothing was carried out
	ByLease           // the lease is lost
	ByConsent         // consent was denied, or its request expired or reached no approver
	ByJournal         // the journal cannot be written
	ByRecovery        // recovery settled the call of an earlier process
	ByAbandon         // a shutdown gave up waiting: the caller gets an outcome, the journal does not
	causes            // how many there are
)

var causeNames = [causes]string{
	"not ended", "worker", "return", "timer", "caller", "operator", "shutdown", "idle lease", "lease", "consent", "journal", "recovery", "abandon",
}

// String returns the name of by, such as timer.
func (by Cause) String() string {
	if by < causes {
		return causeNames[by]
	}
	return "cause " + strconv.Itoa(int(by))
}

// ends holds the phases in which each cause may end a call. May has what else it needs.
var ends = [causes]phaseSet{
	ByWorker:    all &^ set(Committing),
	ByReturn:    set(Backoff, Committing, Decided),
	ByTimer:     timed | set(Backoff),
	ByCaller:    all &^ set(Waiting, Committing),
	ByOperator:  all &^ set(Committing),
	ByShutdown:  unstarted | set(Backoff),
	ByLeaseIdle: all &^ set(Waiting, Committing),
	ByLease:     all &^ set(Waiting, Committing),
	ByConsent:   set(Waiting),
	ByJournal:   all &^ set(Committing),
	ByRecovery:  set(Idle),
	ByAbandon:   all &^ set(Waiting),
}

// late holds the phases in which the worker, which names no moment, finds that the time of
// the attempt was up.
var late = set(Running, Grace, Backoff, Finishing)

// May reports whether a cause may end the call now. The zero Moment is any.
//
//   - A call ends once. What comes after an outcome does not change it (SEMANTICS 2.2.2).
//   - During a commit only the commit ends the call, or its own timer (SEMANTICS 6.8.3). The
//     executor may give up waiting for it, and records no outcome then (SEMANTICS 6.9.6).
//   - A caller, a shutdown and a lost lease leave a call that waits for consent alone: the
//     caller's patience is not the life of the request (SEMANTICS 5.4.5).
//   - A shutdown cancels a handler and ends calls without one.
func (c *Call) May(by Cause, during Moment) bool {
	if c.cause != NotEnded || by >= causes || !ends[by].has(c.phase) {
		return false
	}
	seen := during != Moment{}
	if seen && during != c.Moment() {
		return false
	}
	switch by {
	case ByTimer:
		return seen && timed.has(c.phase) || !seen && late.has(c.phase)
	case ByShutdown:
		return c.attempt == 0 || c.phase == Backoff
	case ByLeaseIdle:
		return !c.released
	case ByAbandon:
		return c.attempt > 0
	}
	return true
}

// TryEnd ends the call at now, if by may end it. It reports false when it may not. The fence is
// shut then, and a handler that runs has outlived its call (SEMANTICS 6.1.5, 2.1.5).
func (c *Call) TryEnd(by Cause, during Moment, now time.Time) bool {
	if !c.May(by, during) {
		return false
	}
	c.cause = by
	if (c.handler == ready || c.handler == executing) && (c.phase == Running || c.phase == Grace) {
		c.handler, c.due = lingering, now.Add(GracePeriod)
	}
	c.fence.open = false
	return true
}

// Abort says what a shutdown does to a call whose time to end by itself is over.
type Abort uint8

// What a shutdown does.
const (
	AbortNothing Abort = iota // the call has ended, or waits for consent
	AbortEnd                  // it ends the call by ByShutdown
	AbortCancel               // it cancels the context of the attempt, whose handler determines the outcome
)

// Abort prepares a call for a shutdown, and returns what the executor has to do. For AbortEnd the
// moment is the one to name to TryEnd.
func (c *Call) Abort() (Abort, Moment) {
	switch {
	case c.cause != NotEnded, c.phase == Waiting:
		return AbortNothing, Moment{}
	case c.attempt > 0 && c.phase != Backoff:
		c.aborted = true
		return AbortCancel, Moment{}
	}
	return AbortEnd, c.Moment()
}
