package engine

import (
	"bytes"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// transitionEntry returns the entry of a transition: the members of its event, and what recovery
// and an auditor need in addition.
func (c *call) transitionEntry(ev *runtime.Event, n *note) (_ *journal.Record, private []byte) {
	d := entry.OfEvent(ev)
	if n.session {
		s := c.run.session
		d.Rules, s.ruleEvents = s.ruleEvents, nil
	}
	c.addDetail(d, ev, n)
	if c.idReused {
		d.Mark = journal.MarkNone
	}
	return d.Entry()
}

// addDetail adds to an entry the members that belong to the kind of its event.
func (c *call) addDetail(d *entry.Draft, ev *runtime.Event, n *note) {
	switch ev.Kind {
	case runtime.EventInvoked:
		d.Mark, d.TurnEnds, d.InputMAC = journal.MarkOpened, entry.At(c.turn.budgetEnds), c.exec.inputs.MAC(c.record.input)
		d.Metadata, d.TurnCap, d.Patience = c.metadata, c.turn.limit, c.turn.consentWait
		d.Triggered = c.life.Triggered()
	case runtime.EventValidated:
		d.Heartbeat = c.heartbeat
		d.AddArgs(c.args)
	case runtime.EventApprovalRequested, runtime.EventAuthorized:
		d.AddDecision(&c.worker.Scratch.evaluation.decision)
		if !bytes.Equal(c.finalText, c.text) {
			d.AddFinal(c.final)
		}
	case runtime.EventApprovalDecided:
		if n.edited {
			d.AddFinal(c.final)
		}
	case runtime.EventStarted:
		d.Mark, d.Pin, d.Granted, d.Epoch = journal.MarkStarted, c.tool.spec.Pin, c.tool.spec.Capabilities, c.exec.lease.Epoch()
		d.Effects = entry.Effects(c.tool.spec)
	case runtime.EventRetrying:
		d.Effects = entry.Effects(c.tool.spec)
	case runtime.EventStale, runtime.EventOrphaned:
		d.Epoch = c.epoch
	case runtime.EventReconciled:
		c.addStoredOutcome(d)
	default:
		if n.ends {
			d.Mark = journal.MarkEnded
			c.addStoredOutcome(d)
		}
	}
}

// addStoredOutcome adds the outcome, which is in the call's record by now.
func (c *work) addStoredOutcome(d *entry.Draft) {
	out := c.record.outcome()
	c.addOutcome(d, &out)
}

// addOutcome adds an outcome.
func (c *work) addOutcome(d *entry.Draft, out *runtime.Outcome) {
	if out.Output == nil && out.Artifact == nil { // the worker may still set outputs and obligations
		d.AddOutcome(out, nil, nil)
		return
	}
	var mask func(wire.Raw) (wire.Raw, error)
	if len(c.obligations) > 0 {
		mask = c.redact
	}
	d.AddOutcome(out, c.outputs, mask)
}
