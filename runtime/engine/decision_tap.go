package engine

import (
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// ruleBreaker is the rule of a call that was denied without an evaluation of the policy.
const ruleBreaker = "breaker_open"

// WithDecisionTap sets what follows the decisions of the policy about calls, such as a
// shadow.Shadow. It is given each decision after the call was evaluated, and never delays or changes
// a call. It is not given decisions about undos, edited arguments and WhatIf. A call that waited
// for consent is decided twice.
func WithDecisionTap(t tap.Tap) Option {
	return func(e *Executor) { e.tapped = t }
}

// openTap opens what follows the decisions of e, if there is a tap.
func (e *Executor) openTap() {
	if e.tapped == nil {
		return
	}
	ticks, tick := e.evaluations.Limit()
	e.follower = e.tapped.Open(tap.Host{
		Sched: &e.sched, Tick: tick, Ticks: ticks,
		Record: func(r *journal.Record) {
			if e.log.On() {
				r.At = entry.At(e.sched.Now())
				e.log.Add(r, nil)
			}
		},
		Report: func(in *runtime.PolicyInput, err error) {
			e.report(&CallError{Tool: in.Tool.Name, CallID: in.CallID, SessionID: in.SessionID, RunID: in.RunID, Err: err})
		},
	})
}

// decisionForTap is tapDecision when there is a tap.
func (c *work) decisionForTap() *tap.Decision {
	w := &c.worker.Scratch
	if w.evaluation.Detail.Rule == ruleBreaker { // the policy was not evaluated
		return nil
	}
	if w.tapped == nil {
		w.tapped = new(tap.Decision)
	}
	d := w.tapped
	*d = tap.Decision{Input: w.input, Text: c.finalText, Tool: c.tool, Agent: c.run.agent, Decision: w.evaluation.decision}
	d.Input.Args = nil
	d.Input.SetFacts(w.view.Facts())
	if w.evaluation.Reason == runtime.ReasonPolicyError {
		d.Failed = w.evaluation.Detail.Rule
	}
	return d
}
