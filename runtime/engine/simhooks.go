package engine

import (
	"bytes"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/simhooks"
)

// Tamper changes the arguments of a call that waits for consent, without the checks of an edit.
// Simulations use it to show that such a call does not run. Only packages of this module can make a
// key.
func (e *Executor) Tamper(_ simhooks.Key, session, callID string, input []byte) error {
	e.approvals.mu.Lock()
	var found *call
	for _, c := range e.approvals.calls {
		if c.run.session.id == session && c.id == callID {
			found = c
		}
	}
	e.approvals.mu.Unlock()
	if found == nil {
		return fmt.Errorf("call %q never waited for consent", callID)
	}
	args, violations := found.tool.Decode(input)
	if violations != nil {
		return fmt.Errorf("call %q: %s", callID, violationList(violations))
	}
	found.mu.Lock()
	defer found.mu.Unlock()
	if !found.life.Waits() {
		return fmt.Errorf("call %q does not wait for consent", callID)
	}
	found.final, found.finalText = args, bytes.Clone(input)
	return nil
}

// Sync makes all that was recorded so far durable. A replay calls it before it takes the journal
// over, because all entries of a recording were durable. Only packages of this module can make a
// key.
func (e *Executor) Sync(simhooks.Key) error { return e.log.FlushAll() }

// simulate lets a simulation control the calls that the executor makes without a context; nil:
// there is no simulation.
func (e *Executor) simulate(r *simhooks.Rig) {
	if e.hooks = r; r != nil && r.Evaluations > 0 {
		e.evaluations.places.Open(r.Evaluations, 0)
	}
}
