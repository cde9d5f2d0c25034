package engine

// Sinks and the journal are told of the steps of a call by an event, counters by a transition. The caller holds the lock of
// the call.

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

// A note is the data of a transition beside its event and states.
type note struct {
	At      time.Time
	Kind    runtime.OutcomeKind // when the call ends, as are the next two; a pointer to the outcome would move it to the heap
	Reason  runtime.Reason
	Reasons []runtime.Reason
	Fault   *action.CallError   // for operators
	Text    string              // of Fault, or of the cause of a refusal, without sensitive values
	Output  int                 // bytes
	Answer  *consent.Event      // to a request for consent
	Live    *runtime.LiveCounts // of tool.output, as is the next
	Dropped int
	Undo    *action.Error // of an undo that failed
	Took    time.Duration // an undo, whether or not it failed
	Edited  bool          // Answer edited the arguments
	By      string
	Ends    bool // the call has its outcome now
	Session bool // the lock of the session is held: the entry takes the changes of its rule state
}

// A transitionSubject is the call that a transition is of, at that moment.
type transitionSubject struct {
	ID, Tool, Session, Run, Agent, Principal string

	Turn          int
	ClientRequest string
	Request       string      // for consent; empty: there is none
	Declared      *tools.Tool // nil: the tool is not declared
	Attempt       int
	Revision      string
	Began         time.Time
	Input         int // bytes
	Notes         []string
	Watch         *tally.Watch
}

// Event sets e, which is zero, to the event of a transition of s.
func (s *transitionSubject) Event(e *runtime.Event, kind runtime.EventKind, from, to runtime.State, n *note) {
	e.Time, e.Kind, e.From, e.To = n.At, kind, from, to
	e.Tool, e.CallID, e.SessionID, e.RunID = s.Tool, s.ID, s.Session, s.Run
	e.Agent, e.Principal, e.By, e.Attempt = s.Agent, s.Principal, n.By, s.Attempt
	e.Turn, e.ClientRequest, e.RequestID = s.Turn, s.ClientRequest, s.Request
	e.Revision, e.Duration = s.Revision, n.At.Sub(s.Began)
	e.InputBytes, e.OutputBytes, e.Live = s.Input, n.Output, n.Live
	e.Outcome, e.Reason, e.AllReasons = n.Kind, n.Reason, n.Reasons
	if n.Ends {
		e.Notes, e.Times = s.Notes, s.Watch.Times()
	}
	if s.Declared != nil {
		e.ToolVersion = s.Declared.Spec.Version
	}
	if a := n.Answer; a != nil {
		e.By, e.Resolution, e.Rejection = a.By, a.Result.Resolution.String(), a.Result.Rejection.String()
	}
	if n.Undo != nil || kind == runtime.EventUndone {
		e.Duration = n.Took
	}
	if n.Undo != nil {
		result, code := action.ResultOf(n.Undo)
		e.Resolution, e.Rejection = result, string(code)
	}
	if e.Err = n.Text; n.Fault != nil {
		e.Stack = string(n.Fault.Stack)
	}
}

// A hasEnded has the outcome of a call that ends.
type hasEnded interface {
	Artifact() *runtime.StoredOutput // in place of a long output; nil: there is none
}

// Count returns a transition of s for counters. of is read when the call ends.
func (s *transitionSubject) Count(kind runtime.EventKind, n *note, of hasEnded) runtime.Transition {
	t := runtime.Transition{
		Kind: kind, Tool: -1, Ended: n.Ends, Outcome: n.Kind, Reason: n.Reason, Output: n.Output, Dropped: n.Dropped, Duration: n.At.Sub(s.Began),
	}
	if s.Declared == nil {
		return t
	}
	t.Tool = s.Declared.Index
	switch {
	case n.Ends:
		t.Times, t.Attempts = s.Watch.Times(), s.Attempt
		if a := of.Artifact(); a != nil {
			t.Artifact = int64(a.Bytes)
		}
	case n.Answer != nil:
		t.Resolution, t.Approved = n.Answer.Result.Resolution, n.Answer.Result.Approve
	case kind == runtime.EventInvoked:
		t.Input = s.Input
	case n.Undo != nil || kind == runtime.EventUndone:
		t.Duration = n.Took
	}
	return t
}
