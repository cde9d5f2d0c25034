package approvals

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// Describe adds to what an operator policy is asked what is known of the request and the grant that
// it names, and whether the actor is an approver of the request.
func (a *Approvals[C]) Describe(r *runtime.ActRequest) {
	if of, ok := a.Request(r.Request); ok {
		r.Session, r.Run, r.Call, r.Tool, r.Principal = of.Session, of.Run, of.CallID, of.Tool, of.Principal
		r.Approver = of.Requirement.Permits(r.Actor.ID, r.Actor.Groups, of.Principal) == consent.NotRejected
	}
	if r.Grant == "" {
		return
	}
	if g, ok := a.Grant(r.Grant); ok {
		r.Session, r.Call, r.Tool, r.Principal = g.Session, g.CallID, g.Tool, g.Principal
	}
}
