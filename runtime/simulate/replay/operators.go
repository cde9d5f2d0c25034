package replay

import (
	"context"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// admits is the operator policy of a replay, which repeats what operators did. Candidates are rules
// and policies of calls.
type admits struct{}

// Authorize allows every act.
func (admits) Authorize(context.Context, *runtime.ActRequest) (runtime.ActDecision, error) {
	return runtime.ActDecision{Allow: true}, nil
}

// recorded returns the actor of a record.
func recorded(by string) runtime.Actor { return runtime.ProgramActor(by) }

// approver returns the actor of a recorded answer, with the group that admitted it.
func approver(ev *consent.Event) runtime.Actor {
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
