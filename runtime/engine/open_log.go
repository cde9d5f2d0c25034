package engine

import (
	"context"

	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/lease"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// WithJournal records everything in j, and restores from it what lasts: sessions and runs, their
// rule state, requests for consent and grants, and the outcomes of calls. Recover must be called
// before any other method. The default, no journal, is wrong for every tool that changes something.
func WithJournal(j journal.Journal) Option {
	return func(e *Executor) { e.journal = j }
}

// openLog prepares lease and commit log, which write nothing before recovery has read the journal.
func (e *Executor) openLog() {
	e.sessions.byID = map[string]*Session{}
	if e.journal == nil {
		return
	}
	e.lease = lease.New(lease.Config{
		Sched: &e.sched, Heartbeat: DefaultHeartbeat, Stale: DefaultStale, Guard: usercode.Call, OnLost: e.leaseLost,
		Report: func(err error) { e.report(&CallError{Err: err}) },
	})
	e.log = commitlog.New(commitlog.Config{Sched: &e.sched, Append: e.append, Written: e.lease.Wrote})
}

// append appends entries to the journal, whose code may panic.
func (e *Executor) append(entries []journal.Entry) error {
	return usercode.Call(func() error { return e.journal.Append(context.Background(), entries) })
}
