package engine

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
)

// handleDue sends reminders to calls, ends the calls whose requests have expired, and
// returns the latter.
func handleDue(due []dueEvent, now time.Time) (expired []*call) {
	for _, n := range due {
		if !n.expired {
			n.call.remind(now)
			continue
		}
		expired = append(expired, n.call)
		e := denial(runtime.ReasonConsentExpired, runtime.Detail{}, "nobody agreed to the call in time")
		e.cause = lifecycle.ByConsent
		n.call.finish(e)
	}
	return expired
}

// remind emits the event that the request of the call will expire soon.
func (c *call) remind(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.life.AwaitsConsent() {
		c.transition(runtime.EventApprovalExpiring, c.state, &note{at: now})
	}
}

// Expire ends the requests that have expired and returns the ids of their calls. Timers
// do the same: a caller needs Expire only when the Clock cannot call back.
func (e *Executor) Expire() []string {
	if e == nil {
		return nil
	}
	var ids []string
	for _, c := range e.approvals.processDue() {
		ids = append(ids, c.id)
	}
	return ids
}
