package entry

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Draft is an entry that is being made. Its methods do nothing after the first of them that
// failed. The zero value is an empty entry.
type Draft struct {
	journal.Record
	payloads redact.Payloads
	err      error // of the first method that failed
}

// OfEvent returns a draft with the members of an event of a call.
func OfEvent(ev *runtime.Event) *Draft {
	return &Draft{Record: journal.Record{
		Kind: ev.Kind.String(), At: At(ev.Time), Session: ev.SessionID, Run: ev.RunID, Turn: ev.Turn, RequestID: ev.ClientRequest, Agent: ev.Agent, Principal: ev.Principal,
		Call: ev.CallID, Tool: ev.Tool, ToolVersion: ev.ToolVersion, From: ev.From.String(), To: ev.To.String(),
		Attempt: ev.Attempt, Duration: ev.Duration, Times: ev.Times, Revision: ev.Revision, Request: ev.RequestID, By: ev.By,
		Live: ev.Live, Resolution: ev.Resolution, Rejection: ev.Rejection, Err: ev.Err, Stack: ev.Stack, Mark: journal.MarkOf(ev.Kind.String()),
	}}
}

// At returns an instant without a monotonic reading and a zone, as it is when it is decoded again.
func At(at time.Time) time.Time { return at.Round(0).UTC() }

// AddArgs adds the arguments as decoded.
func (d *Draft) AddArgs(v wire.Value) { d.Args = d.payload("args", v) }

// AddFinal adds the arguments that the handler is given.
func (d *Draft) AddFinal(v wire.Value) { d.Final = d.payload("final_args", v) }

// AddPrepared adds the state that was prepared for the undo.
func (d *Draft) AddPrepared(v wire.Value) { d.Prepared = d.payload("prepared", v) }

// payload returns v as a record holds it.
func (d *Draft) payload(member string, v wire.Value) (p *journal.Payload) {
	if d.err == nil {
		p, d.err = d.payloads.Payload(member, v)
	}
	return p
}

// AddDecision adds a decision of the policy.
func (d *Draft) AddDecision(of *runtime.Decision) {
	if d.err == nil {
		d.Decision, d.err = history.EncodeDecision(of)
	}
}

// AddOutcome adds an outcome. output is what the handler returned, nil when the output of the
// outcome is that of another call. mask masks in the text of an output what the policy wants masked;
// it is nil when that is nothing.
func (d *Draft) AddOutcome(out *runtime.Outcome, output wire.Value, mask func(wire.Raw) (wire.Raw, error)) {
	if len(out.Denials) > 0 {
		d.AddDecision(&runtime.Decision{Denials: out.Denials})
	}
	if d.err == nil {
		d.Outcome, d.err = history.EncodeOutcome(out)
	}
	if d.err != nil || out.Output == nil && out.Artifact == nil || output == nil {
		return
	}
	if a := out.Artifact; a != nil {
		d.Artifact, d.Output = &a.ArtifactRef, redact.Plain(a.Preview)
		return
	}
	switch d.Output = d.payload("output", output); {
	case d.err != nil:
	case d.Output.Secrets == 0: // equal to the answer
		d.Output = redact.Plain(out.Output)
	case mask != nil: // the obligations are applied to the value whose secrets are masked
		var masked []byte
		if masked, d.err = mask(wire.Raw(d.Output.Value)); d.err == nil {
			d.Output = redact.Plain(masked)
			d.Output.Secrets = d.payloads.KeepIn(masked)
		}
	}
}

// Entry returns the record and its private values. When a method has failed, the record has no
// values and says why in Lost.
func (d *Draft) Entry() (_ *journal.Record, private []byte) {
	if d.err == nil {
		private, d.err = d.payloads.Private()
	}
	if d.err != nil {
		d.Args, d.Final, d.Prepared, d.Output = nil, nil, nil, nil
		d.Lost = d.err.Error()
	}
	return &d.Record, private
}

// Effects returns where the handler of a tool has effects, as a record says it.
func Effects(s *runtime.Spec) string {
	switch {
	case s.Effect == runtime.SideEffectRead:
		return journal.EffectsNone
	case s.Transactional:
		return journal.EffectsInParts
	}
	return ""
}

// MayLast reports whether an interrupted call of a tool, whose commit was not decided, may have a lasting effect:
// one outside of participants, or that of another run by the next owner of the journal.
func MayLast(s *runtime.Spec) bool {
	return Effects(s) == "" || s.Idempotent && s.Retry != nil
}
