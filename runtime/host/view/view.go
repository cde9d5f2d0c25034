// Package view makes what a viewer may see of requests for consent. A console, a stream or an MCP server
// shows people requests through it and in no other way: an engine's consent.Notice holds the
// arguments with revealed secrets in clear, and a [Request] holds them only for a viewer who may answer
// (SEMANTICS 5.10.6).
//
//	r, err := view.Of(ctx, exec, id, actor)
//	err = json.NewEncoder(w).Encode(r)
package view

import (
	"context"
	"encoding/json"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// A Request is a request for consent as one viewer may see it. Its JSON form may be sent to that viewer,
// and to no other.
type Request struct {
	consent.Request // as it is recorded: sensitive values are masked

	Title       string               `json:"title,omitempty"`
	Description string               `json:"description,omitempty"` // of the tool
	Covers      []runtime.GrantCover `json:"covers,omitempty"`      // what a standing grant may cover, the narrowest first
	Missing     int                  `json:"missing"`               // how many approvals are still required
	Command     *runtime.Invocation  `json:"command,omitempty"`     // what the call would run; nil: the tool has a handler, or the call is over

	// MayDecide says that the viewer may answer the request while it is open.
	MayDecide bool `json:"may_decide"`
	// Shown holds the arguments with which the handler will run. Values that the declaration reveals are
	// in clear. It is nil for a viewer who may not decide, and when the call is over.
	Shown json.RawMessage `json:"shown,omitempty"`
}

// Of returns a request as a viewer may see it: the operator policy must allow the viewer to see it. The
// error is an *action.Error. A viewer who may not see the request is not told whether there is one.
func Of(ctx context.Context, exec *engine.Executor, id string, viewer runtime.Actor) (*Request, error) {
	if err := exec.May(ctx, runtime.ActSee, viewer, runtime.ActTarget{Request: id}); err != nil {
		return nil, err
	}
	r, ok := exec.Request(id)
	if !ok {
		return nil, &action.Error{Code: action.CodeUnknownRequest}
	}
	v, err := of(ctx, exec, r, viewer)
	if action.Undecided(err) {
		return nil, err
	}
	return v, nil
}

// maxLooks is how many requests the operator policy is asked about for one page.
const maxLooks = 1_000

// Open returns a page of the requests that wait for answers, that f matches and that a viewer may see, in
// the order in which they expire. With mine the page has those alone that the viewer may answer. next is where
// the next page begins, zero when this is the last one. A page may have fewer than f.Limit requests before the
// last: the operator policy is asked about at most 1,000 for each. Where it cannot say whether the viewer may see one, the
// error says so, and there is no page: a request must not be taken for one that is not there ([action.Undecided]).
func Open(ctx context.Context, exec *engine.Executor, f consent.RequestFilter, mine bool, viewer runtime.Actor) (list []*Request, next consent.Place, err error) {
	list = []*Request{}
	if mine {
		f.Approver, f.Groups = viewer.ID, viewer.Groups
	}
	most := f.Limit
	f.Limit++ // one more shows that there is a next page
	for looks := 0; ; {
		page := exec.OpenRequests(f)
		for _, r := range page {
			if len(list) == most || looks == maxLooks {
				return list, f.After, nil
			}
			looks++
			f.After = r.Place()
			switch v, err := seen(ctx, exec, r, viewer); {
			case err != nil:
				return nil, consent.Place{}, err
			case v != nil && (v.MayDecide || !mine):
				list = append(list, v)
			}
		}
		if len(page) < f.Limit {
			return list, consent.Place{}, nil
		}
	}
}

// Ended returns at most limit requests that need no answer any more and that a viewer may see, the newest
// first, as long as the executor retains them. before is the id of the last one of the page before; empty:
// from the newest. A shorter list is the last page. The error is as that of Open.
func Ended(ctx context.Context, exec *engine.Executor, before string, limit int, viewer runtime.Actor) ([]*Request, error) {
	list := []*Request{}
	for len(list) < limit {
		page := exec.EndedRequests(before, limit)
		for _, r := range page {
			if before = r.ID; len(list) == limit {
				break
			}
			switch v, err := seen(ctx, exec, r, viewer); {
			case err != nil:
				return nil, err
			case v != nil:
				list = append(list, v)
			}
		}
		if len(page) < limit {
			break
		}
	}
	return list, nil
}

// seen is the view of a request, nil for a viewer who may not see it. The error says that the operator policy could not tell.
func seen(ctx context.Context, exec *engine.Executor, r *consent.Notice, viewer runtime.Actor) (*Request, error) {
	if err := exec.May(ctx, runtime.ActSee, viewer, runtime.ActTarget{Request: r.ID}); err != nil {
		if action.Undecided(err) {
			return nil, err
		}
		return nil, nil
	}
	v, err := of(ctx, exec, r, viewer)
	if action.Undecided(err) {
		return nil, err
	}
	return v, nil
}

// of makes the view of a request for a viewer who may see it. The error says why the viewer may not answer.
func of(ctx context.Context, exec *engine.Executor, r *consent.Notice, viewer runtime.Actor) (*Request, error) {
	err := mayDecide(ctx, exec, r, viewer)
	v := &Request{
		Request: r.Request, Title: r.Title, Description: r.Description, Covers: r.Covers, Missing: r.Missing(),
		Command: r.Command, MayDecide: err == nil,
	}
	if v.MayDecide {
		v.Shown = r.Shown
	}
	return v, err
}

// mayDecide returns why an answer of the viewer would not be taken: the request and the operator policy
// must both admit it. The question is not recorded, since the viewer has not answered.
func mayDecide(ctx context.Context, exec *engine.Executor, r *consent.Notice, viewer runtime.Actor) error {
	if r.Requirement.Permits(viewer.ID, viewer.Groups, r.Principal) != consent.NotRejected {
		return action.CodeNotPermitted.Err()
	}
	return exec.May(ctx, runtime.ActDecide, viewer, runtime.ActTarget{Request: r.ID, DryRun: true})
}
