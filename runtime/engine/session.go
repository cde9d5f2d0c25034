package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
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

	mu     sync.Mutex // guards the session and its runs
	state  *rules.State
	calls  callIndex
	made   int // call ids that the session made
	number int // calls of the session
	runs   int
	parts  map[string]*part // of open runs
	byRun  map[string]*runCalls
	facts  []rules.Event // changes of the rule state, for the next record of the session
	holder *call         // no other call is admitted while the policy evaluates it
	held   *sched.Event  // fires when the holder is released
}

// Session starts a session. Sessions share nothing, even when their ids are equal.
//
// With a journal an id identifies one session, for as long as the journal lasts: Session continues
// an existing session, with the configuration cfg from now on.
func (e *Executor) Session(cfg SessionConfig) *Session {
	cfg.Capabilities = slices.Clone(cfg.Capabilities)
	cfg.Modes = maps.Clone(cfg.Modes)
	cfg.ID, cfg.Principal = readable(cfg.ID), readable(cfg.Principal)
	if cfg.ID == "" {
		cfg.ID = rand.Text()
	}
	if e == nil || !e.log.On() {
		return e.newSession(&cfg)
	}
	e.sessions.mu.Lock()
	defer e.sessions.mu.Unlock()
	s := e.sessions.byID[cfg.ID]
	if s == nil {
		s = e.newSession(&cfg)
		e.sessions.byID[cfg.ID] = s
	} else if sameConfig(s.cfg.Load(), &cfg) {
		return s
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Store(&cfg)
	s.recordOpened()
	return s
}

// sessions has the sessions of a journal by id. Its lock is taken before that of a session.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*Session
}

// newSession returns a session without runs and calls.
func (e *Executor) newSession(cfg *SessionConfig) *Session {
	s := &Session{exec: e, id: cfg.ID, parts: map[string]*part{}, byRun: map[string]*runCalls{}}
	s.cfg.Store(cfg)
	if e != nil && e.engine != nil {
		s.state = e.engine.NewState()
	}
	return s
}

// sameConfig reports whether two configurations are equal.
func sameConfig(a, b *SessionConfig) bool {
	return a.ID == b.ID && a.Principal == b.Principal && a.Behavior == b.Behavior &&
		slices.Equal(a.Capabilities, b.Capabilities) && maps.Equal(a.Modes, b.Modes)
}

// ID returns the id of s.
func (s *Session) ID() string {
	if s == nil {
		return ""
	}
	return s.id
}

// StartRun starts a run of s. It fails when ctx is done, when the executor is
// shutting down, and when a run of that id is open.
func (s *Session) StartRun(ctx context.Context, cfg RunConfig) (*Run, error) {
	if s == nil || s.exec == nil || s.exec.reg == nil {
		return nil, errors.New("a run needs a session of an executor made by NewExecutor")
	}
	if err := orBackground(ctx).Err(); err != nil {
		return nil, err
	}
	cfg.ID = readable(cfg.ID)
	if !s.exec.gate.Enter() {
		return nil, errors.New("the executor is shutting down: it starts no runs")
	}
	defer s.exec.gate.Leave()
	if err := s.exec.log.Health(); err != nil {
		return nil, fmt.Errorf("a run cannot be recorded: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for cfg.ID == "" {
		s.runs++
		if id := s.id + "/" + strconv.Itoa(s.runs); s.state.RunState(id) == rules.RunClosed {
			cfg.ID = id
		}
	}
	ev, err := s.state.StartRun(s.exec.instant(s.exec.sched.Now()), cfg.ID)
	if err != nil {
		return nil, err
	}
	s.note(&ev)
	s.recordRun(journal.KindRunStarted, cfg.ID)
	return &Run{session: s, id: cfg.ID, principal: s.cfg.Load().Principal, part: s.openPart(cfg.ID)}, nil
}

// Run returns an open run of s. With a journal it also finds an open run of an earlier process. Its
// calls are made on behalf of the session's principal; see Run.WithPrincipal.
func (s *Session) Run(id string) (*Run, bool) {
	if s == nil {
		return nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[id]
	if p == nil {
		return nil, false
	}
	return &Run{session: s, id: id, principal: s.cfg.Load().Principal, part: p}, true
}

// note takes every change of the rule state, in order. s.mu is held.
func (s *Session) note(ev *rules.Event) {
	if s.exec.noted != nil || s.exec.log.On() {
		s.noteFact(ev)
	}
}

// noteFact is note when there is a journal or an observer of the rule state.
func (s *Session) noteFact(ev *rules.Event) {
	if s.exec.noted != nil {
		s.exec.noted(s.id, *ev)
	}
	if s.exec.log.On() {
		s.facts = append(s.facts, *ev)
	}
}

// find returns the record of a call, nil when there is none.
func (s *Session) find(callID string) *callRecord {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls.find(readable(callID))
}

// Await returns the outcome of a call that was made in s, as soon as it has one. When ctx ends
// before, the outcome describes the present state of the call: pending when it waits for consent,
// cancelled when it continues and this caller stops waiting for it. A call that was never made is
// denied.
func (s *Session) Await(ctx context.Context, callID string) runtime.Outcome {
	ctx = orBackground(ctx)
	r := s.find(callID)
	if r == nil {
		return runtime.Outcome{CallID: callID, Message: "there is no such call in this session"}
	}
	e := s.exec
	saw := e.sched.Wait(&r.first, nil, ctx.Done())
	if saw != sched.Done && r.final != nil {
		if saw = e.sched.Wait(r.final, &e.approvals.closed, ctx.Done()); saw == sched.Second {
			if out, waits := r.call.waits(); waits {
				return out
			}
			saw = e.sched.Wait(r.final, nil, ctx.Done())
		}
	}
	if saw == sched.Done {
		return r.now(s)
	}
	return r.outcome()
}
