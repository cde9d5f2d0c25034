package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
)

// openApprovals prepares the requests and grants of e.
func (e *Executor) openApprovals() {
	e.approvals.Open(approvals.Config[*call]{
		Sched: &e.sched, MaxOpen: e.maxOpenRequests, Due: handleDue,
		Changed: func(ev *consent.Event) {
			if e.onConsentEvent != nil {
				e.onConsentEvent(ev)
			}
			e.log.ConsentChanged(ev)
		},
		Report: func(call string, err error) { e.report(&CallError{CallID: call, Err: err}) },
	})
}

// handleDue sends reminders to calls, and ends the calls whose requests have expired.
func handleDue(list []approvals.Due[*call], now time.Time) {
	for _, due := range list {
		if !due.Expired {
			due.Call.remind(now)
			continue
		}
		e := denial(runtime.ReasonConsentExpired, runtime.Detail{}, "nobody agreed to the call in time")
		e.cause = lifecycle.ByConsent
		due.Call.finish(e)
	}
}

// remind emits the event that the request of the call will expire soon.
func (c *call) remind(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.AwaitsConsent() {
		c.transition(runtime.EventApprovalExpiring, c.state, &note{at: now})
	}
}

// closeApprovals leaves the requests open, and answers the callers that wait for them.
func (e *Executor) closeApprovals() {
	for _, c := range e.approvals.Close() {
		c.mu.Lock()
		late := c.consent.waitOver
		c.mu.Unlock()
		if late != nil {
			e.sched.Fire(late)
		}
	}
}

// Expire ends the requests that have expired and returns the ids of their calls. Timers
// do the same: a caller needs Expire only when the Clock cannot call back.
func (e *Executor) Expire() []string {
	if e == nil {
		return nil
	}
	var ids []string
	for _, c := range e.approvals.ProcessDue() {
		ids = append(ids, c.id)
	}
	return ids
}
