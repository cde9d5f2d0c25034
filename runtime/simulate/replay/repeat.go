package replay

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/approvals"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A repeated call is let do what it did, whatever the candidate decides, so that the calls after it are judged on the recorded state.
// The candidate is asked about it beside that (engine.Turn.WhatIf).

// recorded reports whether the call is repeated, and returns the consent that was required of it then.
func (c *call) recorded() (*runtime.Consent, bool) {
	if c == nil || !c.repeated {
		return nil, false
	}
	if c.question == nil {
		return nil, true
	}
	need := c.question.Requirement
	return &runtime.Consent{
		Message: c.question.Message, Approvers: need.Approvers, Quorum: need.Quorum, Timeout: need.Timeout, MaxCover: need.MaxCover, MaxFor: need.MaxFor,
		AllowEdit: need.AllowEdit, AllowSelf: need.AllowSelf,
	}, true
}

// A lenient codec takes an input that its tool does not take any more as it is: the recorded one was valid.
type lenient struct{ runtime.Codec }

// Decode implements runtime.Codec.
func (l lenient) Decode(b []byte, limits wire.Limits) (wire.Value, []wire.Violation) {
	v, violations := l.Codec.Decode(b, limits)
	if violations == nil {
		return v, nil
	}
	return wire.ParseRaw(b, wire.Limits{Size: len(b) + 1})
}

// codec returns the codec of a tool of the candidate. Where calls are repeated it takes what was valid, too.
func (sim *simulation) codec(of runtime.Codec) runtime.Codec {
	if sim.each || !sim.since.IsZero() {
		return lenient{of}
	}
	return of
}

// judge asks the candidate about a repeated call, before that is decided, and compares. A call is judged once: again after its approval
// it is not.
func (sim *simulation) judge(ctx context.Context, s *step, recorded *Verdict) error {
	c := s.call
	if c.judged || c.early || c.carried {
		return nil
	}
	c.judged = true
	late := recorded.Reason == runtime.ReasonBlockedAfterTimeout.String() || recorded.Reason == runtime.ReasonDeadline.String()
	if recorded.Decision == Open || !c.admitted && late { // it ended before anything was decided
		c.fate = fateUnchanged
		return nil
	}
	now, err := sim.whatIf(ctx, c)
	if err != nil {
		return err
	}
	switch {
	case now.Decision == recorded.Decision && now.Decision == Runs: // how long it took is compared at its end
		now = recorded
	case now.Decision == Asked && recorded.Reason == runtime.ReasonConsentUnavailable.String(), // nobody could be asked
		now.Decision == Asked && recorded.Reason == runtime.ReasonPreviewFailed.String():
		now = recorded
	}
	sim.compare(s, recorded, now)
	return nil
}

// whatIf returns the verdict of the candidate about a call on the present state.
func (sim *simulation) whatIf(ctx context.Context, c *call) (*Verdict, error) {
	tool, _, known := sim.reg.Lookup(c.tool)
	if known {
		if _, violations := sim.inputs[tool.Spec().Name].Decode(c.args, wire.Limits{Size: tool.Spec().InputLimit()}); violations != nil {
			why := runtime.ReasonInvalidInput.String()
			return &Verdict{Decision: Refused, Outcome: runtime.Denied.String(), Reason: why, AllReasons: []string{why}}, nil
		}
	}
	run := sim.agent(c.run, c.agent)
	if len(c.capabilities) > 0 {
		run = run.WithPrincipal(c.principal, c.capabilities...)
	}
	turn := run.Turn(engine.TurnConfig{}) // what has happened in its own turn since it was made does not matter
	var v engine.Verdict
	beside, giveUp := context.WithCancel(simhooks.With(c.with(context.Background(), judging), &simhooks.Hooks{InFlight: true}))
	defer giveUp()
	done, err := sim.exec.Begin(func() { v = turn.WhatIf(beside, c.request(c.args)) })
	if err != nil {
		return nil, err
	}
	select {
	case <-done:
	default: // it waits for an equal call, which has not begun yet
		giveUp()
		if err := sim.exec.Do(ctx, func() { <-done }); err != nil {
			return nil, err
		}
		return &Verdict{Decision: Duplicate, Outcome: runtime.Duplicate.String()}, nil
	}
	switch {
	case v.Runs && c.admitted:
		return &Verdict{Decision: Runs, Outcome: running}, nil
	case v.Runs:
		return &Verdict{Decision: Runs, Outcome: Unrecorded}, nil
	case v.Outcome.Kind == runtime.Pending:
		q, err := approvals.Question(tool.Spec(), consent.Call{Principal: c.principal}, &v.Decision)
		if err != nil {
			return nil, err
		}
		return asks((&consent.Request{Terms: consent.Terms{Reasons: q.Reasons}}).Rules()), nil
	}
	return verdictOf(&v.Outcome, false), nil
}

// follow compares how a repeated call ended with the recording: where it did not do what it did, the calls after it cannot be judged. Of
// a call that ran the deadline of the candidate is compared, too.
func (sim *simulation) follow(s *step, recorded, now *Verdict) {
	c := s.call
	tool, _, known := sim.reg.Lookup(c.tool)
	switch {
	case !known: // no rule of the candidate counts it
	case c.started && (recorded.Decision != now.Decision || !recorded.same(now)), !c.started && now.Decision == Runs:
		if c.run.stop == "" {
			c.run.stop = fmt.Sprintf("it comes after call %q, which could not be made as it was recorded", c.key.Call)
		}
	case c.early, c.carried, !c.started, c.outcome.Kind != runtime.Completed, c.retried > 0, c.orphaned, sim.patient[c.tool]:
	case c.ended.Sub(c.startedAt) > deadlineOf(tool):
		late := *recorded
		late.Outcome, late.Reason, late.AllReasons = runtime.TimedOut.String(), "", nil
		sim.compare(s, recorded, &late)
	}
}

// deadlineOf returns the deadline of a tool.
func deadlineOf(t *runtime.Tool) time.Duration {
	if d := t.Spec().Deadline; d > 0 {
		return d
	}
	return runtime.DefaultDeadline
}

// endOf returns the step of the outcome of a call that has one.
func (rec *recording) endOf(c *call) *step {
	i := slices.IndexFunc(rec.steps, func(s step) bool { return s.call == c && s.r.Mark == journal.MarkEnded })
	return &rec.steps[i]
}
