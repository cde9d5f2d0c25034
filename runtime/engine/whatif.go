package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/decision"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

// WhatIf decides a call as Execute would, on the same path, and stops where the handler would be
// started. It changes nothing, emits no event, and neither checks nor uses the call's id.
func (t *Turn) WhatIf(ctx context.Context, in runtime.Call) Verdict {
	ctx = deadline.OrBackground(ctx)
	c := t.newCall(ctx, in)
	if c == nil {
		return Verdict{Outcome: outcomes.NoRun(in)}
	}
	if err := t.run.session.place.Enter(); err != nil {
		c.refuseUnloaded(err)
		return Verdict{Outcome: c.record.Outcome()}
	}
	defer t.run.session.place.Leave()
	c.dry = true
	if t.run.session.exec.sched.Counts() && simhooks.InFlight(ctx) {
		c.place.Reenter()
	} else if refused := c.place.Enter(c.record.Tool); refused != nil {
		s := t.run.session
		s.mu.Lock()
		defer s.mu.Unlock()
		c.finishRefused(refused)
		return Verdict{Outcome: *refused}
	}
	t.run.session.memory.Work.Force()
	t.launch(c)
	c.await(new(runtime.Outcome))
	v := Verdict{Input: tools.JSON(c.values.Args)} // the evaluation was abandoned, or had not begun
	if c.dryVerdict != nil {
		v = *c.dryVerdict
	}
	if v.Runs {
		return v
	}
	v.Outcome = c.record.Outcome()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.fillRunStatus(&v.Outcome)
	return v
}

// Withheld returns the tools of which no call would be admitted in t now, for any arguments, with
// the reason: the run has ended or is ending, the tool timed out in t, or the policy, if it is a
// runtime.Offers, denies each call of it. Any other tool may be refused when it is called.
func (t *Turn) Withheld(ctx context.Context) map[string]runtime.Denial {
	out := map[string]runtime.Denial{}
	if t == nil || t.run == nil || t.run.session == nil {
		return out
	}
	s, r := t.run.session, t.run
	defer s.place.Pin()()
	for i, tool := range s.exec.tools {
		name := tool.Spec.Name
		s.mu.Lock()
		barred := s.memory.Rules().Barred(r.id, r.by.Agent, r.by.Principal, name)
		s.mu.Unlock()
		if d, withheld := refusal.Withheld(r.node.Workers.IsShut(), barred, t.blocked.Has(i)); withheld {
			out[name] = d
			continue
		}
		c := ident{run: r, tool: &s.exec.tools[i]}
		in := c.policyInputOf(nil, nil, s.exec.sched.Now())
		if d, withheld := decision.Gates(deadline.OrBackground(ctx), s.exec.policy, &in); withheld {
			out[name] = d
		}
	}
	return out
}

// Await is Session.Await for a call that the run of t may know: a call of its principal, made by the run or the sub-agent
// itself or by a sub-agent that it has made. Any other id is denied call_id_reused, and recorded (SEMANTICS 1.4.9).
func (t *Turn) Await(ctx context.Context, callID string) runtime.Outcome {
	if t == nil || t.run == nil || t.run.session == nil {
		return (*Session)(nil).Await(ctx, callID)
	}
	ctx = deadline.OrBackground(ctx)
	s := t.run.session
	defer s.place.Pin()()
	r, refused := s.past.Recall(callID)
	switch {
	case refused != nil:
		return *refused
	case !r.By.Answers(t.run.by):
		return t.denyReused(ctx, r)
	}
	return s.waiting().Outcome(r, ctx.Done())
}

// denyReused returns, and records, what another caller than that of the call of r is told under the id of the call.
func (t *Turn) denyReused(ctx context.Context, r *callRecord) runtime.Outcome {
	in := runtime.Call{ID: r.ID, Tool: r.Tool}
	c := t.newCall(ctx, in)
	if err := c.tooLong(); err != nil {
		return outcomes.TooLong(in, err)
	}
	if err := c.run.session.place.Enter(); err != nil {
		c.refuseUnloaded(err)
		return c.record.Outcome()
	}
	defer c.run.session.place.Leave()
	c.run.session.memory.Work.Force()
	c.refuseID(denied(outcomes.IDReused(r.ID)), ctx.Done())
	return c.record.Outcome()
}

// Artifact is Session.Artifact for the outputs of the calls that the run of t may know, as Await has them. The error is
// ErrNoArtifact when none of them has that output.
func (t *Turn) Artifact(ctx context.Context, sha256 string) ([]byte, runtime.ArtifactRef, error) {
	if t == nil || t.run == nil || t.run.session == nil {
		return (*Session)(nil).Artifact(ctx, sha256)
	}
	s := t.run.session
	defer s.place.Pin()()
	ref, ok := s.past.Artifact(sha256, t.run.by)
	return s.artifact(ctx, sha256, ref, ok)
}
