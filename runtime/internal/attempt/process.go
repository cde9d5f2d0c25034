package attempt

import (
	"context"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/process"
)

// A Recorder records the processes of owners.
type Recorder interface {
	// Started records that a process is about to run, and returns when that is durable. No lock is held.
	Started(Owner, *journal.Process) error

	// Ended keeps what a process wrote, if its exit is not nil: its end then names it. No lock is held.
	Ended(Owner, *journal.Process, *process.Exit)

	// Stale records that the watcher of the process fell silent. The lock of the owner is held.
	Stale(Owner)
}

// ProcessStarts records a process of the attempt, and returns when that is durable (SEMANTICS 6.6.8).
func (at *Context) ProcessStarts(_ context.Context, p *journal.Process) error {
	return at.scope.env.Processes.Started(at.scope.owner, p)
}

// ProcessEnded takes the end of a process of the attempt, for the next entry of its owner. The exit has what is to be
// kept of it, nil for nothing.
func (at *Context) ProcessEnded(p *journal.Process, exit *process.Exit) {
	s := at.scope
	s.env.Processes.Ended(s.owner, p, exit)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Exit.Cause == process.Stale && !s.life.Ended() {
		s.env.Processes.Stale(s.owner)
	}
	s.process = p
}

// TakeProcess returns the end of a process that no entry has yet, once; nil: there is none. The lock is
// held.
func (s *Scope) TakeProcess() *journal.Process {
	p := s.process
	s.process = nil
	return p
}
