package engine

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/live"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A processOwner is a call whose handler may start a process.
type processOwner interface {
	// processStarted records that a process is about to run, and returns when that is durable. No lock is held.
	processStarted(*journal.Process) error

	// processEnded keeps the output of a process, if its exit is not nil: its end then names it. No lock is held.
	processEnded(*journal.Process, *process.Exit)

	// processStale records that the watcher of the process fell silent. The lock of the owner is held.
	processStale()
}

var errUndoProcess = errors.New("an undo handler starts no process")

// ProcessStarts records a process of the attempt, and returns when that is durable (SEMANTICS 6.6.8).
func (at *attemptContext) ProcessStarts(_ context.Context, p *journal.Process) error {
	if at.scope.processes == nil {
		return errUndoProcess
	}
	return at.scope.processes.processStarted(p)
}

// ProcessEnded takes the end of a process of the attempt, for the next entry of its owner. The exit has what is to be
// kept of it, nil for nothing.
func (at *attemptContext) ProcessEnded(p *journal.Process, exit *process.Exit) {
	s := at.scope
	at.whileTold(func(o *live.Output) {
		now := s.env.Sched.Now()
		for _, piece := range o.Close(now, p.Exit.Stdout.Size, p.Exit.Stderr.Size) {
			s.owner.publish(&piece)
		}
	})
	s.processes.processEnded(p, exit)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.Exit.Cause == process.Stale && !s.life.Ended() {
		s.processes.processStale()
	}
	s.process = p
}

// ProcessKeeps takes what returns the head and the tail of what the process of the attempt writes, before it
// writes. At most so many bytes of each stream are told.
func (at *attemptContext) ProcessKeeps(kept live.Kept, most int64) {
	at.whileTold(func(o *live.Output) { o.Begin(at.number, kept, most) })
}

// ProcessWrites tells what the process of the attempt writes, while the fence of the attempt is open.
func (at *attemptContext) ProcessWrites(c *process.Chunk) {
	s := at.scope
	at.whileTold(func(o *live.Output) {
		if p, ok := o.Write(s.env.Sched.Now(), c); ok {
			s.owner.publish(&p)
		}
	})
}

// Kept returns what is kept of the process that runs, none where no process does, and what after returned
// under the lock of the owner.
func (s *attemptScope) Kept(after func() uint64) ([]live.Piece, uint64) {
	s.mu.Lock()
	now, place := s.env.Sched.Now(), after()
	var kept *live.Snapshot
	if s.output != nil {
		kept = s.output.Snapshot()
	}
	s.mu.Unlock()
	if kept == nil {
		return nil, place
	}
	return kept.Pieces(now), place
}

// TakeProcess returns the end of a process that no entry has yet, once; nil: there is none. The lock is
// held.
func (s *attemptScope) TakeProcess() *journal.Process {
	p := s.process
	s.process = nil
	return p
}
