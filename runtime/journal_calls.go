package runtime

import (
	"errors"
	"fmt"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// What is recorded beside the transitions of calls, and where whoever goes on
// waits until it would outlive a crash (SEMANTICS section 6.6).

// WithJournal records everything in j, and makes what lasts out of it again:
// sessions and runs, their rule state, requests for consent and grants, and the
// outcomes of calls. Recover must be called before anything else. The default,
// no journal, is wrong for every tool that changes something.
func WithJournal(j journal.Journal) Option {
	return func(e *Executor) { e.log.journal = j }
}

// recordRun records that a run has started, stopped or closed. s.mu is held.
func (s *Session) recordRun(kind, run string) {
	if !s.exec.log.on() {
		return
	}
	r := &journal.Record{Kind: kind, At: plain(s.exec.now()), Session: s.id, Run: run, Principal: s.cfg.Load().Principal, Rules: s.facts}
	s.facts = nil
	s.exec.log.note(r)
}

// recordOpened records how s is configured. s.mu is held.
func (s *Session) recordOpened() {
	if !s.exec.log.on() {
		return
	}
	cfg := s.cfg.Load()
	s.exec.log.note(&journal.Record{
		Kind: journal.KindSessionOpened, At: plain(s.exec.now()), Session: s.id, Principal: cfg.Principal,
		Setup: &journal.Setup{Behavior: cfg.Behavior, Modes: cfg.Modes, Capabilities: cfg.Capabilities},
	})
}

// recordConsent records a change of grants or requests that belongs to no call,
// and returns when it is durable by flush.
func (e *Executor) recordConsent(at time.Time, by string, flush func(uint64) error) error {
	if !e.log.on() {
		return nil
	}
	return flush(e.log.note(&journal.Record{Kind: journal.KindConsent, At: plain(at), By: by}))
}

// prepare keeps, and records, what the undo of the call will need.
func (c *call) prepare(state wire.Value) {
	c.mu.Lock() // an undo may come while the handler still runs
	defer c.mu.Unlock()
	c.prepared, c.isPrepared = state, true
	if !c.exec.log.on() {
		return
	}
	var p redact.Payloads
	r := &journal.Record{
		Kind: journal.KindPrepared, At: plain(c.clock()), Session: c.run.session.id, Run: c.run.id, Call: c.id, Tool: c.record.tool,
	}
	var err error
	if state != nil {
		r.Prepared, err = p.Payload("prepared", state)
	}
	c.entry = c.exec.log.add(draftOf(r, &p, err))
}

// latest returns the position of the latest entry of c.
func (c *call) latest() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entry
}

// durable returns when all that was recorded of c would outlive a crash. While the
// ledger is stalled it returns an error at once.
func (c *call) durable() error {
	if !c.exec.log.on() {
		return nil
	}
	return c.exec.log.flush(c.latest())
}

// durablePatiently is durable, but waits for the end of a stall.
func (c *call) durablePatiently() error {
	if !c.exec.log.on() {
		return nil
	}
	return c.exec.log.flushPatiently(c.latest())
}

// flushIntent waits until it is durable that the handler is about to start. A call of
// which that cannot be written, or which has ended, does not start.
func (c *call) flushIntent() bool {
	if c.exec.log.on() {
		return c.awaitIntent()
	}
	return !c.over().happened()
}

// awaitIntent is intend with a journal.
func (c *call) awaitIntent() bool {
	if err := c.durable(); err != nil {
		return c.end(*c.unwritable(err))
	}
	c.mu.Lock()
	ending, aborted := c.ending, c.aborted && !c.begun
	if !ending && !aborted {
		c.begun = true
	}
	c.mu.Unlock()
	if aborted && !ending {
		return c.refuse(ReasonShuttingDown, Detail{}, "the executor is shutting down")
	}
	return !ending // its time may be up
}

// unwritable is the ending of a call that cannot be recorded, and therefore not
// be carried out.
func (c *call) unwritable(err error) *result {
	e := refusal(ReasonJournalUnavailable, Detail{}, "the journal cannot be written: nothing is carried out")
	e.fault = c.faulty(ReasonJournalUnavailable, fmt.Errorf("the journal cannot be written: %w", err))
	return e
}

// writable refuses the call when nothing can be recorded.
func (c *call) writable() bool {
	err := c.exec.log.health()
	if err == nil && c.unrecorded {
		err = errStalled // it was, when the call was made
	}
	if err != nil {
		return c.end(*c.unwritable(err))
	}
	return true
}

// settleOutcome waits until the outcome of c is durable. When it cannot be
// written, nobody is told it: after a restart nobody would know it.
func (c *call) settleOutcome() {
	if !c.dry && c.exec.log.on() {
		c.awaitOutcome()
	}
}

// awaitOutcome is settleOutcome with a journal.
func (c *call) awaitOutcome() {
	err := c.durable()
	switch {
	case err == nil,
		errors.Is(err, errShut) && !c.begun: // it did nothing, and is refused as well after a restart
		return
	case c.record.outcome().Reason == ReasonLeaseLost: // which says so
		return
	}
	e := c.unwritable(err)
	out := e.outcome
	stalled := errors.Is(err, journal.ErrUnavailable)
	switch {
	case c.begun && stalled:
		out.Kind, out.Message = Unknown, "the journal cannot be written: the call may have taken effect, and its outcome is known when it can be written again"
	case c.begun:
		out.Kind, out.Message = Unknown, "the journal cannot be written: the call may have taken effect, and its outcome is lost"
	}
	c.exec.report(e.fault)
	position := c.latest()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	was := c.record.outcome()
	if stalled && was.Kind != Unknown { // from then on this is what it was
		defer c.exec.log.afterwards(position, func() { c.record.later.CompareAndSwap(nil, &was) })
	}
	out.CallID, out.Tool, out.Revision, out.Duration = was.CallID, was.Tool, was.Revision, was.Duration
	out.AllReasons, out.RequestID, out.Loop, out.Run = []Reason{out.Reason}, was.RequestID, was.Loop, was.Run
	c.record.keep(&out)
}

// writeOwner records who writes the journal from now on, with what settings.
func (l *commitLog) writeOwner(at time.Time, settings *journal.Settings) {
	l.note(&journal.Record{Kind: journal.KindOwner, At: plain(at), Epoch: l.epoch, Setup: thisProcess(), Settings: settings})
}
