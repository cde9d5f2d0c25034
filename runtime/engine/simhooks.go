package engine

import (
	"bytes"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/decision"
	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// tapDecision returns the decision that the policy has just made about the call, for the tap; nil
// when the policy was not evaluated.
func (c *work) tapDecision() *tap.Decision {
	w := &c.worker.Scratch
	if w.evaluation.Detail.Rule == decision.RuleBreaker { // the policy was not evaluated
		return nil
	}
	if w.tapped == nil {
		w.tapped = new(tap.Decision)
	}
	d := w.tapped
	*d = tap.Decision{Input: w.input, Text: c.values.FinalText, Tool: c.tool, Agent: c.run.agent, Decision: w.evaluation.Decision}
	d.Input.Args = nil
	d.Input.SetFacts(w.view.Facts())
	if w.evaluation.Reason == runtime.ReasonPolicyError {
		d.Failed = w.evaluation.Detail.Rule
	}
	return d
}

// tamper is Tamper of a simulation.
func (e *Executor) tamper(session, callID string, input []byte) error {
	found := e.approvals.Find(func(c *call) bool { return c.run.session.id == session && c.id == callID })
	if found == nil {
		return fmt.Errorf("call %q never waited for consent", callID)
	}
	args, violations := found.tool.Decode(input)
	if violations != nil {
		return fmt.Errorf("call %q: %s", callID, wording.Violations(violations))
	}
	found.progress.Lock()
	defer found.progress.Unlock()
	if !found.progress.Life.AwaitsConsent() {
		return fmt.Errorf("call %q does not wait for consent", callID)
	}
	found.values.Final, found.values.FinalText = args, bytes.Clone(input)
	return nil
}

// simulate lets a simulation control the calls that the executor makes without a context; nil:
// there is no simulation.
func (e *Executor) simulate(r *simhooks.Hooks) {
	if e.hooks = r; r == nil {
		return
	}
	r.Tamper, r.Sync = e.tamper, e.log.FlushAll
	if r.Evaluations > 0 {
		e.evaluations.SetPlaces(r.Evaluations)
	}
}
