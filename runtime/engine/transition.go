package engine

import (
	"bytes"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/metadata"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A note is the data of a transition beside its event and states.
type note struct {
	at      time.Time
	kind    runtime.OutcomeKind // when the call ends, as are the next two; a pointer to the outcome would move it to the heap
	reason  runtime.Reason
	reasons []runtime.Reason
	fault   *action.CallError   // for operators
	text    string              // of fault, or of the cause of a refusal, without sensitive values
	output  int                 // bytes
	answer  *consent.Event      // to a request for consent
	live    *journal.LiveCounts // of tool.output, as is the next
	dropped int
	undo    *action.Error // of an undo that failed
	edited  bool          // that answer edited the arguments
	by      string
	ends    bool // the call has its outcome now
	session bool // the lock of the session is held: the entry takes the changes of its rule state
}

// transition takes the call to another state. No other function changes the state or emits the
// event of a call. The lock of the call is held once other goroutines know the call, so transition calls no code of
// a tool or a policy.
func (c *call) transition(kind runtime.EventKind, to runtime.State, n *note) {
	from, legal := c.progress.Move(kind, to)
	if !legal {
		c.exec.report(c.newFault(runtime.ReasonNone, fmt.Errorf("%v is no legal event from %v to %v: this is a bug in the runtime", kind, from, to)))
		return
	}
	if c.dry {
		return
	}
	if c.exec.tally.Notice(kind) {
		c.exec.tally.Count(counted(c, kind, n))
	}
	if !c.exec.emitsEvents() {
		return
	}
	e := c.exec.delivery.Begin()
	defer c.exec.delivery.End()
	e.Time, e.Kind, e.From, e.To = n.at, kind, from, to
	e.Tool, e.CallID, e.SessionID, e.RunID = c.record.Tool, c.id, c.run.session.id, c.run.id
	e.Agent, e.Principal, e.By, e.Attempt = c.run.agent, c.run.principal, n.by, c.progress.Life.Attempt()
	e.Turn, e.ClientRequest = c.turn.number, metadata.Request(c.metadata)
	e.Revision, e.Duration = c.progress.Revision, n.at.Sub(c.began)
	e.InputBytes, e.OutputBytes, e.Live = c.size, n.output, n.live
	e.Outcome, e.Reason, e.AllReasons = n.kind, n.reason, n.reasons
	if n.ends {
		e.Notes = c.notes
	}
	if c.tool != nil {
		e.ToolVersion = c.tool.Spec.Version
	}
	if c.consent != nil {
		e.RequestID = c.consent.Request
	}
	if a := n.answer; a != nil {
		e.By, e.Resolution, e.Rejection = a.By, a.Result.Resolution.String(), a.Result.Rejection.String()
	}
	if n.ends {
		e.Times = c.progress.Watch.Times()
	}
	if n.undo != nil || kind == runtime.EventUndone {
		e.Duration = c.record.Undo.Since(n.at)
	}
	if n.undo != nil {
		result, code := action.ResultOf(n.undo)
		e.Resolution, e.Rejection = result, string(code)
	}
	if e.Err = n.text; n.fault != nil {
		e.Stack = string(n.fault.Stack)
	}
	if c.exec.log.On() && !c.unrecorded {
		e.Seq = c.trail.Add(c.transitionEntry(e, n))
	}
	if c.unrecorded {
		e.Seq = 0
	}
	c.exec.delivery.Deliver()
}

// emitsEvents reports whether there is a sink or a journal for events.
func (e *Executor) emitsEvents() bool { return e.delivery.HasSinks() || e.log.On() }

// operatorText returns the text that the event of an outcome has for operators. It may run code of
// the tool: no lock is held, and the timer can still end the call.
func (c *call) operatorText(out *runtime.Outcome, fault *action.CallError) string {
	switch {
	case fault == nil && len(out.Violations)+len(out.Denials) == 0, c.dry, !c.exec.emitsEvents():
		return ""
	case fault != nil:
		return c.redactText(fault.Text)
	}
	return c.redactText(refusal.Cause(out))
}

// counted returns a transition of c for the counter. The lock of the call is held once other goroutines know c.
func counted(c *call, kind runtime.EventKind, n *note) runtime.Transition {
	t := runtime.Transition{
		Kind: kind, Tool: -1, Ended: n.ends, Outcome: n.kind, Reason: n.reason, Output: n.output, Dropped: n.dropped, Duration: n.at.Sub(c.began),
	}
	if c.tool == nil {
		return t
	}
	t.Tool = c.tool.Index
	switch {
	case n.ends:
		t.Times, t.Attempts = c.progress.Watch.Times(), c.progress.Life.Attempt()
		if a := c.record.Artifact(); a != nil {
			t.Artifact = int64(a.Bytes)
		}
	case n.answer != nil:
		t.Resolution, t.Approved = n.answer.Result.Resolution, n.answer.Result.Approve
	case kind == runtime.EventInvoked:
		t.Input = c.size
	case n.undo != nil || kind == runtime.EventUndone:
		t.Duration = c.record.Undo.Since(n.at)
	}
	return t
}

// transitionEntry returns the entry of a transition: the members of its event, and what recovery
// and an auditor need in addition.
func (c *call) transitionEntry(ev *runtime.Event, n *note) (_ *journal.Record, private []byte) {
	d := entry.OfEvent(ev)
	if n.session {
		d.Rules = c.run.session.memory.Take()
	}
	c.addDetail(d, ev, n)
	if c.idReused {
		d.Mark = journal.MarkNone
	}
	return d.Entry()
}

// addDetail adds to an entry the members that belong to the kind of its event.
func (c *call) addDetail(d *entry.Draft, ev *runtime.Event, n *note) {
	if ev.Kind != runtime.EventOutput && ev.Kind != runtime.EventStale {
		d.Process = c.progress.Scope.TakeProcess()
	}
	switch ev.Kind {
	case runtime.EventInvoked:
		d.Mark, d.TurnEnds, d.InputMAC = journal.MarkOpened, entry.At(c.turn.budgetEnds), c.exec.inputs.MAC(c.record.Input)
		d.Metadata, d.TurnCap, d.Patience = c.metadata, c.turn.limit, c.turn.consentWait
		d.Triggered = c.progress.Life.Triggered()
	case runtime.EventValidated:
		d.Heartbeat = c.heartbeat
		d.AddArgs(c.values.Args)
	case runtime.EventApprovalRequested, runtime.EventAuthorized:
		d.AddDecision(&c.worker.Scratch.evaluation.Decision)
		if !bytes.Equal(c.values.FinalText, c.values.Text) {
			d.AddFinal(c.values.Final)
		}
	case runtime.EventApprovalDecided:
		if n.edited {
			d.AddFinal(c.values.Final)
		}
	case runtime.EventStarted:
		d.Mark, d.Pin, d.Granted, d.Epoch = journal.MarkStarted, c.tool.Spec.Pin, c.tool.Spec.Capabilities, c.exec.lease.Epoch()
		d.Effects = entry.Effects(c.tool.Spec)
	case runtime.EventRetrying:
		d.Effects = entry.Effects(c.tool.Spec)
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
	out := c.record.Outcome()
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
	d.AddOutcome(out, c.values.Outputs, mask)
}

// newFault returns a fault of c. It reads the text of err at once, because the Error method of user
// code may hang. The caller therefore holds no lock, unless err is an error of the engine.
func (c *ident) newFault(r runtime.Reason, err error) *action.CallError {
	f := &action.CallError{
		Tool: c.record.Tool, CallID: c.id, SessionID: c.run.session.id, RunID: c.run.id, Reason: r, Err: err,
	}
	if err != nil {
		f.Text = usercode.ErrorText(err)
	}
	return f
}

// panicFault returns the fault for a panic.
func (c *ident) panicFault(p *usercode.Panicked) *action.CallError {
	f := c.newFault(runtime.ReasonPanic, nil)
	f.Panic, f.Stack = p.Value, p.Stack
	f.Text = fmt.Sprintf("panic: %v", p.Value)
	return f
}

// report reports the fault of the result, once.
func (e *result) report(c *call) {
	if e.fault != nil && !e.reported {
		e.reported = true
		c.exec.report(e.fault.Hide(c.redactText))
	}
}

// setFailed sets e to the result of a call whose handler failed.
func (c *work) setFailed(e *result, message string, fault *action.CallError) {
	e.event, e.to, e.fault = runtime.EventFailed, runtime.StateFailed, fault
	e.outcome.Kind, e.outcome.Reason, e.outcome.Message = runtime.Failed, fault.Reason, message
	e.outcome.Obligations = c.obligations
}

// redact masks the members of the output that the policy wants masked.
func (c *work) redact(out wire.Raw) (wire.Raw, error) { return c.tool.Mask(c.obligations, out) }

// redactText removes the values of members marked x-sensitive from a text that a
// handler or a policy wrote.
func (c *call) redactText(text string) string {
	if text == "" {
		return ""
	}
	c.progress.Lock()
	prepared := c.prepared
	c.progress.Unlock()
	return c.values.Secrets(c.tool, c.record.Input, prepared).Redact(text)
}
