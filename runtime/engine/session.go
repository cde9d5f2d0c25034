package engine

import (
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A SessionConfig describes a Session. It is copied.
type SessionConfig struct {
	ID           string // empty: one is made
	Principal    string // the principal of the calls
	Capabilities []string
	Behavior     string            // the current behavior of the agent; empty: none
	Modes        map[string]string // name of a mode to its value
}

// A Session is a principal's long-lived conversation. It retains the outcome of every call that was
// made in it, so that a call that is repeated under its id is answered and not run. A session needs
// no close: the caller drops its reference.
type Session struct {
	exec *Executor
	id   string
	cfg  atomic.Pointer[SessionConfig] // immutable; replaced when the session is continued

	mu            lockorder.Mutex[lockorder.Session] // guards the session and its runs
	state         *rules.State
	calls         callIndex
	madeIDs       int // call ids that the session made
	lastNumber    int // calls of the session
	runs          int
	nodes         map[string]*runNode // of open runs
	byRun         map[string]*runCalls
	ruleEvents    []rules.Event // changes of the rule state, for the next record of the session
	admitting     *call         // no other call is admitted while the policy evaluates it
	admittingDone *sched.Event  // fires when the holder is released
}

// sessions has the sessions of a journal by id.
type sessions struct {
	mu   lockorder.Mutex[lockorder.Sessions]
	byID map[string]*Session
}

// ID returns the id of s.
func (s *Session) ID() string {
	if s == nil {
		return ""
	}
	return s.id
}

// Run returns an open run of s. With a journal it also finds an open run of an earlier process. Its
// calls are made on behalf of the session's principal; see Run.WithPrincipal.
func (s *Session) Run(id string) (*Run, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.nodes[id]
	if p == nil {
		return nil, false
	}
	return &Run{session: s, id: id, principal: s.cfg.Load().Principal, node: p}, true
}

// addRuleEvent queues a change of the rule state for the next record of the session. Every change
// passes through it, in order. s.mu is held.
func (s *Session) addRuleEvent(ev *rules.Event) {
	if s.exec.onRuleEvent != nil || s.exec.log.On() {
		s.addRuleEventSlow(ev)
	}
}

// addRuleEventSlow is addRuleEvent when there is a journal or an observer of the rule state.
func (s *Session) addRuleEventSlow(ev *rules.Event) {
	if s.exec.onRuleEvent != nil {
		s.exec.onRuleEvent(s.id, *ev)
	}
	if s.exec.log.On() {
		s.ruleEvents = append(s.ruleEvents, *ev)
	}
}

// find returns the record of a call, nil when there is none.
func (s *Session) find(callID string) *callRecord {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls.find(wording.ValidUTF8(callID))
}
