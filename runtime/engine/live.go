package engine

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/live"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/process"
)

// WithLive sets what gets the pieces that handlers report (runtime.Report), such as feed.Feed.Live. f
// is called under the lock of the call: it must not wait, nor call the executor. Pieces of one call
// come one at a time, in order.
func WithLive(f func(journal.Live)) Option { return func(e *Executor) { e.live = f } }

// A publisher passes on what handlers report. It is the livePublisher of an executor.
type publisher struct{ exec *Executor }

// Hide returns the sensitive values of a call, nil where nothing of its output may be told: the policy
// wants it masked, and a pointer masks no text, or a command writes what is sensitive.
func (p publisher) Hide(owner attemptOwner) *redact.Secrets {
	c, ofCall := owner.(*call)
	if !ofCall {
		c = owner.(*undoOwner).of
	}
	masked := slices.ContainsFunc(c.obligations, func(o runtime.Obligation) bool { return o.Code == redact.Obligation })
	if masked || c.tool.Hooks.Command != nil && processes.SensitiveOutput(c.tool.Spec) {
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
func (p publisher) Publish(owner attemptOwner, piece *live.Piece) {
	if u, ofUndo := owner.(*undoOwner); ofUndo {
		p.tell(&u.ident, u.of.trail.Last(), piece)
		return
	}
	c := owner.(*call)
	p.tell(&c.ident, c.trail.Last(), piece)
	if piece.Record {
		c.transition(runtime.EventOutput, runtime.StateExecuting, &note{At: c.clock(), Live: new(piece.Counts), Output: int(piece.Bytes), Dropped: int(piece.Dropped)})
	}
}

func (p publisher) tell(c *ident, after uint64, piece *live.Piece) {
	if p.exec.live != nil && !piece.Silent {
		p.exec.live(pieceOf(c, after, piece))
	}
}

// pieceOf returns a piece of a call.
func pieceOf(c *ident, after uint64, piece *live.Piece) journal.Live {
	return journal.Live{
		At: piece.At, Session: c.run.session.id, Run: c.run.id, Call: c.id, Tool: c.record.Tool, Agent: c.run.by.Agent, Principal: c.run.by.Principal,
		Turn: c.turn.number, RequestID: clientRequest(c.metadata), Attempt: piece.Attempt, Undo: c.undoing, Number: piece.Counts.Pieces, After: after, Offset: piece.Offset, Text: piece.Text,
		Done: piece.Counts.Done, Total: piece.Counts.Total, Dropped: piece.Counts.Dropped, Stream: piece.Stream, End: piece.End, Kept: piece.Kept,
	}
}

// Output returns what is kept of the command that runs for a call, as pieces with Kept: the head and the
// tail of what it has written. It is empty for any other call. Who asks has to be one that may audit the call.
func (e *Executor) Output(sessionID, callID string) (list []journal.Live) {
	if c := e.sessionOf(sessionID).live(callID); c != nil {
		pieces, after := c.progress.Scope.Kept(c.trail.Last)
		for i := range pieces {
			list = append(list, pieceOf(&c.ident, after, &pieces[i]))
		}
	}
	return list
}

// Started records, as an processRecorder, that a process is about to run.
func (p publisher) Started(owner attemptOwner, of *journal.Process) error {
	c := owner.(*call)
	if !p.exec.log.On() {
		return nil
	}
	p.add(c, journal.KindProcessStarted, of)
	return c.trail.Flush()
}

// add adds an entry about a process to those of its call.
func (publisher) add(c *call, kind string, of *journal.Process) {
	r := newRecord(&c.ident, kind, c.clock())
	r.Process = of
	c.progress.Lock()
	defer c.progress.Unlock()
	c.trail.Add(&r, nil)
}

// Stale records that what watched a process fell silent.
func (p publisher) Stale(owner attemptOwner) {
	c := owner.(*call)
	c.transition(runtime.EventStale, c.progress.State(), &note{At: c.clock()})
}

// Ended keeps, as an processRecorder, what a process wrote whose call has not its output
// (SEMANTICS 6.6.9).
func (p publisher) Ended(owner attemptOwner, of *journal.Process, exit *process.Exit) {
	c := owner.(*call)
	switch known := c.tool != nil && c.values.Args != nil; { // sensitive values that are not known cannot be hidden
	case !p.exec.log.On():
		p.exec.processes.Unspool(of.ID.Mark) // no recovery will read it
	case exit != nil && p.exec.artifacts != nil && known:
		var err error
		if of.Kept, err = p.exec.processes.Keep(p.exec.artifacts, c.tool.Spec, p.Hide(c), exit); err != nil {
			p.exec.report(c.newFault(runtime.ReasonNone, err))
		}
	}
}
