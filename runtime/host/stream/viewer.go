package stream

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/view"
	"github.com/ambit-tools/ambit/runtime/internal/compact"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A viewer is who reads a stream. The operator policy is asked for every entry, so that what it says
// anew holds for the next one.
type viewer struct {
	exec *engine.Executor
	by   runtime.Actor
}

// frame returns what an entry tells the viewer who wants events of some kinds; ok is false when that is
// nothing. An entry makes one event: of its own kind, or else of the requests that it ends.
func (v viewer) frame(ctx context.Context, e *journal.Entry, kinds []string) (f frame, ok bool, err error) {
	r, err := journal.Decode(e.Leaf)
	if err != nil {
		return f, false, err
	}
	own, about := slices.Contains(kinds, e.Kind), runtime.ActTarget{Session: e.Session, Run: e.Run, Call: e.Call}
	audits := false
	if own || len(r.Consent) > 0 {
		if audits, err = v.may(ctx, runtime.ActAudit, about); err != nil {
			return f, false, err
		}
	}
	over, err := v.ended(ctx, r, audits)
	if err != nil {
		return f, false, err
	}
	if !audits && own {
		about.Request = r.Request
		if own = r.Request != "" && isApproval(e.Kind); own {
			own, err = v.may(ctx, runtime.ActSee, about)
		}
		if err != nil {
			return f, false, err
		}
	}
	switch {
	case own:
	case len(over) > 0 && slices.Contains(kinds, ended):
		f, err = frameOf(e, ended, &callData{Position: e.Seq, Ended: over})
		return f, err == nil, err
	default:
		return f, false, nil
	}
	data := dataOf(e, r)
	data.Ended = over
	if audits {
		data.Arguments, data.Final, data.Output, data.Artifact = short(r.Args), short(r.Final), short(r.Output), r.Artifact
	}
	if e.Kind == runtime.EventApprovalRequested.String() {
		q, err := view.Of(ctx, v.exec, r.Request, v.by)
		if action.Undecided(err) {
			return f, false, err
		}
		if err == nil { // it is not kept any more, or not for him
			data.Approval = q
		}
	}
	f, err = frameOf(e, e.Kind, data)
	return f, err == nil, err
}

// ended returns the requests that an entry ends and that the viewer may see. They can be of other calls
// than the entry.
func (v viewer) ended(ctx context.Context, r *journal.Record, audits bool) (list []endedData, err error) {
	for i := range r.Consent {
		ev := &r.Consent[i]
		status, ends := ev.Ends()
		if !ends {
			continue
		}
		sees := audits && ev.Call == r.Call
		if !sees {
			if sees, err = v.may(ctx, runtime.ActSee, runtime.ActTarget{Request: ev.Request}); err != nil {
				return nil, err
			}
		}
		if !sees {
			continue
		}
		list = append(list, endedData{Request: ev.Request, Call: ev.Call, State: status.String(), By: ev.By})
	}
	return list, nil
}

// may reports whether the operator policy allows the viewer an act. An error says that it could not be decided,
// which is no denial ([action.Undecided]).
func (v viewer) may(ctx context.Context, act runtime.Act, about runtime.ActTarget) (bool, error) {
	err := v.exec.May(ctx, act, v.by, about)
	if action.Undecided(err) {
		return false, err
	}
	return err == nil, nil
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
