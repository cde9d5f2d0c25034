package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A foldedCall is what the journal says of one call.
type foldedCall struct {
	session *Session
	id      string

	run, agent, principal, tool string
	began, ended                time.Time
	turnEnds                    time.Time
	turnCap                     time.Duration
	mac                         string
	metadata                    map[string]string
	heartbeat                   bool
	args, final, prepared       json.RawMessage // nil: there is none, or it was erased
	decoded                     bool            // its arguments were valid
	isPrepared                  bool            // its undo was prepared
	stored                      bool            // with a state that the undo needs
	rewritten                   bool            // its handler was given final instead of args
	lost                        string          // why some of them were not recorded
	state                       runtime.State
	attempt                     int
	effects                     string // the effects of its handler, as in a Record
	triggered                   bool   // no caller waits for it
	epoch                       uint64
	pin                         string // of the declaration that its handler was started under
	request                     string
	revision                    string
	sealed                      []journal.Seal   // nil: no decision to commit is recorded
	decided                     *runtime.Outcome // the outcome of that decision
	outcome                     *runtime.Outcome // nil: it has none
	undone                      bool
	redeclared                  bool                 // it waits for consent, and its tool has another declaration now
	undo                        *interruptedUndo     // nil: no undo was in progress
	obligations                 []runtime.Obligation // of the policy decision that allowed the call
}

// A fold rebuilds the calls of a journal from its entries, in the order of the journal.
type fold struct {
	exec  *Executor
	calls map[journal.CallKey]*foldedCall
	order []*foldedCall
	last  uint64
	beat  time.Time // when the latest entry was written
}

// add folds the next entry.
func (m *fold) add(entry *journal.Entry) error {
	leaf, err := journal.Restore(entry.Leaf, entry.Private)
	if err != nil {
		return err
	}
	r, err := journal.Decode(leaf)
	if err != nil {
		return err
	}
	if field := entry.Disagreement(r); field != "" {
		return fmt.Errorf("its %s is not that of its record", field)
	}
	if err := forget(r, entry.Private); err != nil {
		return err
	}
	m.last, m.beat = entry.Seq, r.At
	for i := range r.Consent {
		if err := m.exec.approvals.book.Apply(&r.Consent[i]); err != nil {
			return err
		}
	}
	if r.Command != nil {
		m.exec.seen.recall(r)
	}
	if r.Session == "" {
		return nil
	}
	s := m.session(r)
	for i := range r.Rules {
		if err := s.state.Apply(&r.Rules[i]); err != nil {
			return err
		}
	}
	switch r.Kind {
	case journal.KindSessionOpened:
		s.cfg.Store(configOf(r))
	case journal.KindRunStarted:
		s.runs++
		s.openPart(r.Run)
	case journal.KindRunClosed:
		s.closePart(r.Run)
	}
	if r.Call == "" {
		return nil
	}
	return m.call(s, r)
}

// forget clears each payload of r whose secrets were erased, because its value is incomplete.
func forget(r *journal.Record, private []byte) error {
	secrets, err := journal.DecodePrivate(private)
	if err != nil {
		return err
	}
	for _, in := range [...]struct {
		place   string
		payload *journal.Payload
	}{{"/args/value", r.Args}, {"/final_args/value", r.Final}, {"/prepared/value", r.Prepared}, {"/output/value", r.Output}} {
		if in.payload == nil {
			continue
		}
		left := 0
		for i := range secrets {
			if strings.HasPrefix(secrets[i].Pointer, in.place) {
				left++
			}
		}
		if left < in.payload.Secrets {
			in.payload.Value = nil
		}
	}
	return nil
}

// configOf returns the configuration of the session of a record.
func configOf(r *journal.Record) *SessionConfig {
	cfg := &SessionConfig{ID: r.Session, Principal: r.Principal}
	if r.Setup != nil {
		cfg.Behavior, cfg.Modes, cfg.Capabilities = r.Setup.Behavior, r.Setup.Modes, r.Setup.Capabilities
	}
	return cfg
}

// session returns the session of a record, and creates it if the record is its first.
func (m *fold) session(r *journal.Record) *Session {
	s := m.exec.sessions.byID[r.Session]
	if s == nil {
		s = m.exec.newSession(configOf(r))
		m.exec.sessions.byID[r.Session] = s
	}
	return s
}

// call folds a record of a call.
func (m *fold) call(s *Session, r *journal.Record) error {
	key := journal.CallKey{Session: s.id, Call: r.Call}
	c := m.calls[key]
	switch {
	case c == nil && r.Mark == journal.MarkOpened:
		c = &foldedCall{
			session: s, id: r.Call, run: r.Run, agent: r.Agent, principal: r.Principal, tool: r.Tool,
			began: r.At, turnEnds: r.TurnEnds, turnCap: r.TurnCap, triggered: r.Triggered, mac: r.InputMAC, metadata: r.Metadata,
		}
		m.calls[key] = c
		m.order = append(m.order, c)
	case c == nil:
		return fmt.Errorf("call %q has no beginning", r.Call)
	case r.InputMAC != "" && r.Mark == journal.MarkNone: // another call had the same id, and was denied for that
		return nil
	case r.Kind == runtime.EventDenied.String() && r.Mark == journal.MarkNone:
		return nil
	}
	if err := c.add(r); err != nil {
		return err
	}
	if out := c.outcome; out != nil && out.Kind == runtime.Duplicate && out.Output == nil && out.Artifact == nil {
		if earlier := m.calls[journal.CallKey{Session: s.id, Call: out.Of}]; earlier != nil && earlier.outcome != nil {
			out.Output, out.Artifact = earlier.outcome.Output, earlier.outcome.Artifact
		}
	}
	return nil
}

// add folds a record of c.
func (c *foldedCall) add(r *journal.Record) error {
	if r.To != "" {
		if err := c.state.UnmarshalText([]byte(r.To)); err != nil {
			return err
		}
	}
	keep(&c.args, r.Args)
	keep(&c.final, r.Final)
	keep(&c.prepared, r.Prepared)
	c.decoded = c.decoded || r.Args != nil
	if r.Kind == journal.KindPrepared {
		c.isPrepared, c.stored = true, r.Prepared != nil || r.Lost != ""
	}
	if r.Lost != "" && r.Mark != journal.MarkEnded {
		c.lost = r.Lost
	}
	c.rewritten = c.rewritten || r.Final != nil || c.lost != ""
	c.heartbeat = c.heartbeat || r.Heartbeat
	c.attempt = max(c.attempt, attemptsBy(r))
	c.epoch = max(c.epoch, r.Epoch)
	if r.Request != "" {
		c.request = r.Request
	}
	c.startedBy(r)
	if r.Revision != "" {
		c.revision = r.Revision
	}
	if err := c.oblige(r); err != nil {
		return err
	}
	c.undoBy(r)
	switch r.Kind {
	case runtime.EventReconciled.String(), journal.KindCommitting:
	default:
		if r.Mark != journal.MarkEnded {
			return nil
		}
	}
	if r.Outcome == nil {
		return nil
	}
	out, err := recallOutcome(r.Outcome)
	if err != nil {
		return fmt.Errorf("the outcome of call %q: %w", r.Call, err)
	}
	out.CallID, out.Tool, out.Duration, out.Revision = r.Call, r.Tool, r.Duration, r.Revision
	recallOutput(r, &out)
	if r.Kind == journal.KindCommitting {
		c.sealed, c.decided = r.Sealed, &out
		return nil
	}
	if out.Kind == runtime.Completed && out.Output == nil && out.Artifact == nil && c.decided != nil && r.Kind != runtime.EventReconciled.String() { // a recovery completed it
		out.Output, out.Artifact = c.decided.Output, c.decided.Artifact
	}
	c.outcome, c.ended = &out, r.At
	return nil
}

// startedBy folds the declaration that an attempt was started under.
func (c *foldedCall) startedBy(r *journal.Record) {
	switch {
	case r.Mark == journal.MarkStarted:
		c.pin, c.effects = r.Pin, r.Effects
	case r.Kind == runtime.EventRetrying.String() && r.Effects != c.effects: // under another declaration
		c.effects = ""
	}
}

// attemptsBy returns how many attempts the call has had by a record. A retrying record counts the
// next attempt, because no other record says that it started.
func attemptsBy(r *journal.Record) int {
	if r.Kind == runtime.EventRetrying.String() {
		return r.Attempt + 1
	}
	return r.Attempt
}

// recallOutput adds to an outcome the output of its record, or the preview if the output is stored
// as an artifact.
func recallOutput(r *journal.Record, out *runtime.Outcome) {
	if r.Output != nil {
		out.Output = []byte(r.Output.Value)
	}
	if r.Artifact != nil {
		out.Output, out.Artifact = nil, &runtime.StoredOutput{ArtifactRef: *r.Artifact, Preview: out.Output}
	}
}

// oblige folds the obligations that the policy attached to the call.
func (c *foldedCall) oblige(r *journal.Record) error {
	if r.Kind != runtime.EventApprovalRequested.String() && r.Kind != runtime.EventAuthorized.String() {
		return nil
	}
	var d struct {
		Obligations []recordedObligation `json:"obligations"`
	}
	if err := json.Unmarshal(r.Decision, &d); err != nil {
		return fmt.Errorf("the decision about call %q: %w", r.Call, err)
	}
	c.obligations = nil
	for _, o := range d.Obligations {
		o.Obligation.Args = wire.Raw(o.Args)
		c.obligations = append(c.obligations, o.Obligation)
	}
	return nil
}

// keep sets to to the value of p, if p is not nil.
func keep(to *json.RawMessage, p *journal.Payload) {
	if p != nil {
		*to = p.Value
	}
}

// asked returns the request of the call, and reports whether it is open or approved.
func (c *foldedCall) asked(b *consent.Book) (consent.Request, bool) {
	if c.outcome != nil || c.request == "" || c.state != runtime.StateValidated && c.state != runtime.StateAuthorized {
		return consent.Request{}, false
	}
	r, ok := b.Request(c.request)
	return r, ok && (r.Status == consent.StatusOpen || r.Status == consent.StatusApproved)
}
