package engine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
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

	// Rebind lets a session go on under another principal than before. What it has recorded stays with the principals of
	// its calls.
	Rebind bool
}

// clean returns a copy of c with an id, in valid UTF-8.
func (c SessionConfig) clean() SessionConfig {
	c.Capabilities, c.Modes = slices.Clone(c.Capabilities), maps.Clone(c.Modes)
	if c.ID, c.Principal = wording.ValidUTF8(c.ID), wording.ValidUTF8(c.Principal); c.ID == "" {
		c.ID = rand.Text()
	}
	return c
}

// check returns why no session can have the configuration.
func (c *SessionConfig) check() error {
	return errors.Join(wording.Check("the id of a session", c.ID, wording.MaxID), wording.Check("the principal of a session", c.Principal, wording.MaxName))
}

// equal reports whether two configurations are equal.
func (c *SessionConfig) equal(of *SessionConfig) bool {
	return c.ID == of.ID && c.Principal == of.Principal && c.Behavior == of.Behavior &&
		slices.Equal(c.Capabilities, of.Capabilities) && maps.Equal(c.Modes, of.Modes)
}

// setup returns the record form of c, without id and principal.
func (c *SessionConfig) setup() *journal.Setup {
	return &journal.Setup{Behavior: c.Behavior, Modes: c.Modes, Capabilities: c.Capabilities}
}

// configOf returns how a session was configured last.
func configOf(of *history.Session) *SessionConfig {
	return &SessionConfig{
		ID: of.ID, Principal: of.Principal, Behavior: of.Setup.Behavior, Modes: of.Setup.Modes, Capabilities: of.Setup.Capabilities,
	}
}

// A Session is a principal's long-lived conversation. It, or its journal, retains the outcome of every call that was
// made in it, so that a call that is repeated under its id is answered and not run. A session needs
// no close: the caller drops its reference, or ends it for good with End.
type Session struct {
	exec *Executor
	id   string
	cfg  atomic.Pointer[SessionConfig] // immutable; replaced when the session is continued; nil: it was never loaded

	refused error    // why it starts and finds no runs; nil: it does
	of      *Session // where refused is not nil: the session that has the rest

	place cachePlace // in the sessions of exec

	mu            lockorder.Mutex[lockorder.Session] // guards the session and its runs
	memory        memory
	past          *endedReader // reads the calls that memory holds by reference, without the lock
	admitting     *call        // no other call is admitted while the policy evaluates it
	admittingDone *sched.Event // fires when the holder is released
}

// Session starts a session. Sessions share nothing, even when their ids are equal.
//
// With a journal an id identifies one session, for as long as the journal lasts: Session continues
// an existing session, with the configuration cfg from now on. A session that has ended stays as it was.
// Under another principal than before it is not continued, unless cfg.Rebind says so: the session that
// Session then returns starts and finds no runs, and the error handler is told (SEMANTICS 1.2.6).
//
// A session whose id has more than 8 KiB, or whose principal more than 256 bytes, starts no runs: StartRun says why,
// and so does the error handler.
func (e *Executor) Session(cfg SessionConfig) *Session {
	cfg = cfg.clean()
	if err := cfg.check(); err != nil {
		if e != nil && e.engine != nil {
			e.report(&action.CallError{Err: err})
		}
		return &Session{refused: err}
	}
	if e == nil || !e.log.On() {
		return e.newSession(&cfg)
	}
	s := e.seat(cfg.ID)
	if err := s.place.Enter(); err != nil {
		e.report(&action.CallError{SessionID: s.id, Err: err})
		return s
	}
	defer s.place.Leave()
	fresh := s.place.Keep()
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.cfg.Load()
	switch {
	case s.memory.IsShut():
	case !fresh && was.Principal != cfg.Principal && !cfg.Rebind:
		err := fmt.Errorf("the session %q is of the principal %q and is not continued for %q: set SessionConfig.Rebind where it is handed over",
			cfg.ID, was.Principal, cfg.Principal)
		e.report(&action.CallError{SessionID: cfg.ID, Err: err})
		return &Session{exec: e, id: cfg.ID, refused: err, of: s}
	case fresh || !was.equal(&cfg):
		s.cfg.Store(&cfg)
		s.record(journal.KindSessionOpened)
	}
	return s
}

// whole returns the session that s stands for: s itself, unless it is not continued under another principal. s may be nil.
func (s *Session) whole() *Session {
	if s != nil && s.of != nil {
		return s.of
	}
	return s
}

// newSession returns a session without runs and calls.
func (e *Executor) newSession(cfg *SessionConfig) *Session {
	s := &Session{exec: e, id: cfg.ID}
	s.cfg.Store(cfg)
	if e != nil {
		s.memory = newMemory(e.engine, e.log.On(), observeRules(e.onRuleEvent, cfg.ID))
		s.past = &endedReader{
			Session: s.id, Lock: &s.mu, Memory: &s.memory, Journal: e.journal, Segments: e.segments, Sched: &e.sched,
			Report: e.report, Pin: func() func() { return s.place.Pin() },
			Quiet: func(c *call) bool { return c == nil || c.progress.HandlerDone() },
		}
	}
	return s
}

// FindSession returns the session with an id, which this process or an earlier one has started. It
// needs a journal, without which an executor does not know its sessions.
func (e *Executor) FindSession(id string) (*Session, bool) {
	s := e.sessionOf(id)
	return s, s != nil
}

// sessionOf returns the session with an id, nil when the journal has none. One that cannot be loaded refuses what is asked
// of it.
func (e *Executor) sessionOf(id string) *Session {
	if e == nil || !e.log.On() || id == "" {
		return nil
	}
	if s := e.seat(id); s.place.Known() {
		return s
	}
	return nil
}

// ID returns the id of s.
func (s *Session) ID() string {
	if s == nil {
		return ""
	}
	return s.id
}

// StartRun starts a run of s. It fails when ctx is done, when the executor is
// shutting down, when s has ended, when a run of that id is open, and when the metadata are too many or invalid.
func (s *Session) StartRun(ctx context.Context, cfg RunConfig) (*Run, error) {
	if s != nil && s.refused != nil {
		return nil, s.refused
	}
	if s == nil || s.exec == nil || s.exec.reg == nil {
		return nil, errors.New("a run needs a session of an executor made by NewExecutor")
	}
	if err := deadline.OrBackground(ctx).Err(); err != nil {
		return nil, err
	}
	cfg.ID, cfg.Metadata = wording.ValidUTF8(cfg.ID), maps.Clone(cfg.Metadata)
	if err := errors.Join(checkMetadata(cfg.Metadata), wording.Check("the id of the run", cfg.ID, wording.MaxID)); err != nil {
		return nil, fmt.Errorf("a run cannot be started: %w", err)
	}
	if !s.exec.capacity.Gate.Enter() {
		return nil, errors.New("the executor is shutting down: it starts no runs")
	}
	defer s.exec.capacity.Gate.Leave()
	if err := s.exec.log.Health(); err != nil {
		return nil, fmt.Errorf("a run cannot be recorded: %w", err)
	}
	if err := s.place.Enter(); err != nil {
		return nil, fmt.Errorf("a run cannot be started: %w", err)
	}
	defer s.place.Leave()
	s.mu.Lock()
	defer s.mu.Unlock()
	if cfg.ID == "" {
		cfg.ID = s.memory.NextRun(s.id)
	}
	if err := s.memory.StartRun(s.exec.instant(s.exec.sched.Now()), cfg.ID); err != nil {
		return nil, err
	}
	p := s.memory.OpenNode(cfg.ID, cfg.Metadata)
	s.recordRun(journal.KindRunStarted, cfg.ID, p)
	return s.run(cfg.ID, p), nil
}

// Run returns an open run of s. With a journal it also finds an open run of an earlier process. Its
// calls are made on behalf of the session's principal; see Run.WithPrincipal.
func (s *Session) Run(id string) (*Run, bool) {
	if s == nil || s.refused != nil {
		return nil, false
	}
	defer s.place.Pin()()
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.memory.Node(id)
	if p == nil {
		return nil, false
	}
	return s.run(id, p), true
}

// run returns the run of a node, for the principal of s.
func (s *Session) run(id string, p *runNode) *Run {
	return &Run{session: s, id: id, by: &callOrigin{Run: id, Principal: s.cfg.Load().Principal}, node: p}
}

// live returns a call that can change, nil when there is none.
func (s *Session) live(callID string) *call {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.memory.Live(callID)
}

// hold keeps s in memory, and Session.End waiting, until letGo. A goroutine is in s.
func (s *Session) hold() {
	_ = s.place.Enter()
	s.memory.Work.Force()
}

// letGo undoes hold.
func (s *Session) letGo() {
	s.memory.Work.Leave()
	s.place.Leave()
}

// endExclusion lets other calls of the session be admitted again, if c is the call that
// excluded them. s.mu is held.
func (s *Session) endExclusion(c *call) {
	if s.admitting == c && c != nil {
		s.exec.sched.Fire(s.admittingDone)
		s.admitting, s.admittingDone = nil, nil
	}
}

// observeRules returns what passes the changes of one session to f, which gets those of all; nil for a nil f.
func observeRules(f func(session string, ev rules.Event), id string) func(rules.Event) {
	if f == nil {
		return nil
	}
	return func(ev rules.Event) { f(id, ev) }
}
