package engine

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/attempt"
	"github.com/ambit-tools/ambit/runtime/internal/live"
	"github.com/ambit-tools/ambit/runtime/internal/metadata"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/process"
)

// WithLive sets what gets the pieces that handlers report (runtime.Report), such as feed.Feed.Live. f
// is called under the lock of the call: it must not wait, nor call the executor. Pieces of one call
// come one at a time, in order.
func WithLive(f func(journal.Live)) Option { return func(e *Executor) { e.live = f } }

// A publisher passes on what handlers report. It is the attempt.Publisher of an executor.
type publisher struct{ exec *Executor }

// Hide returns what takes the sensitive values of a call out of texts. Texts of a call whose output
// the policy wants masked are not told: a pointer masks no text.
func (p publisher) Hide(owner attempt.Owner) *redact.Stream {
	if p.exec.live == nil {
		return new(redact.Secrets).Stream()
	}
	if s := secretsOf(owner); s != nil {
		return s.Stream()
	}
	return nil
}

// secretsOf returns the sensitive values of a call, nil where nothing of its output may be told.
func secretsOf(owner attempt.Owner) *redact.Secrets {
	c, ofCall := owner.(*call)
	if !ofCall {
		c = owner.(*undoOwner).of
	}
	if slices.ContainsFunc(c.obligations, func(o runtime.Obligation) bool { return o.Code == redact.Obligation }) {
		return nil
	}
	known := tools.Values{Args: c.values.Args, Text: c.values.Text, FinalText: c.values.FinalText}
	if !ofCall { // the worker of a call that runs may set the outputs
		known.Outputs = c.values.Outputs
	}
	c.progress.Lock()
	prepared := c.prepared
	c.progress.Unlock()
	return known.Secrets(c.tool, c.record.Input, prepared)
}

// Publish passes a piece on, after the latest entry of its call and before the next. The counts of an
// undo are not recorded: tool.output is no event of a call that has ended.
func (p publisher) Publish(owner attempt.Owner, piece *live.Piece) {
	c, ofCall := owner.(*call)
	if !ofCall {
		u := owner.(*undoOwner)
		p.tell(&u.ident, u.of.trail.Last(), piece)
		return
	}
	p.tell(&c.ident, c.trail.Last(), piece)
	if piece.Record {
		counts := piece.Counts
		c.transition(runtime.EventOutput, runtime.StateExecuting, &note{
			At: c.clock(), Live: &counts, Output: int(piece.Bytes), Dropped: int(piece.Dropped),
		})
	}
}

// tell gives a piece to the function of WithLive.
func (p publisher) tell(c *ident, after uint64, piece *live.Piece) {
	if p.exec.live == nil || piece.Silent {
		return
	}
	p.exec.live(journal.Live{
		At: piece.At, Session: c.run.session.id, Run: c.run.id, Call: c.id, Tool: c.record.Tool, Agent: c.run.agent, Principal: c.run.principal,
		Turn: c.turn.number, RequestID: metadata.Request(c.metadata), Attempt: piece.Attempt, Undo: c.undoing, Number: piece.Counts.Pieces, After: after, Offset: piece.Offset, Text: piece.Text,
		Done: piece.Counts.Done, Total: piece.Counts.Total, Dropped: piece.Counts.Dropped,
	})
}

// Started records, as an attempt.Recorder, that a process is about to run.
func (p publisher) Started(owner attempt.Owner, of *journal.Process) error {
	c := owner.(*call)
	if !p.exec.log.On() {
		return nil
	}
	p.add(c, journal.KindProcessStarted, of)
	return c.trail.Flush()
}

// EndedLater records the end of a process of a call that no event can change.
func (p publisher) EndedLater(c *call, of *journal.Process) { p.add(c, journal.KindProcessEnded, of) }

// add adds an entry about a process to those of its call.
func (publisher) add(c *call, kind string, of *journal.Process) {
	r := newRecord(&c.ident, kind, c.clock())
	r.Process = of
	c.progress.Lock()
	defer c.progress.Unlock()
	c.trail.Add(&r, nil)
}

// Stale records that what watched a process fell silent.
func (p publisher) Stale(owner attempt.Owner) {
	c := owner.(*call)
	c.transition(runtime.EventStale, c.progress.State(), &note{At: c.clock()})
}

// Ended keeps, as an attempt.Recorder, what a process wrote whose call has not its output
// (SEMANTICS 6.6.9).
func (p publisher) Ended(owner attempt.Owner, of *journal.Process, exit *process.Exit) {
	c := owner.(*call)
	switch {
	case !p.exec.log.On():
		p.exec.processes.Unspool(of.ID.Mark) // no recovery will read it
		return
	case exit == nil, p.exec.artifacts == nil, c.tool == nil:
		return
	case c.values.Args == nil: // sensitive values that are not known cannot be hidden
		return
	}
	secrets := secretsOf(c)
	if secrets == nil {
		return
	}
	var err error
	if of.Kept, err = p.exec.processes.Keep(p.exec.artifacts, c.tool.Spec, secrets, exit); err != nil {
		p.exec.report(c.newFault(runtime.ReasonNone, err))
	}
}
