package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/lifecycle"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/process"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// The entries that belong to no transition of a call, and the waits until an entry is durable
// (SEMANTICS section 6.6).

// recordOwner records which process writes the journal from now on, and with what settings (SEMANTICS 6.14).
func (e *Executor) recordOwner() {
	settings := &journal.Settings{Reminders: e.engine.Reminders(), MinimumBudget: e.minimum, Window: ruleinput.Window(tools.Specs(e.tools))}
	e.log.Add(entry.Owner(e.sched.Now(), e.lease.Epoch(), process.Setup(), settings), nil)
}

// recordRun records that a run has started, stopped or closed. s.mu is held.
func (s *Session) recordRun(kind, run string, of *runNode) {
	if !s.exec.log.On() {
		return
	}
	r := entry.Run(kind, s.exec.sched.Now(), run, clientRequest(of.Metadata), of.Metadata)
	r.Session, r.Principal, r.Rules = s.id, s.cfg.Load().Principal, s.memory.Take()
	s.exec.log.Add(r, nil)
}

// record records how s is configured, or that it has ended. s.mu is held.
func (s *Session) record(kind string) {
	if !s.exec.log.On() {
		return
	}
	cfg := s.cfg.Load()
	s.exec.log.Add(entry.Session(kind, s.exec.sched.Now(), s.id, cfg.Principal, *cfg.setup()), nil)
}

// recordConsent records a change of grants or requests that belongs to no call, and returns when
// flush has made it durable. ev, unless it is nil, is its event, with the position of the entry.
func (e *Executor) recordConsent(of *consent.Event, flush func(uint64) error, ev *runtime.Event) error {
	if !e.log.On() {
		e.delivery.Emit(ev)
		return nil
	}
	r := &journal.Record{Kind: journal.KindConsent, At: entry.At(of.At), Session: e.approvals.SessionOf(of), By: of.By}
	return flush(e.delivery.EmitAs(ev, func() uint64 { return e.log.Add(r, nil) }))
}

// newRecord returns a record of the call that is about none of its transitions.
func newRecord(c *ident, kind string, at time.Time) journal.Record {
	return journal.Record{
		Kind: kind, At: entry.At(at), Session: c.run.session.id, Run: c.run.id, Turn: c.turn.number, RequestID: clientRequest(c.metadata),
		Call: c.id, Tool: c.record.Tool, Mark: journal.MarkOf(kind),
	}
}

// recordPrepared stores and records the state that the undo of the call needs.
func (c *call) recordPrepared(state wire.Value) {
	c.progress.Lock() // an undo may come while the handler still runs
	defer c.progress.Unlock()
	c.prepared, c.isPrepared = state, true
	if !c.exec.log.On() {
		return
	}
	d := entry.Draft{Record: newRecord(&c.ident, journal.KindPrepared, c.clock())}
	if state != nil {
		d.AddPrepared(state)
	}
	r, private := d.Entry()
	c.record.Recorded(r, c.trail.Add(r, private))
}

// flushIntent waits until it is durable that the handler is about to start. A call whose intent
// cannot be written, or which has ended, does not start.
func (c *call) flushIntent() *result {
	if !c.exec.log.On() {
		if c.done().Fired() {
			return workerDone
		}
		return nil
	}
	if err := c.trail.Flush(); err != nil {
		return c.journalUnavailable(err)
	}
	switch c.progress.Release() {
	case lifecycle.Released:
		return nil
	case lifecycle.ReleaseAborted:
		return denied(outcomes.ShuttingDown())
	}
	return workerDone // the deadline may be over
}

// journalUnavailable returns the result of a call that cannot be recorded and does not run.
func (c *ident) journalUnavailable(err error) *result {
	e := denied(outcomes.JournalUnavailable())
	e.cause = lifecycle.ByJournal
	e.fault = c.newFault(runtime.ReasonJournalUnavailable, fmt.Errorf("the journal cannot be written: %w", err))
	return e
}

// flushOutcome waits until the outcome of c is durable. When it cannot be written the caller does
// not get it, because a restarted executor would not know it.
func (c *call) flushOutcome() {
	if c.dry || !c.exec.log.On() {
		return
	}
	err := c.trail.Flush()
	switch {
	case err == nil:
		c.run.session.past.Rest(c.record)
		return
	case errors.Is(err, commitlog.ErrClosed) && !c.progress.Life.Released(): // it had no effect, and is refused after a restart too
		return
	case c.record.Outcome().Reason == runtime.ReasonLeaseLost: // its outcome says that already
		return
	}
	e := c.journalUnavailable(err)
	out := e.outcome
	stalled := errors.Is(err, journal.ErrUnavailable)
	if c.progress.Life.Released() {
		out = outcomes.NotRecorded(stalled)
	}
	c.exec.report(e.fault)
	position := c.trail.Last()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	was := c.record.Outcome()
	if stalled && was.Kind != runtime.Unknown { // the caller gets the stored outcome when the stall ends
		c.record.Unwritten()
		defer c.exec.log.WhenDurable(position, func() { c.record.ReplaceOnce(&was) })
	}
	out.CallID, out.Tool, out.Revision, out.Duration, out.Times = was.CallID, was.Tool, was.Revision, was.Duration, was.Times
	out.AllReasons, out.RequestID, out.Loop, out.Run = []runtime.Reason{out.Reason}, was.RequestID, was.Loop, was.Run
	c.record.Store(&out)
}
