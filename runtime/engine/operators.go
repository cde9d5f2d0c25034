package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/acts"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// May asks the operator policy whether an actor may do an act. It is for acts that the executor does
// not do itself, such as showing a request on a page. The error is an *action.Error with
// action.CodeNotPermitted. The journal records every act but see and audit, allowed or denied.
func (e *Executor) May(ctx context.Context, act runtime.Act, by runtime.Actor, target runtime.ActTarget) error {
	if e == nil || e.engine == nil {
		return action.CodeNotPermitted.Err()
	}
	if err := e.authorize(deadline.OrBackground(ctx), act, by, target, e.sessionOf(target.Session)); err != nil {
		return err
	}
	return nil
}

// authorize asks the operator policy about an act and records its decision. s is the session of the
// target, nil when it is not known. The result is nil when the act is allowed.
func (e *Executor) authorize(ctx context.Context, act runtime.Act, by runtime.Actor, target runtime.ActTarget, s *Session) *action.Error {
	r := runtime.ActRequest{Act: act, Actor: by, ActTarget: target}
	e.describe(&r, s)
	return e.judge.Allow(ctx, &r, e.sessionOf(r.Session) != nil)
}

// mayAnswer asks the operator policy about an answer that the request admits. An answer that the
// request does not admit is refused for that reason.
func (e *Executor) mayAnswer(ctx context.Context, request string, a *consent.Answer, by runtime.Actor, dry bool) bool {
	asked := consent.Answer{By: a.By, Groups: a.Groups, Approve: a.Approve, Offer: a.Offer}
	if _, rejection := e.approvals.Probe(e.sched.Now(), request, &asked); rejection != consent.NotRejected {
		return true
	}
	for _, act := range acts.OfAnswer(a) {
		if e.authorize(ctx, act, by, runtime.ActTarget{Request: request, DryRun: dry}, nil) != nil {
			return false
		}
	}
	return true
}

// countRefused returns why an answer is rejected that is counted and gets no entry, because its actor was refused
// so often before; NotRejected when the answer is to be recorded, whatever becomes of it (SEMANTICS 5.5.10).
func (e *Executor) countRefused(request string, a *consent.Answer) consent.Rejection {
	now := e.sched.Now()
	if !e.judge.Refusals.Over(now, a.By) {
		return consent.NotRejected
	}
	_, why := e.approvals.Probe(now, request, a)
	if why != consent.NotRejected {
		e.judge.Refusals.Counted(now, a.By, e.recordAct)
	}
	return why
}

// recordedRefusal counts an attempt that was refused and has an entry.
func (e *Executor) recordedRefusal(ev *consent.Event) {
	if ev.Result.Resolution == runtime.ResolutionRejected {
		e.judge.Refusals.Written(ev.At, ev.By, e.recordAct)
	}
}

// describe adds to a request what the executor knows of its target. s is the session of the target,
// nil when it is not known.
func (e *Executor) describe(r *runtime.ActRequest, s *Session) {
	e.approvals.Describe(r)
	if of := e.approvals.Call(r.Request); s == nil && of != nil {
		s = of.run.session
	} else if s == nil {
		s = e.sessionOf(r.Session)
	}
	if s != nil {
		r.SessionPrincipal = s.cfg.Load().Principal
		s.past.Describe(r, func(c *call) (run, principal string) { return c.run.id, c.run.by.Principal })
	}
	if tool := e.lookup(r.Tool); tool != nil {
		r.Effect = tool.Spec.Effect.String()
	}
}

// recordAct adds the entry of a decision about an act to the journal, if there is one that takes entries.
func (e *Executor) recordAct(r *journal.Record) {
	if e.log.On() && e.log.Health() == nil {
		e.log.Add(r, nil)
	}
}
