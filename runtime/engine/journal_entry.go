package engine

import (
	"bytes"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// transitionEntry returns the entry of a transition: the members of its event, and what recovery
// and an auditor need in addition.
func (c *call) transitionEntry(ev *runtime.Event, n *note) (_ *journal.Record, private []byte) {
	r := &journal.Record{
		Kind: ev.Kind.String(), At: recordTime(ev.Time), Session: ev.SessionID, Run: ev.RunID, Agent: ev.Agent, Principal: ev.Principal,
		Call: ev.CallID, Tool: ev.Tool, ToolVersion: ev.ToolVersion, From: ev.From.String(), To: ev.To.String(),
		Attempt: ev.Attempt, Duration: ev.Duration, Revision: ev.Revision, Request: ev.RequestID, By: ev.By,
		Resolution: ev.Resolution, Rejection: ev.Rejection, Err: ev.Err, Stack: ev.Stack,
	}
	if n.session {
		s := c.run.session
		r.Rules, s.ruleEvents = s.ruleEvents, nil
	}
	var p redact.Payloads
	err := c.addDetail(r, ev, n, &p)
	if c.idReused {
		r.Mark = journal.MarkNone
	}
	return entryOf(r, &p, err)
}

// recordTime returns an instant without a monotonic reading and a zone, as it is when it is decoded
// again.
func recordTime(at time.Time) time.Time { return at.Round(0).UTC() }

// addDetail adds to a record the members that belong to the kind of its event.
func (c *call) addDetail(r *journal.Record, ev *runtime.Event, n *note, p *redact.Payloads) (err error) {
	switch ev.Kind {
	case runtime.EventInvoked:
		r.Mark, r.TurnEnds, r.InputMAC = journal.MarkOpened, recordTime(c.turn.budgetEnds), c.exec.inputs.MAC(c.record.input)
		r.Metadata, r.TurnCap, r.Patience = c.metadata, c.turn.limit, c.turn.consentWait
		r.Triggered = c.life.Triggered()
	case runtime.EventValidated:
		r.Heartbeat = c.heartbeat
		r.Args, err = p.Payload("args", c.args)
	case runtime.EventApprovalRequested, runtime.EventAuthorized:
		if r.Decision, err = history.EncodeDecision(&c.worker.evaluation.decision); err == nil {
			err = c.addFinalArgs(r, p)
		}
	case runtime.EventApprovalDecided:
		if n.edited {
			r.Final, err = p.Payload("final_args", c.final)
		}
	case runtime.EventStarted:
		r.Mark, r.Pin, r.Granted, r.Epoch = journal.MarkStarted, c.tool.spec.Pin, c.tool.spec.Capabilities, c.exec.lease.Epoch()
		r.Effects = effectsOf(c.tool.spec)
	case runtime.EventRetrying:
		r.Effects = effectsOf(c.tool.spec)
	case runtime.EventStale, runtime.EventOrphaned:
		r.Epoch = c.epoch
	case runtime.EventReconciled:
		err = c.addStoredOutcome(r, p)
	default:
		if n.ends {
			r.Mark = journal.MarkEnded
			err = c.addStoredOutcome(r, p)
		}
	}
	return err
}

// addFinalArgs adds the arguments that the handler will run with, when they are not those of the
// input.
func (c *work) addFinalArgs(r *journal.Record, p *redact.Payloads) (err error) {
	if !bytes.Equal(c.finalText, c.text) {
		r.Final, err = p.Payload("final_args", c.final)
	}
	return err
}

// addStoredOutcome adds the outcome, which is in the call's record by now.
func (c *work) addStoredOutcome(r *journal.Record, p *redact.Payloads) (err error) {
	out := c.record.outcome()
	return c.addOutcome(r, &out, p)
}

// addOutcome adds an outcome.
func (c *work) addOutcome(r *journal.Record, out *runtime.Outcome, p *redact.Payloads) (err error) {
	if len(out.Denials) > 0 {
		d := runtime.Decision{Denials: out.Denials}
		if r.Decision, err = history.EncodeDecision(&d); err != nil {
			return err
		}
	}
	if r.Outcome, err = history.EncodeOutcome(out); err != nil || out.Output == nil && out.Artifact == nil || c.outputs == nil {
		return err // a duplicate has the output of the earlier call
	}
	if a := out.Artifact; a != nil {
		r.Artifact, r.Output = &a.ArtifactRef, redact.Plain(a.Preview)
		return nil
	}
	r.Output, err = p.Payload("output", c.outputs)
	switch {
	case err != nil:
	case r.Output.Secrets == 0: // equal to the answer
		r.Output = redact.Plain(out.Output)
	case len(c.obligations) > 0: // the obligations are applied to the value whose secrets are masked
		var masked []byte
		if masked, err = c.redact(wire.Raw(r.Output.Value)); err == nil {
			r.Output = redact.Plain(masked)
			r.Output.Secrets = p.KeepIn(masked)
		}
	}
	return err
}

// effectsOf returns where the handler has effects, as the journal records it.
func effectsOf(s *runtime.Spec) string {
	switch {
	case s.Effect == runtime.SideEffectRead:
		return journal.EffectsNone
	case s.Transactional:
		return journal.EffectsInParts
	}
	return ""
}

// entryOf returns a record, whose payloads p made, and its private values. err says that a payload
// could not be made: the record then has no payloads, and names the error. A tool whose code is
// broken therefore does not keep other tools from the journal.
func entryOf(r *journal.Record, p *redact.Payloads, err error) (_ *journal.Record, private []byte) {
	if err == nil {
		private, err = p.Private()
	}
	if err != nil {
		r.Args, r.Final, r.Prepared, r.Output = nil, nil, nil, nil
		r.Lost = err.Error()
	}
	return r, private
}
