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
	outcome *Outcome       // when the call ends
	fault   *CallError     // what went wrong, for operators
	output  int            // bytes
	answer  *consent.Event // to a request for consent
	by      string
}

// transition takes the call to another state. It is the only function that
// does, and the only one that emits an event. c.mu is held, once others know
// the call.
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
		Tool: c.in.Tool, CallID: c.in.ID, SessionID: c.run.session.cfg.ID, RunID: c.run.id,
		Agent: c.run.agent, Principal: c.run.principal, By: n.by, Attempt: c.attempt,
		Revision: c.revision, Duration: n.at.Sub(c.began),
		InputBytes: len(c.in.Input), OutputBytes: n.output,
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
	if n.outcome != nil {
		e.Outcome, e.Reason, e.AllReasons = n.outcome.Kind, n.outcome.Reason, n.outcome.AllReasons
		e.Err = c.scrub(explain(n.outcome))
	}
	if n.fault != nil {
		e.Err, e.Stack = c.scrub(n.fault.text()), string(n.fault.Stack)
	}
	c.exec.emit(&e)
}

// emit numbers an event and hands it to the sinks.
func (e *Executor) emit(ev *Event) {
	e.emitting.Lock()
	defer e.emitting.Unlock()
	e.seq++
	ev.Seq = e.seq
	for _, s := range e.sinks {
		if err := deliver(s, ev); err != nil {
			e.report(&CallError{
				Tool: ev.Tool, CallID: ev.CallID, SessionID: ev.SessionID, RunID: ev.RunID,
				Err: fmt.Errorf("sink %T, event %d: %w", s, ev.Seq, err),
			})
		}
	}
}

// deliver hands an event to a sink; a panic of the sink is its error.
func deliver(s Sink, ev *Event) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	if s == nil {
		return errors.New("the sink is nil")
	}
	return s.Emit(*ev)
}
