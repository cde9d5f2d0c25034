package entry

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// OfAct returns the record of what an actor wanted to do, and of what the operator policy
// said (SEMANTICS 5.10).
func OfAct(at time.Time, r *runtime.ActRequest, d *runtime.ActDecision) *journal.Record {
	id := func(text string) string { return wording.Cut(text, wording.MaxID) }
	return &journal.Record{
		Kind: journal.KindOperator, At: At(at), By: r.Actor.ID, Operator: &journal.OperatorAct{
			Act: string(r.Act), Method: string(r.Actor.Method), Groups: r.Actor.Groups,
			Session: id(r.Session), Run: id(r.Run), Call: id(r.Call),
			Request: wording.Cut(r.Request, wording.MaxName), Grant: wording.Cut(r.Grant, wording.MaxName),
			Allowed: d.Allow, Reason: d.Reason, Revision: d.Revision,
		},
	}
}
