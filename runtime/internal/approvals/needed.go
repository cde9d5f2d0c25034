package approvals

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Needed holds what a call knows of the consent that it needs. The lock of the call guards it. The zero value
// asks nothing yet.
type Needed struct {
	Question       consent.Question
	Preview        *consent.Preview
	PreviewOfInput bool   // the preview was made with the arguments as decoded
	Grant          string // the grant that answers the question
	Request        string // the id of the request, once there is one
	NoLongerAsked  bool   // the call was approved, and neither policy nor declaration asks any more
	ApprovedBy     []string
	Since          time.Time // of the request
	CancelNotify   context.CancelFunc
	WaitOver       *sched.Event // fires when the caller waits no longer
}

// Restored returns what a call of an earlier process knows of the consent that it waits for.
func Restored(r *consent.Request) *Needed {
	return &Needed{
		Question: consent.Question{Requirement: r.Requirement, Reasons: r.Reasons, Obligations: r.Obligations},
		Preview:  r.Preview, Request: r.ID, Since: r.Created,
	}
}

// Requested reports whether there is a request. n may be nil.
func (n *Needed) Requested() bool { return n != nil && n.Request != "" }

// Describe adds the consent to what code of the tool is told about the call. n may be nil.
func (n *Needed) Describe(info *callctx.Info) {
	switch {
	case n == nil:
		return
	case n.Request != "":
		info.Request = n.Request
	default:
		info.Grant = n.Grant
	}
	info.ApprovedBy = n.ApprovedBy
}

// Start uses up the approval or the grant that allows a call to start at an instant, and checks that the call is
// the one that was approved (SEMANTICS 5.2 and 5.7). It returns the outcome of a call that is not, nil when the call
// may start.
func (a *Approvals[C]) Start(at time.Time, n *Needed, call consent.Call) *runtime.Outcome {
	var m *Mismatch
	switch {
	case n.Request != "":
		now := n.Question
		now.Call = call
		now.Call.Preview = n.Preview
		m = a.Use(at, n.Request, &now, n.NoLongerAsked)
	case n.Grant != "":
		m = a.UseGrant(at, n.Grant, &n.Question)
	}
	if m == nil { // it may start; asking may be suspended
		n.ApprovedBy = a.ApprovedBy(n.Request, n.Grant)
		return nil
	}
	out := outcomes.Mismatch(m.Changed)
	if m.Expired {
		out = outcomes.TooOld()
	}
	return &out
}

// Pending returns the outcome of a call of a tool that waits for consent at an instant. A dry call has no
// request: its outcome describes a request made now.
func (a *Approvals[C]) Pending(at time.Time, n *Needed, tool string) runtime.Outcome {
	q := &n.Question
	reasons, need, life := q.Reasons, q.Requirement, q.Requirement.Timeout
	if r, ok := a.Request(n.Request); ok {
		reasons, need, life = r.Reasons, r.Requirement, r.Expires.Sub(at)
	}
	out := outcomes.Pending(tool, reasons, need, life)
	out.RequestID = n.Request
	return out
}

// View returns a request as an approver sees it. t is nil when the call or the tool is not known; args are
// nil when the call has ended. Sensitive members are masked unless the declaration reveals them (SEMANTICS 5.9).
func (a *Approvals[C]) View(r consent.Request, t *tools.Tool, args wire.Value) *consent.Notice {
	v := &consent.Notice{Request: r, Covers: r.Requirement.Covers()}
	var spec *runtime.Spec
	if t != nil {
		spec = t.Spec
	}
	if spec != nil {
		v.Title, v.Description = spec.Title, spec.Description
	}
	if args != nil {
		v.Shown = a.Show(args, revealed(spec))
		if p, isCommand := args.(*runtime.PlannedInput); isCommand {
			v.Command = p.Plan // a sensitive member is never an argument
		}
	}
	return v
}

// revealed returns the members that a declaration reveals to approvers (SEMANTICS 5.9). spec may be nil.
func revealed(spec *runtime.Spec) []string {
	if spec == nil || spec.Consent == nil {
		return nil
	}
	return spec.Consent.Reveal
}
