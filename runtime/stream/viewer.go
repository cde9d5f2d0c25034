package stream

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/compact"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/operator"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A viewer is who reads a stream. The operator policy is asked for every entry, so that what it says
// anew holds for the next one.
type viewer struct {
	exec *engine.Executor
	by   operator.Actor
}

// An approvalData is a question to approvers, as a viewer may see it.
type approvalData struct {
	Title     string               `json:"title,omitempty"`
	Message   string               `json:"message,omitempty"`
	Effect    string               `json:"effect,omitempty"`
	Undoable  bool                 `json:"undoable,omitempty"`
	Reasons   []consent.Reason     `json:"reasons,omitempty"`
	Approvers []string             `json:"approvers,omitempty"`
	Quorum    int                  `json:"quorum,omitempty"`
	Covers    []runtime.GrantCover `json:"covers,omitempty"`
	Expires   time.Time            `json:"expires,omitzero"`
	Preview   *consent.Preview     `json:"preview,omitempty"`
	Arguments json.RawMessage      `json:"arguments,omitempty"` // sensitive values are masked
	Shown     json.RawMessage      `json:"shown,omitempty"`     // what the declaration reveals is in clear: for those who may decide
}

// frame returns what an entry tells the viewer; ok is false when he may not know of it.
func (v viewer) frame(ctx context.Context, e *journal.Entry) (f frame, ok bool, err error) {
	r, err := journal.Decode(e.Leaf)
	if err != nil {
		return f, false, err
	}
	about := operator.Target{Session: e.Session, Run: e.Run, Call: e.Call}
	audits := v.exec.May(ctx, operator.Audit, v.by, about) == nil
	if !audits {
		about.Request = r.Request
		if r.Request == "" || !isApproval(e.Kind) || v.exec.May(ctx, operator.See, v.by, about) != nil {
			return f, false, nil
		}
	}
	data := dataOf(e, r)
	if audits {
		data.Arguments, data.Output, data.Artifact = short(r.Args), short(r.Output), r.Artifact
	}
	if e.Kind == runtime.EventApprovalRequested.String() {
		data.Approval = v.approval(ctx, r.Request)
	}
	f, err = frameOf(e, data)
	return f, err == nil, err
}

func isApproval(kind string) bool {
	switch kind {
	case runtime.EventApprovalRequested.String(), runtime.EventApprovalDecided.String(), runtime.EventApprovalExpiring.String():
		return true
	}
	return false
}

// approval returns a question that the viewer may see; nil when it is not kept any more.
func (v viewer) approval(ctx context.Context, id string) *approvalData {
	q, ok := v.exec.Request(id)
	if !ok {
		return nil
	}
	d := &approvalData{
		Title: q.Title, Message: q.Message, Effect: q.Effect, Undoable: q.Undoable, Reasons: q.Reasons, Approvers: q.Requirement.Approvers,
		Quorum: q.Requirement.Quorum, Covers: q.Covers, Expires: q.Expires, Preview: q.Preview, Arguments: compacted(q.Args),
	}
	// A dry run: to look at a question is no answer to it, and the journal records none.
	if v.exec.May(ctx, operator.Decide, v.by, operator.Target{Request: id, DryRun: true}) == nil {
		d.Shown = q.Shown
	}
	return d
}

// short returns a recorded value, compacted; nil when there is none. Commitments are in the place of
// sensitive values.
func short(p *journal.Payload) json.RawMessage {
	if p == nil {
		return nil
	}
	return compacted(p.Value)
}

func compacted(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return nil
	}
	out, err := compact.Text(wire.Raw(text), compact.Default())
	if err != nil { // it is no JSON, which the journal does not hold
		return nil
	}
	return out
}
