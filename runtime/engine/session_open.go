package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/internal/metadata"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// Session starts a session. Sessions share nothing, even when their ids are equal.
//
// With a journal an id identifies one session, for as long as the journal lasts: Session continues
// an existing session, with the configuration cfg from now on.
func (e *Executor) Session(cfg SessionConfig) *Session {
	cfg.Capabilities = slices.Clone(cfg.Capabilities)
	cfg.Modes = maps.Clone(cfg.Modes)
	cfg.ID, cfg.Principal = wording.ValidUTF8(cfg.ID), wording.ValidUTF8(cfg.Principal)
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

// newSession returns a session without runs and calls.
func (e *Executor) newSession(cfg *SessionConfig) *Session {
	s := &Session{exec: e, id: cfg.ID, nodes: map[string]*runNode{}, byRun: map[string]*runCalls{}}
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

// StartRun starts a run of s. It fails when ctx is done, when the executor is
// shutting down, when a run of that id is open, and when the metadata are too many or invalid.
func (s *Session) StartRun(ctx context.Context, cfg RunConfig) (*Run, error) {
	if s == nil || s.exec == nil || s.exec.reg == nil {
		return nil, errors.New("a run needs a session of an executor made by NewExecutor")
	}
	if err := orBackground(ctx).Err(); err != nil {
		return nil, err
	}
	cfg.ID, cfg.Metadata = wording.ValidUTF8(cfg.ID), maps.Clone(cfg.Metadata)
	if err := metadata.Check(cfg.Metadata); err != nil {
		return nil, fmt.Errorf("a run cannot be started: %w", err)
	}
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
	s.addRuleEvent(&ev)
	p := s.openNode(cfg.ID, cfg.Metadata)
	s.recordRun(journal.KindRunStarted, cfg.ID, p)
	return &Run{session: s, id: cfg.ID, principal: s.cfg.Load().Principal, node: p}, nil
}
