package transaction

import (
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// A Participant is a runtime.Participant with the name that the journal knows it by.
type Participant struct {
	Name string
	runtime.Participant
}

// Participants are those of an executor. Pointers to the elements are kept: the list does not change
// once a Transaction uses it.
type Participants []Participant

// Find returns the entry of p, nil when there is none.
func (list Participants) Find(p runtime.Participant) *Participant {
	for i := range list {
		if list[i].Participant == p {
			return &list[i]
		}
	}
	return nil
}

// Places returns where the participants keep parts, by their names; nil when none says so.
func (list Participants) Places() map[string]string {
	var places map[string]string
	for i := range list {
		if p, ok := list[i].Participant.(runtime.Placed); ok && p.Place() != "" {
			if places == nil {
				places = map[string]string{}
			}
			places[list[i].Name] = p.Place()
		}
	}
	return places
}

// Unsettled returns, by the key of a call or of an undo, the participants that hold parts of it from
// an earlier process. The error says that a participant does not answer.
func (list Participants) Unsettled(ctx context.Context) (map[runtime.CallKey][]*Participant, error) {
	left := map[runtime.CallKey][]*Participant{}
	for i := range list {
		p := &list[i]
		keys, err := p.Unsettled(ctx)
		if err != nil {
			return nil, fmt.Errorf("participant %q: %w", p.Name, err)
		}
		for _, k := range keys {
			left[k] = append(left[k], p)
		}
	}
	return left, nil
}

// Settle commits or rolls back the parts of a call of an earlier process at some participants. It
// reports whether all succeeded, and gives each failure to report.
func Settle(ctx context.Context, key runtime.CallKey, at []*Participant, commit bool, report func(error)) bool {
	ok := true
	for _, p := range at {
		if err := usercode.Call(func() error { return p.Settle(ctx, key, commit) }); err != nil {
			ok = false
			report(fmt.Errorf("participant %q: what is left of the call cannot be settled: %w", p.Name, err))
		}
	}
	return ok
}
