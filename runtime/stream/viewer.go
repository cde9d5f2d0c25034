package stream

import (
	"context"
	"encoding/json"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/compact"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/operator"
	"github.com/ambit-tools/ambit/runtime/view"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A viewer is who reads a stream. The operator policy is asked for every entry, so that what it says
// anew holds for the next one.
type viewer struct {
	exec *engine.Executor
	by   operator.Actor
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
		if q, err := view.Of(ctx, v.exec, r.Request, v.by); err == nil { // it is not kept any more, or not for him
			data.Approval = q
		}
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
