package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/residence"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// checkpointEvery is how many entries a start reads at most to find what sessions have that it does not load.
const checkpointEvery = 10_000

// openSessions prepares the sessions of a journal.
func (e *Executor) openSessions() {
	e.sessions.Open(residence.Config[Session]{
		Sched: &e.sched, Place: func(s *Session) *residence.Place[Session] { return &s.place },
		Load: (*Session).load, Rest: (*Session).rest, Drop: (*Session).drop,
	})
}

// seat returns the session with an id, which may have to be loaded and may have no entries.
func (e *Executor) seat(id string) *Session {
	return e.sessions.Of(id, func() *Session { return e.newSession(&SessionConfig{ID: id}) })
}

// enter keeps s in memory until leave, and loads it before if need be. With an error s knows nothing, and must not be
// left.
func (s *Session) enter() error {
	if s.exec == nil || !s.exec.log.On() {
		return nil
	}
	return s.exec.sessions.Enter(s)
}

// leave undoes enter. Neither is called under a lock.
func (s *Session) leave() {
	if s.exec != nil && s.exec.log.On() {
		s.exec.sessions.Leave(s)
	}
}

// pin is enter for a caller to whom a session that cannot be loaded is one without calls. It returns leave.
func (s *Session) pin() func() {
	if s.enter() != nil {
		return func() {}
	}
	return s.leave
}

// load reads s from the journal, and reports whether the journal has it. Nothing in s is open: recovery has loaded
// the others.
func (s *Session) load() (known bool, err error) {
	e := s.exec
	if errors.Is(e.log.Health(), commitlog.ErrNotRecovered) {
		return false, nil
	}
	if !e.capacity.Gate.Enter() {
		return false, errors.New("the executor is shutting down: it loads no session")
	}
	defer e.capacity.Gate.Leave()
	var of *history.Single
	err = usercode.Call(func() (err error) {
		of, err = history.ReadWhole(context.Background(), e.journal, e.engine, e.approvals.Key(), s.id)
		return err
	})
	if err == nil && of != nil {
		err = of.Settled()
	}
	if err != nil || of == nil {
		s.mu.Lock()
		s.memory.Clear(e.engine)
		s.mu.Unlock()
		return false, err
	}
	e.approvals.Put(s.id, of.Book)
	s.restore(&of.Session)
	for _, r := range of.Calls {
		e.restoreCall(s, r, nil)
	}
	return true, nil
}

// rest makes durable what s is loaded from. A snapshot replaces many entries.
func (s *Session) rest() error {
	e := s.exec
	if !e.capacity.Gate.Enter() {
		return errors.New("the executor is shutting down")
	}
	defer e.capacity.Gate.Leave()
	if err := e.log.SettleOf(s.id); err != nil {
		return err
	}
	if e.holdings.Behind() > checkpointEvery {
		if err := e.snapshots.Write(context.Background(), "", 1); err != nil {
			return err
		}
	}
	return e.snapshots.Rest(context.Background(), s.id)
}

// drop drops s from memory, and reports whether it could.
func (s *Session) drop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exec.log.Health() != nil || !s.memory.Drop(func(run string) bool { return s.nodes[run] != nil }) {
		return false
	}
	s.exec.approvals.Leave(s.id)
	return true
}

// recall loads the session of a request or a grant that is not in memory.
func (e *Executor) recall(id string) {
	if _, known := e.approvals.Request(id); !known && e.log.On() {
		e.sessionOf(e.holdings.SessionOf(id))
	}
}

// recallAll loads the sessions with requests or grants, once: these stay in memory when the sessions do not.
func (e *Executor) recallAll() {
	if !e.log.On() {
		return
	}
	for _, id := range e.holdings.Asked(e.sched.Now()) {
		if !e.approvals.Has(id) {
			e.sessionOf(id)
		}
	}
}

// refuseUnloaded gives a call its outcome whose session cannot be loaded.
func (c *call) refuseUnloaded(err error, done <-chan struct{}) *callRecord {
	c.exec.report(c.newFault(runtime.ReasonJournalUnavailable, fmt.Errorf("session %q is not known: %w", c.run.session.id, err)))
	out := outcomes.JournalUnavailable()
	out.CallID, out.Tool, out.AllReasons = c.id, c.record.Tool, []runtime.Reason{out.Reason}
	c.record.Store(&out)
	c.exec.sched.Fire(&c.record.First)
	c.observe(done)
	return c.record
}

// unloaded returns the error of an act in a session that cannot be loaded.
func unloaded(err error) *action.Error {
	return &action.Error{Code: action.CodeJournalUnavailable, Err: err}
}
