package entry

import (
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/operator"
)

// OfAct returns the record of what an actor wanted to do, and of what the operator policy
// said (SEMANTICS 5.10).
func OfAct(at time.Time, r *operator.Request, d *operator.Decision) *journal.Record {
	return &journal.Record{
		Kind: journal.KindOperator, At: At(at), By: r.Actor.ID, Operator: &journal.OperatorAct{
			Act: string(r.Act), Method: string(r.Actor.Method), Groups: r.Actor.Groups,
			Session: r.Session, Run: r.Run, Call: r.Call, Request: r.Request, Grant: r.Grant,
			Allowed: d.Allow, Reason: d.Reason, Revision: d.Revision,
		},
	}
}
