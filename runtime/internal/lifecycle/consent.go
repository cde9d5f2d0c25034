package lifecycle

import "time"

// Ask lets the call wait for consent. Its worker leaves it by Park.
func (c *Call) Ask() bool {
	if c.attempt > 0 || !c.step(set(Admitting), Waiting, time.Time{}) {
		return false
	}
	c.workerLeft, c.approved = false, false
	return true
}

// RestoreWait lets a restored call continue to wait for consent. It may have been approved before
// (SEMANTICS 6.7).
func (c *Call) RestoreWait(approved bool) bool {
	if c.attempt > 0 || !c.workerLeft || !c.step(set(Idle), Waiting, time.Time{}) {
		return false
	}
	c.approved = approved
	return true
}

// AwaitsConsent reports whether the call waits for consent, approved or not.
func (c *Call) AwaitsConsent() bool { return c.cause == NotEnded && c.phase == Waiting }

// AwaitsApproval reports whether the call waits for consent and was not approved.
func (c *Call) AwaitsApproval() bool { return c.AwaitsConsent() && !c.approved }

// MustPark reports whether the worker has to leave the call by Park: the call waits for consent, or
// ended while it did.
func (c *Call) MustPark() bool { return c.phase == Waiting && !c.workerLeft }

// Park records that the worker has left a call that waits for consent. It reports whether the call
// was approved meanwhile, so that the worker has to Resume it. Of Park and Approve, which may come
// in either order, only the later one reports true: an approval is of single use (SEMANTICS 5.2.2).
func (c *Call) Park() (resume bool) {
	if !c.MustPark() {
		return false
	}
	c.workerLeft = true
	return c.approved && c.cause == NotEnded
}

// Approve records that the call was approved. It reports whether its worker has left it, so that
// the approver's goroutine has to Resume it.
func (c *Call) Approve() (resume bool) {
	if !c.AwaitsApproval() {
		return false
	}
	c.approved = true
	return c.workerLeft
}

// Resume gives an approved call to a worker, which evaluates it again (SEMANTICS 5.7.2).
func (c *Call) Resume(due time.Time) bool {
	return c.approved && c.workerLeft && c.step(set(Waiting), Preparing, due)
}

// StartTriggered records that no caller waits for the outcome of a new call.
func (c *Call) StartTriggered() {
	if c.audience == attended {
		c.audience = triggered
	}
}

// Detach records that the caller of a call that waits for consent gets the outcome pending. It
// reports false when the call does not wait any more: the caller then waits for its outcome. A
// detached call does not end with the turn that it was made in.
func (c *Call) Detach() bool {
	if !c.AwaitsApproval() {
		return false
	}
	c.audience = detached
	return true
}

// Triggered reports whether the call was made without a caller, or by an earlier process.
func (c *Call) Triggered() bool { return c.audience == triggered }

// Detached reports whether the call left its turn.
func (c *Call) Detached() bool { return c.audience == detached }

// Unattended reports whether no caller waits for the outcome. The executor then notifies the
// observers.
func (c *Call) Unattended() bool { return c.audience != attended }
