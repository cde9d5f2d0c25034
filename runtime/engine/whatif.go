package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime"
)

// WhatIf decides a call as Execute would, on the same path, and stops where the handler would be
// started. It changes nothing, emits no event, and neither checks nor uses the call's id.
func (t *Turn) WhatIf(ctx context.Context, in runtime.Call) Verdict {
	ctx = orBackground(ctx)
	c := t.newCall(ctx, in)
	if c == nil {
		return Verdict{Outcome: noRun(in)}
	}
	c.dry = true
	if refused := c.enterExecutor(); refused != nil {
		s := t.run.session
		s.mu.Lock()
		defer s.mu.Unlock()
		c.finishRefused(refused)
		return Verdict{Outcome: *refused}
	}
	t.launch(c)
	c.await(new(runtime.Outcome))
	return c.verdict()
}

// keepVerdict copies the decision and the arguments of a dry call into e, because the worker may
// still use them when another goroutine ends the call.
func (c *work) keepVerdict(e *result) {
	if e.verdict == nil {
		e.verdict = &Verdict{}
	}
	e.verdict.Decision = c.worker.Scratch.evaluation.decision
	e.verdict.Input = encoded(c.final)
}

// verdict returns the Verdict of an ended dry call.
func (c *call) verdict() Verdict {
	v := Verdict{Input: encoded(c.args)} // the evaluation was abandoned, or had not begun
	if c.dryVerdict != nil {
		v = *c.dryVerdict
	}
	if v.Runs {
		return v
	}
	v.Outcome = c.record.outcome()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.fillRunStatus(&v.Outcome)
	return v
}
