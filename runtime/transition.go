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
		InputBytes: c.size, OutputBytes: n.output,
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

var errNoSink = errors.New("the sink is nil")

// emit numbers an event and hands it to the sinks.
func (e *Executor) emit(ev *Event) {
	e.emitting.Lock()
	defer e.emitting.Unlock()
	e.seq++
	ev.Seq = e.seq
	for i, s := range e.sinks {
		e.deliver(s, e.sinks[i+1:], ev)
	}
}

// deliver hands an event to a sink. A sink that panics is reported. One that leaves
// its goroutine is too, and the others get the event; it cannot be undone: those
// who hold locks while they emit events, or owe something to others, see to it
// that they pay then.
func (e *Executor) deliver(s Sink, others []Sink, ev *Event) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if v := recover(); v != nil {
			e.sinkFault(s, ev, fmt.Errorf("panic: %v", v))
			return
		}
		e.sinkFault(s, ev, errExited)
		for i, s := range others {
			e.deliver(s, others[i+1:], ev)
		}
	}()
	err := errNoSink
	if s != nil {
		err = s.Emit(*ev)
	}
	returned = true
	if err != nil {
		e.sinkFault(s, ev, err)
	}
}

// sinkFault reports what is wrong with a sink.
func (e *Executor) sinkFault(s Sink, ev *Event, err error) {
	e.report(&CallError{
		Tool: ev.Tool, CallID: ev.CallID, SessionID: ev.SessionID, RunID: ev.RunID,
		Err: fmt.Errorf("sink %T, event %d: %w", s, ev.Seq, err),
	})
}
