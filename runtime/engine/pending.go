package engine

import (
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// pending returns the outcome of a call that waits for consent. c.mu is held.
func (c *call) pending() runtime.Outcome {
	out := runtime.Outcome{
		CallID: c.id, Tool: c.record.tool, Kind: runtime.Pending, Reason: runtime.ReasonConsentRequired,
		AllReasons: []runtime.Reason{runtime.ReasonConsentRequired}, RequestID: c.consent.id, Revision: c.revision, Loop: runtime.LoopWait,
	}
	now := c.clock()
	out.Duration = now.Sub(c.began)
	who := "somebody"
	// A dry call has no request: its outcome describes a request made now.
	q := &c.consent.question
	reasons, need, life := q.Reasons, q.Requirement, q.Requirement.Timeout
	if r, ok := c.exec.approvals.Request(c.consent.id); ok {
		reasons, need, life = r.Reasons, r.Requirement, r.Expires.Sub(now)
	}
	if len(reasons) > 0 {
		out.Detail = runtime.Detail{Rule: reasons[0].Code, At: reasons[0].At, Message: reasons[0].Message, ExpiresIn: life}
		if len(need.Approvers) > 0 {
			who = strings.Join(need.Approvers, " or ")
		}
	}
	out.Message = fmt.Sprintf("%q waits for the consent of %s", c.record.tool, who)
	if c.dry {
		return out
	}
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.fillRunStatus(&out)
	return out
}
