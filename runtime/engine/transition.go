package engine

import (
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A note is the data of a transition beside its event and states.
type note struct {
	at      time.Time
	kind    runtime.OutcomeKind // when the call ends, as are the next two; a pointer to the outcome would move it to the heap
	reason  runtime.Reason
	reasons []runtime.Reason
	fault   *CallError          // for operators
	text    string              // of fault, or of the cause of a refusal, without sensitive values
	output  int                 // bytes
	answer  *consent.Event      // to a request for consent
	live    *journal.LiveCounts // of tool.output, as is the next
	dropped int
	undo    *ActionError // of an undo that failed
	edited  bool         // that answer edited the arguments
	by      string
	ends    bool // the call has its outcome now
	session bool // the lock of the session is held: the entry takes the changes of its rule state
}

// transition takes the call to another state. No other function changes the state or emits the
// event of a call. c.mu is held once other goroutines know the call, so transition calls no code of
// a tool or a policy.
func (c *call) transition(kind runtime.EventKind, to runtime.State, n *note) {
	from := c.state
	if c.invoked == (kind == runtime.EventInvoked) || !kind.Legal(from, to) {
		c.exec.report(c.newFault(runtime.ReasonNone, fmt.Errorf("%v is no legal event from %v to %v: this is a bug in the runtime", kind, from, to)))
		return
	}
	c.state, c.invoked = to, true
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
	e.Tool, e.CallID, e.SessionID, e.RunID = c.record.tool, c.id, c.run.session.id, c.run.id
	e.Agent, e.Principal, e.By, e.Attempt = c.run.agent, c.run.principal, n.by, c.life.Attempt()
	e.Turn, e.ClientRequest = c.turn.number, c.request
	e.Revision, e.Duration = c.revision, n.at.Sub(c.began)
	e.InputBytes, e.OutputBytes, e.Live = c.size, n.output, n.live
	e.Outcome, e.Reason, e.AllReasons = n.kind, n.reason, n.reasons
	if n.ends {
		e.Notes = c.notes
	}
	if c.tool != nil {
		e.ToolVersion = c.tool.spec.Version
	}
	if c.consent != nil {
		e.RequestID = c.consent.id
	}
	if a := n.answer; a != nil {
		e.By, e.Resolution, e.Rejection = a.By, a.Result.Resolution.String(), a.Result.Rejection.String()
	}
	if n.ends {
		e.Times = c.watch.Times()
	}
	if n.undo != nil || kind == runtime.EventUndone {
		e.Duration = sinceAsked(c, n.at)
	}
	if n.undo != nil {
		result, code := ResultOf(n.undo)
		e.Resolution, e.Rejection = result, string(code)
	}
	if e.Err = n.text; n.fault != nil {
		e.Stack = string(n.fault.Stack)
	}
	if c.exec.log.On() && !c.unrecorded {
		c.entry = c.exec.log.Add(c.transitionEntry(e, n))
		e.Seq = c.entry
	}
	if c.unrecorded {
		e.Seq = 0
	}
	c.exec.delivery.Deliver()
}

// operatorText returns the text that the event of an outcome has for operators. It may run code of
// the tool: no lock is held, and the timer can still end the call.
func (c *call) operatorText(out *runtime.Outcome, fault *CallError) string {
	if fault == nil && len(out.Violations)+len(out.Denials) == 0 {
		return ""
	}
	return c.operatorTextSlow(out, fault)
}

// operatorTextSlow is operatorText when there is a fault, a violation or a denial.
func (c *call) operatorTextSlow(out *runtime.Outcome, fault *CallError) string {
	switch {
	case c.dry || !c.exec.emitsEvents():
		return ""
	case fault != nil:
		return c.redactText(fault.text())
	}
	return c.redactText(refusalCause(out))
}
