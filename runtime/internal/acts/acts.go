// Package acts asks an operator policy about the acts of operators (docs/semantics.md section 5.10). A policy
// that fails, hangs or panics denies. Every decision about an act that changes something is recorded, allowed
// or denied.
package acts

import (
	"context"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Judge asks an operator policy. Its fields are set before the first call of Allow, which is safe for
// concurrent use.
type Judge struct {
	Sched   *sched.Scheduler
	Policy  runtime.OperatorPolicy
	Timeout time.Duration // of one answer
	Record  func(*journal.Record)
	Report  func(*action.CallError)

	Refusals Refusals
}

// Allow asks the policy about a request, and returns nil when the act is allowed. known says that the executor
// has the session of the request: a session that it does not know is not recorded.
func (j *Judge) Allow(ctx context.Context, r *runtime.ActRequest, known bool) *action.Error {
	if err := wording.Check("the id of the actor", r.Actor.ID, wording.MaxName); err != nil { // no entry names it
		return &action.Error{Code: action.CodeNotPermitted, Message: err.Error(), Detail: err.Error()}
	}
	answer := make(chan runtime.ActDecision, 1)
	err := deadline.Call(j.Sched, ctx, j.Timeout, func(ctx context.Context) error {
		d, err := runtime.AskOperators(ctx, j.Policy, r)
		answer <- d
		return err
	})
	d := runtime.ActDecision{Reason: "the operator policy has failed"}
	if err == nil {
		d = <-answer
	} else {
		j.Report(&action.CallError{
			SessionID: r.Session, CallID: r.Call, Err: fmt.Errorf("the operator policy about %s by %s: %w", r.Act, wording.Quote(r.Actor.ID), err),
		})
	}
	if d.Allow {
		d.Reason = ""
	}
	j.record(r, &d, known)
	if d.Allow {
		return nil
	}
	return &action.Error{Code: action.CodeNotPermitted, Message: d.Reason, Detail: d.Reason, Err: err}
}

// record records a decision about an act that changes something. The entry of the act comes after it, so that it
// is durable when that is.
func (j *Judge) record(r *runtime.ActRequest, d *runtime.ActDecision, known bool) {
	if r.Act == runtime.ActSee || r.Act == runtime.ActAudit || r.DryRun {
		return
	}
	now := j.Sched.Now()
	if !d.Allow && j.Refusals.Over(now, r.Actor.ID) {
		j.Refusals.Counted(now, r.Actor.ID, j.Record)
		return
	}
	record := entry.OfAct(now, r, d)
	if known {
		record.Session = r.Session
	}
	j.Record(record)
	if !d.Allow {
		j.Refusals.Written(now, r.Actor.ID, j.Record)
	}
}

// OfAnswer returns the acts that an answer to a request is: who may answer may not thereby give a lasting grant
// (SEMANTICS 5.10).
func OfAnswer(a *consent.Answer) []runtime.Act {
	if a.Approve && a.Offer.Lasting != consent.Once {
		return []runtime.Act{runtime.ActDecide, runtime.ActGrant}
	}
	return []runtime.Act{runtime.ActDecide}
}
