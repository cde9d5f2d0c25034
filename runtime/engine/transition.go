package engine

import (
	"bytes"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/refusal"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

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
	counts, tells := c.exec.tally.Notice(kind), c.exec.emitsEvents()
	if !counts && !tells {
		return
	}
	of := c.told()
	if counts {
		c.exec.tally.Count(of.Count(kind, n, c.record))
	}
	if !tells {
		return
	}
	e := c.exec.delivery.Begin()
	defer c.exec.delivery.End()
	of.Event(e, kind, from, to, n)
	if c.exec.log.On() && !c.unrecorded {
		r, private := c.transitionEntry(e, n)
		ended := r.Process
		e.Seq = c.trail.Add(r, private)
		c.record.Recorded(r, e.Seq)
		if ended != nil {
			// SEMANTICS 6.6.9
			c.exec.log.WhenDurable(e.Seq, func() { c.exec.processes.Unspool(ended.ID.Mark) })
		}
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

// told returns what every transition says of the call. The lock of the call is held once other goroutines know c.
func (c *call) told() (of transitionSubject) {
	of = transitionSubject{
		ID: c.id, Tool: c.record.Tool, Session: c.run.session.id, Run: c.run.id, Agent: c.run.by.Agent, Principal: c.run.by.Principal,
		Turn: c.turn.number, ClientRequest: clientRequest(c.metadata), Declared: c.tool, Attempt: c.progress.Life.Attempt(),
		Revision: c.progress.Revision, Began: c.began, Input: c.size, Notes: c.notes, Watch: &c.progress.Watch,
	}
	if c.consent != nil {
		of.Request = c.consent.Request
	}
	return of
}

// transitionEntry returns the entry of a transition: the members of its event, and what recovery
// and an auditor need in addition.
func (c *call) transitionEntry(ev *runtime.Event, n *note) (_ *journal.Record, private []byte) {
	d := entry.OfEvent(ev)
	if n.Session {
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
		d.Triggered, d.Granted = c.progress.Life.Triggered(), c.run.granted
	case runtime.EventValidated:
		d.Heartbeat = c.heartbeat
		d.AddArgs(c.values.Args)
	case runtime.EventApprovalRequested, runtime.EventAuthorized:
		d.AddDecision(&c.worker.evaluation.Decision)
		if !bytes.Equal(c.values.FinalText, c.values.Text) {
			d.AddFinal(c.values.Final)
		}
	case runtime.EventApprovalDecided:
		if n.Edited {
			d.AddFinal(c.values.Final)
		}
	case runtime.EventStarted:
		d.Mark, d.Pin, d.Granted, d.Epoch = journal.MarkStarted, c.tool.Spec.Pin, c.tool.Spec.Capabilities, c.exec.lease.Epoch()
		d.Effects, d.Places = entry.Effects(c.tool.Spec), c.exec.places
	case runtime.EventRetrying:
		d.Effects, d.Places = entry.Effects(c.tool.Spec), c.exec.places
	case runtime.EventStale, runtime.EventOrphaned:
		d.Epoch = c.epoch
	}
	if n.Ends {
		d.Mark = journal.MarkEnded
	}
	if n.Ends || ev.Kind == runtime.EventReconciled { // the outcome is in the call's record by now
		out := c.record.Outcome()
		c.addOutcome(d, &out)
	}
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
	f := &action.CallError{Tool: c.record.Tool, CallID: c.id, SessionID: c.run.session.id, RunID: c.run.id, Reason: r, Err: err}
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
