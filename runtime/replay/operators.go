package replay

import (
	"context"
	"strings"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/operator"
)

// admits is the operator policy of a replay, which repeats what operators did. Candidates are rules
// and policies of calls.
type admits struct{}

// Authorize allows every act.
func (admits) Authorize(context.Context, *operator.Request) (operator.Decision, error) {
	return operator.Decision{Allow: true}, nil
}

// recorded returns the actor of a record.
func recorded(by string) operator.Actor { return operator.Program(by) }

// approver returns the actor of a recorded answer, with the group that admitted it.
func approver(ev *consent.Event) operator.Actor {
	by := recorded(ev.By)
	if group, ok := strings.CutPrefix(ev.Result.Entry, "group:"); ok {
		by.Groups = []string{group}
	}
	return by
}

// noteAct notes whether the operator policy kept an actor from answering a request.
func (sim *simulation) noteAct(r *journal.Record) {
	if a := r.Operator; a != nil && a.Request != "" {
		sim.barred[a.Request] = !a.Allowed
	}
}
