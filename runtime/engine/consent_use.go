package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
)

// useConsent uses up the approval or the grant that allows the call to start, and checks that the
// call is the one that was approved. It returns the result of a call that is not. The locks of the
// call and its session are held.
func (c *call) useConsent() *result {
	a := c.consent
	var m *approvals.Mismatch
	switch {
	case a.id != "":
		now := a.question
		now.Call = c.consentCallWith(c.final, c.revision)
		now.Call.Preview = a.preview
		m = c.exec.approvals.Use(c.now, a.id, &now, a.noLongerAsked)
	case a.grant != "":
		m = c.exec.approvals.UseGrant(c.now, a.grant, &a.question)
	}
	switch {
	case m == nil: // it may start; asking may be suspended
		a.approvedBy = c.exec.approvals.ApprovedBy(a.id, a.grant)
		return nil
	case m.Expired:
		return denial(runtime.ReasonConsentExpired, runtime.Detail{}, "the approval is too old: make the call again")
	}
	return denial(runtime.ReasonBindingMismatch, runtime.Detail{Changed: m.Changed}, "the call is not what was approved any more: make it again")
}
