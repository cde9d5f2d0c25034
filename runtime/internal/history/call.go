package history

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Call is what a journal says of one call.
type Call struct {
	Session, Run, ID       string
	Agent, Principal, Tool string
	Capabilities           []string // that the principal was given for the call; nil: those of the session are its own principal's

	Opened    uint64 // position of its first entry
	Concluded uint64 // position of the entry with its outcome
	Number    int    // of Load: among the calls of its session, in the order in which they were opened, from 1

	Began, Ended time.Time
	TurnEnds     time.Time         // when the budget of its turn is used up
	TurnCap      time.Duration     // most of an attempt of its turn
	InputMAC     string            // keyed digest of its input
	Metadata     map[string]string // of the caller and the run
	Turn         int               // of the run
	Heartbeat    bool              // it asked to be continued
	Triggered    bool              // no caller waits for it

	State       runtime.State
	Attempts    int
	Epoch       uint64            // of the owner that its handler belongs to
	Pin         string            // of the declaration that its handler was started under
	Places      map[string]string // where participants kept the parts of its attempts; empty: at several places
	Effects     string            // of its handler, as in a Record; empty when attempts were started under several declarations
	Revision    string            // of the policy
	Request     string            // for consent
	Obligations []runtime.Obligation
	Key         rules.Digest // of its idempotency key, as the rules have it; zero: none

	Args, Final, PreparedState json.RawMessage // nil: there is none, or it was erased
	Rewritten                  bool            // its handler was given Final instead of Args
	Prepared                   bool            // its undo was prepared
	Stored                     bool            // with a state that the undo needs
	Lost                       string          // why some of these values were not recorded

	Processes []journal.Process // that were started and of which no end is recorded; also of a call that has an outcome
	Over      []journal.Process // those of them of which recovery has found that nothing is left
	Runs      bool              // one of them could not be ended: it may still run

	Sealed  []journal.Seal   // nil: no decision to commit is recorded
	Decided *runtime.Outcome // the outcome of that decision
	Outcome *runtime.Outcome // nil: it has none
	Undone  bool
	Undo    *Undo // nil: no undo was in progress
}

// An Undo is what a journal says of an undo that has not ended.
type Undo struct {
	By     string
	Places map[string]string // as those of a Call
	Sealed []journal.Seal    // nil: no decision to commit is recorded
	Undoes *rules.Event      // the change of the rule state with that decision; nil: none
}

// OpenRequest returns the request of the call in books, and reports whether it is open or approved and the
// handler was not started.
func (c *Call) OpenRequest(books *consent.Books) (consent.Request, bool) {
	if c.Outcome != nil || c.Request == "" || c.State != runtime.StateValidated && c.State != runtime.StateAuthorized {
		return consent.Request{}, false
	}
	r, ok := books.Request(c.Request)
	return r, ok && (r.Status == consent.StatusOpen || r.Status == consent.StatusApproved)
}

// open returns the call that a record begins.
func open(r placed) *Call {
	return &Call{
		Opened: r.seq, Session: r.Session, ID: r.Call, Run: r.Run, Agent: r.Agent, Principal: r.Principal, Tool: r.Tool,
		Began: r.At, TurnEnds: r.TurnEnds, TurnCap: r.TurnCap, Triggered: r.Triggered, InputMAC: r.InputMAC, Metadata: r.Metadata, Turn: r.Turn,
		Capabilities: r.Granted,
	}
}

// add folds a record of c.
func (c *Call) add(of placed) error {
	r := of.Record
	if r.To != "" {
		if err := c.State.UnmarshalText([]byte(r.To)); err != nil {
			return err
		}
	}
	c.addValues(r)
	c.Heartbeat = c.Heartbeat || r.Heartbeat
	c.Attempts = max(c.Attempts, attemptsAfter(r))
	c.Epoch = max(c.Epoch, r.Epoch)
	if r.Request != "" {
		c.Request = r.Request
	}
	if r.Revision != "" {
		c.Revision = r.Revision
	}
	c.addKey(r)
	c.addStart(r)
	c.addProcess(r)
	c.addUndo(r)
	if err := c.addObligations(r); err != nil {
		return err
	}
	return c.addOutcome(of)
}

// addValues folds the arguments of a record and the state that it prepares for an undo.
func (c *Call) addValues(r *journal.Record) {
	set(&c.Args, r.Args)
	set(&c.Final, r.Final)
	set(&c.PreparedState, r.Prepared)
	if r.Kind == journal.KindPrepared {
		c.Prepared, c.Stored = true, r.Prepared != nil || r.Lost != ""
	}
	if r.Lost != "" && r.Mark != journal.MarkEnded {
		c.Lost = r.Lost
	}
	c.Rewritten = c.Rewritten || r.Final != nil || c.Lost != ""
}

// addKey folds the idempotency key that a change of the rule state has.
func (c *Call) addKey(r *journal.Record) {
	for i := range r.Rules {
		if ev := &r.Rules[i]; ev.Call == c.ID && ev.Key != (rules.Digest{}) {
			c.Key = ev.Key
		}
	}
}

// set sets to to the value of p, if p is not nil.
func set(to *json.RawMessage, p *journal.Payload) {
	if p != nil {
		*to = p.Value
	}
}

// addStart folds the declaration that an attempt was started under.
func (c *Call) addStart(r *journal.Record) {
	switch {
	case r.Mark == journal.MarkStarted:
		c.Pin, c.Effects, c.Places = r.Pin, r.Effects, r.Places
	case r.Kind == runtime.EventRetrying.String():
		if r.Effects != c.Effects { // under another declaration
			c.Effects = ""
		}
		for name, place := range r.Places { // of a process with another workspace
			if known, there := c.Places[name]; there && known != place {
				c.Places[name] = ""
			}
		}
	}
}

// addProcess folds the start or the end of a process.
func (c *Call) addProcess(r *journal.Record) {
	switch p := r.Process; {
	case p == nil:
	case r.Kind == journal.KindProcessStarted:
		c.Processes = append(c.Processes, *p)
	case p.Exit != nil:
		c.Processes = slices.DeleteFunc(c.Processes, func(q journal.Process) bool { return q.ID == p.ID })
	}
}

// attemptsAfter returns how many attempts the call has had by a record. A retrying record counts the
// next attempt, because no other record says that it started.
func attemptsAfter(r *journal.Record) int {
	if r.Kind == runtime.EventRetrying.String() {
		return r.Attempt + 1
	}
	return r.Attempt
}

// addUndo folds a record of an undo of c.
func (c *Call) addUndo(r *journal.Record) {
	switch r.Kind {
	case journal.KindUndoStarted:
		c.Undo = &Undo{By: r.By, Places: r.Places}
	case journal.KindUndoDecided:
		of := &Undo{By: r.By, Sealed: r.Sealed, Undoes: r.Undoes}
		if c.Undo != nil {
			of.Places = c.Undo.Places
		}
		c.Undo = of
	case runtime.EventUndone.String():
		c.Undone, c.Undo = true, nil
	case runtime.EventUndoFailed.String():
		c.Undo = nil
	}
}

// addObligations folds the obligations that the policy attached to the call.
func (c *Call) addObligations(r *journal.Record) error {
	if r.Kind != runtime.EventApprovalRequested.String() && r.Kind != runtime.EventAuthorized.String() {
		return nil
	}
	var d struct {
		Obligations []obligation `json:"obligations"`
	}
	if err := json.Unmarshal(r.Decision, &d); err != nil {
		return fmt.Errorf("the decision about call %q: %w", r.Call, err)
	}
	c.Obligations = nil
	for _, o := range d.Obligations {
		o.Obligation.Args = wire.Raw(o.Args)
		c.Obligations = append(c.Obligations, o.Obligation)
	}
	return nil
}

// addOutcome folds the outcome of a record that ends the call, decides its commit, or reconciles
// it.
func (c *Call) addOutcome(of placed) error {
	r := of.Record
	reconciled := r.Kind == runtime.EventReconciled.String()
	decides := r.Kind == journal.KindCommitting
	if r.Outcome == nil || !reconciled && !decides && r.Mark != journal.MarkEnded {
		return nil
	}
	out, err := DecodeOutcome(r.Outcome)
	if err != nil {
		return fmt.Errorf("the outcome of call %q: %w", r.Call, err)
	}
	out.CallID, out.Tool, out.Duration, out.Times, out.Revision = r.Call, r.Tool, r.Duration, r.Times, r.Revision
	setOutput(&out, r)
	if decides {
		c.Sealed, c.Decided = r.Sealed, &out
		return nil
	}
	if out.Kind == runtime.Completed && out.Output == nil && out.Artifact == nil && c.Decided != nil && !reconciled { // a recovery completed it
		out.Output, out.Artifact = c.Decided.Output, c.Decided.Artifact
	}
	c.Outcome, c.Ended, c.Concluded = &out, r.At, of.seq
	return nil
}

// setOutput sets the output of out to that of its record, or to the preview if the output is stored
// as an artifact.
func setOutput(out *runtime.Outcome, r *journal.Record) {
	if r.Output != nil {
		out.Output = []byte(r.Output.Value)
	}
	if r.Artifact != nil {
		out.Output, out.Artifact = nil, &runtime.StoredOutput{ArtifactRef: *r.Artifact, Preview: out.Output}
	}
}
