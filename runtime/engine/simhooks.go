package engine

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

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

// simulate lets a simulation control the calls that the executor makes without a context; nil: there is none.
func (e *Executor) simulate(r *simhooks.Hooks) {
	if e.hooks = r; r == nil {
		return
	}
	r.Tamper, r.Sync, r.Snapshot, r.Unload = e.tamper, e.log.FlushAll, e.snapshots.Write, e.sessions.Unload
	if r.Evaluations > 0 {
		e.evaluations.SetPlaces(r.Evaluations)
	}
}

// toolOf returns the tool of a call that is made with ctx: in a replay, of a call that is made again as it was recorded, one with
// the consent that was required then.
func (e *Executor) toolOf(ctx context.Context, callID string, t *tools.Tool) *tools.Tool {
	if t == nil || !e.sched.Counts() {
		return t
	}
	declared, yes := simhooks.Recorded(ctx, callID)
	if !yes {
		return t
	}
	spec, own := *t.Spec, *t
	spec.Consent, own.Spec, own.Recorded = declared, &spec, true
	return &own
}
