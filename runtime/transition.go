package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
)

// A note is what a transition has to tell beside itself.
type note struct {
	at      time.Time
	kind    OutcomeKind // when the call ends, as the next two; a pointer to the outcome would move it to the heap
	reason  Reason
	reasons []Reason
	fault   *CallError     // what went wrong, for operators
	text    string         // of it, or of what stands behind a refusal, without sensitive values
	output  int            // bytes
	answer  *consent.Event // to a request for consent
	by      string
}

// transition takes the call to another state. It is the only function that
// does, and the only one that emits an event. c.mu is held, once others know
// the call: what a tool or a policy wrote is not called here.
func (c *call) transition(kind EventKind, to State, n note) {
	from := c.state
	if c.invoked == (kind == EventInvoked) || !kind.Legal(from, to) {
		c.exec.report(c.faulty(ReasonNone, fmt.Errorf("%v is no legal event from %v to %v: this is a bug in the runtime", kind, from, to)))
		return
	}
	c.state, c.invoked = to, true
	if c.dry || len(c.exec.sinks) == 0 {
		return
	}
	e := Event{
		Time: n.at, Kind: kind, From: from, To: to,
		Tool: c.record.tool, CallID: c.id, SessionID: c.run.session.cfg.ID, RunID: c.run.id,
		Agent: c.run.agent, Principal: c.run.principal, By: n.by, Attempt: c.attempt,
		Revision: c.revision, Duration: n.at.Sub(c.began),
		InputBytes: len(c.record.input), OutputBytes: n.output,
		Outcome: n.kind, Reason: n.reason, AllReasons: n.reasons,
	}
	if c.tool != nil {
		e.ToolVersion = c.tool.spec.Version
	}
	if c.asked != nil {
		e.RequestID = c.asked.id
	}
	if a := n.answer; a != nil {
		e.By, e.Resolution, e.Rejection = a.By, a.Result.Resolution.String(), a.Result.Rejection.String()
	}
	if e.Err = n.text; n.fault != nil {
		e.Stack = string(n.fault.Stack)
	}
	c.exec.emit(&e)
}

// tells returns what the event of an ending says to operators. It may run code
// of the tool: no lock is held, and the call can still be ended by its timer.
func (c *call) tells(out *Outcome, fault *CallError) string {
	switch {
	case c.dry || len(c.exec.sinks) == 0:
		return ""
	case fault != nil:
		return c.scrub(fault.text())
	case len(out.Violations)+len(out.Denials) > 0:
		return c.scrub(explain(out))
	}
	return ""
}

// emit numbers an event and hands it to the sinks.
func (e *Executor) emit(ev *Event) {
	e.emitting.Lock()
	defer e.emitting.Unlock()
	e.seq++
	ev.Seq = e.seq
	e.deliver(e.sinks, ev)
}

// deliver hands an event to sinks, to all of them even when one panics or leaves
// its goroutine. The latter cannot be undone: those who hold locks while they
// emit events, or owe something to others, see to it that they pay then too.
func (e *Executor) deliver(sinks []Sink, ev *Event) {
	if len(sinks) == 0 {
		return
	}
	if len(sinks) > 1 {
		defer e.deliver(sinks[1:], ev)
	}
	err := errExited
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
		if err != nil {
			e.report(&CallError{
				Tool: ev.Tool, CallID: ev.CallID, SessionID: ev.SessionID, RunID: ev.RunID,
				Err: fmt.Errorf("sink %T, event %d: %w", sinks[0], ev.Seq, err),
			})
		}
	}()
	if sinks[0] == nil {
		err = errors.New("the sink is nil")
		return
	}
	err = sinks[0].Emit(*ev)
}
