package engine

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
)

// openSessions prepares the sessions of a journal.
func (e *Executor) openSessions() {
	e.sessions.Open(sessionCacheConfig{
		Sched: &e.sched, Gate: &e.capacity.Gate, Place: func(s *Session) *cachePlace { return &s.place },
		Load: (*Session).load, Drop: (*Session).drop,
		Rest: func(s *Session) error { return e.snapshots.Rest(context.Background(), s.id) },
	})
}

// load reads s from the journal, and reports whether the journal has it. Nothing in s is open: recovery has loaded
// each session in which something is.
func (s *Session) load() (known bool, err error) {
	e := s.exec
	if errors.Is(e.log.Health(), commitlog.ErrNotRecovered) {
		return false, nil
	}
	of, err := loadSession(e.journal, e.engine, e.approvals.Key(), s.id)
	if of == nil {
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

// drop drops s from memory, and reports whether it could (SEMANTICS 6.7.13).
func (s *Session) drop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exec.log.Health() != nil || !s.memory.Drop() {
		return false
	}
	s.exec.approvals.Leave(s.id)
	return true
}
