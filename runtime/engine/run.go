package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// A RunConfig describes a Run, or a part of one.
type RunConfig struct {
	ID string // empty: one is made

	// Metadata is added to that of every call, whose own members go before. No policy sees it. It is
	// copied, and recorded with the run and with each call. Its member request_id, the id of the
	// caller's own request, is in every event, span and webhook. It has at most 64 members and 8 KiB,
	// a request_id at most 256 bytes.
	Metadata map[string]string
}

// A Run is one request of a user, handled to its end: the calls of all turns that it took.
// WithPrincipal and Child return other views of the same run.
type Run struct {
	session *Session
	id      string
	by      *callOrigin     // who calls
	granted []string        // capabilities; nil: those that the session has for its own principal
	facts   facts.Following // as the principal, or sub-agent, sees them; guarded by the session
	node    *runNode
}

// A RunStatus describes the state of a run.
type RunStatus struct {
	ID          string           `json:"run"`
	State       runtime.RunState `json:"state"`
	Invocations map[string]int   `json:"invocations"`            // by tool: slots in use, of this agent and principal; tools with none are omitted
	Succeeded   []string         `json:"succeeded"`              // tools with a success that was not undone, in registration order
	Active      int              `json:"active"`                 // calls without an outcome
	Waiting     []string         `json:"waiting,omitempty"`      // calls that wait for consent
	PendingExit []string         `json:"pending_exit,omitempty"` // required tools that are open, in registration order
	Reminders   int              `json:"reminders,omitempty"`    // given to a model that stopped
	Reminder    string           `json:"reminder,omitempty"`     // for the model, from ModelStopped
}

// ID returns the id of r.
func (r *Run) ID() string {
	if r == nil {
		return ""
	}
	return r.id
}

// Agent returns the name of the sub-agent that r belongs to, empty for none.
func (r *Run) Agent() string {
	if r == nil {
		return ""
	}
	return r.by.Agent
}

// WithPrincipal returns r for calls that are made on behalf of another principal, which has these capabilities and no
// others: those of the session are its own principal's (SEMANTICS 1.2.5). The principal has its own counters, order, groups,
// grants, outcomes and budget. The run and its phase are the same.
func (r *Run) WithPrincipal(principal string, capabilities ...string) *Run {
	if r == nil || r.session == nil {
		return r
	}
	by := &callOrigin{Run: r.id, Agent: r.by.Agent, Principal: wording.ValidUTF8(principal)}
	return &Run{session: r.session, id: r.id, by: by, granted: slices.Clone(capabilities), node: r.node}
}

// capabilities returns those of the principal of r, in a session that is configured so.
func (r *Run) capabilities(cfg *SessionConfig) []string {
	if len(r.granted) == 0 && r.by.Principal == cfg.Principal {
		return cfg.Capabilities
	}
	return r.granted
}

// Child returns r for the calls of a sub-agent, which has the id of cfg. The sub-agent has its own
// counters, and shares the run, the successes in it and the limit that all tools share. A call of
// it is denied, or needs consent, wherever a call of its parent would; it has none of the grants of
// its parent. Closing the child ends only its own calls. The metadata of cfg is added to that of r;
// metadata that StartRun would refuse is left out and reported to the error handler.
//
// The outcomes of its calls are told, by their ids, to it and to r: an id of cfg with a slash, such as a/b, names a
// sub-agent of the sub-agent before the slash.
func (r *Run) Child(cfg RunConfig) *Run {
	if r == nil || r.session == nil {
		return r
	}
	s := r.session
	defer s.place.Pin()()
	s.mu.Lock()
	defer s.mu.Unlock()
	cfg.ID = r.node.Calls().Child(r.by.Agent, wording.ValidUTF8(cfg.ID))
	p := &runNode{}
	r.node.OpenChild(p)
	if err := addMetadata(&p.Metadata, cfg.Metadata); err != nil {
		s.exec.report(&action.CallError{SessionID: s.id, RunID: r.id, Err: fmt.Errorf("sub-agent %q: %w", cfg.ID, err)})
	}
	by := &callOrigin{Run: r.id, Agent: cfg.ID, Principal: r.by.Principal}
	return &Run{session: s, id: r.id, by: by, granted: r.granted, node: p}
}

// currentFacts returns the current facts of r. Two snapshots are the same pointer when nothing in
// them has changed. The session's lock is held.
func (r *Run) currentFacts() *facts.Snapshot {
	memory := &r.session.memory
	return r.facts.At(memory.Version(), r.session.exec.reg.Len(), func() (used, successes []int32) {
		return memory.Rules().Counts(r.id, r.by.Agent, r.by.Principal)
	})
}

// A TurnConfig describes a Turn.
type TurnConfig struct {
	Budget      time.Duration // for all calls of the turn together; 0: none, negative: used up
	Cap         time.Duration // for each attempt of a call, where its tool declares a longer deadline; 0: none, negative: used up, as by Budget
	ConsentWait time.Duration // how long a caller waits for consent before its call is pending; 0: not at all
}

// A Verdict is the result of WhatIf: what would become of a call.
type Verdict struct {
	Runs     bool             // the handler would be started
	Outcome  runtime.Outcome  // the refusal, when the handler would not be started
	Decision runtime.Decision // of the policy; zero when it was not evaluated
	Input    []byte           // JSON of the arguments of the handler; nil when the input is invalid, or was not read
}

// A Turn is one message of the model and its calls. The zero value denies them.
type Turn struct {
	run         *Run
	number      int           // in the run, from 1 (SEMANTICS 2.1.7)
	budgetEnds  time.Time     // zero: no budget
	limit       time.Duration // of an attempt; 0: that of its tool
	consentWait time.Duration
	minimum     time.Duration // the part of the budget that a call needs to be admitted
	blocked     blockedTools  // the tools that timed out
}

// Turn starts a turn of r. Its budget runs from now.
func (r *Run) Turn(cfg TurnConfig) *Turn {
	t := &Turn{run: r, consentWait: cfg.ConsentWait, limit: max(cfg.Cap, 0)}
	if cfg.Cap < 0 {
		cfg.Budget = cfg.Cap
	}
	if r == nil || r.session == nil {
		return t
	}
	t.minimum = r.session.exec.minimum
	defer r.session.place.Pin()()
	r.session.mu.Lock()
	calls := r.node.Calls()
	calls.Turns++
	t.number = calls.Turns
	r.session.mu.Unlock()
	if cfg.Budget != 0 {
		t.budgetEnds = r.session.exec.sched.Now().Add(cfg.Budget)
	}
	return t
}

// A BatchMode says how the calls of a batch follow each other.
type BatchMode uint8

// The modes of a batch.
const (
	Parallel   BatchMode = iota // all are admitted, in order, then they run together
	Sequential                  // each ends before the next is admitted
)

// A batch is the state of one call in a batch.
type batch struct {
	admitted sched.Event  // fires when the call is admitted
	open     *sched.Event // fires when all calls of the batch are: they may start
}
