package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// Withheld returns the tools of which no call would be admitted in t now, whatever its arguments,
// with the reason: the run has ended or is ending, the tool timed out in t, or the policy, if it is
// a runtime.Offers, denies each call of it. Any other tool may be refused when it is called.
func (t *Turn) Withheld(ctx context.Context) map[string]runtime.Denial {
	if t == nil || t.run == nil || t.run.session == nil {
		return nil
	}
	out := map[string]runtime.Denial{}
	r, s := t.run, t.run.session
	s.mu.Lock()
	ended := r.node.workers.IsShut()
	for _, tool := range s.exec.tools {
		name := tool.spec.Name
		if reason := s.state.Barred(r.id, r.agent, r.principal, name); reason != 0 {
			out[name] = runtime.Denial{Code: reason.String(), Message: "the run is ending: the tool is not needed for that"}
		}
		if ended || out[name].Code == runtime.ReasonRunFinished.String() {
			out[name] = runtime.Denial{Code: runtime.ReasonRunFinished.String(), Message: "the run is finished"}
		}
	}
	s.mu.Unlock()
	for i, tool := range s.exec.tools {
		if _, barred := out[tool.spec.Name]; barred {
			continue
		}
		if t.blocks(i) {
			out[tool.spec.Name] = runtime.Denial{Code: runtime.ReasonBlockedAfterTimeout.String(), Message: "the tool timed out in this turn"}
		} else if d, denied := t.gated(orBackground(ctx), i); denied {
			out[tool.spec.Name] = d
		}
	}
	return out
}

// gated asks the policy whether it denies each call of the tool at position i. Where the policy
// fails the tool is offered: the call will be denied.
func (t *Turn) gated(ctx context.Context, i int) (d runtime.Denial, denied bool) {
	policy, ok := t.run.session.exec.policy.(runtime.Offers)
	if !ok {
		return d, false
	}
	c := ident{exec: t.run.session.exec, run: t.run, tool: &t.run.session.exec.tools[i], index: i}
	in := c.policyInputOf(nil, nil, c.exec.sched.Now())
	err := usercode.Call(func() error {
		d, denied = policy.Gates(ctx, &in)
		return nil
	})
	return d, denied && err == nil
}

// Await is Session.Await for a call of t.
func (t *Turn) Await(ctx context.Context, callID string) runtime.Outcome {
	if t == nil || t.run == nil {
		return (*Session)(nil).Await(ctx, callID)
	}
	return t.run.session.Await(ctx, callID)
}
