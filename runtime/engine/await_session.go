package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// Await returns the outcome of a call that was made in s, as soon as it has one. When ctx ends
// before, the outcome describes the present state of the call: pending when it waits for consent,
// cancelled when it continues and this caller stops waiting for it. A call that was never made is
// denied.
func (s *Session) Await(ctx context.Context, callID string) runtime.Outcome {
	ctx = orBackground(ctx)
	r := s.find(callID)
	if r == nil {
		return runtime.Outcome{CallID: callID, Message: "there is no such call in this session"}
	}
	e := s.exec
	saw := e.sched.Wait(&r.first, nil, ctx.Done())
	if saw != sched.Done && r.final != nil {
		if saw = e.sched.Wait(r.final, e.approvals.Closed(), ctx.Done()); saw == sched.Second {
			if out, waits := r.call.pendingOutcome(); waits {
				return out
			}
			saw = e.sched.Wait(r.final, nil, ctx.Done())
		}
	}
	if saw == sched.Done {
		return r.currentOutcome(s)
	}
	return r.outcome()
}

// Await is Session.Await for a caller that has only the id of the session. It needs a
// journal, without which an executor does not know its sessions.
func (e *Executor) Await(ctx context.Context, sessionID, callID string) runtime.Outcome {
	return e.sessionOf(sessionID).Await(ctx, callID)
}
