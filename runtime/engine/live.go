package engine

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/live"
	"github.com/ambit-tools/ambit/runtime/internal/processes"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// WithLive sets what gets the pieces that handlers report (runtime.Report), such as feed.Feed.Live. f
// is called under the lock of the call: it must not wait, nor call the executor. Pieces of one call
// come one at a time, in order.
func WithLive(f func(journal.Live)) Option { return func(e *Executor) { e.live = f } }

// hidden returns the sensitive values of the call, nil where nothing of its output may be told: the policy wants it
// masked, and a pointer masks no text, or a command writes sensitive values.
func (c *call) hidden() *redact.Secrets { return c.hiddenBeside(nil) } // the worker of a call that runs may set the outputs

// hidden returns the sensitive values of the call that is undone, with those of its output.
func (u *undoOwner) hidden() *redact.Secrets { return u.of.hiddenBeside(u.of.values.Outputs) }

func (c *call) hiddenBeside(outputs wire.Value) *redact.Secrets {
	masked := slices.ContainsFunc(c.obligations, func(o runtime.Obligation) bool { return o.Code == redact.Obligation })
	if masked || c.tool.Hooks.Command != nil && processes.SensitiveOutput(c.tool.Spec) {
		return nil
	}
	known := tools.Values{Args: c.values.Args, Text: c.values.Text, FinalText: c.values.FinalText, Outputs: outputs}
	c.progress.Lock()
	prepared := c.prepared
	c.progress.Unlock()
	return known.Secrets(c.tool, c.record.Input, prepared)
}

// publish passes a piece on, after the latest entry of its call and before the next.
func (c *call) publish(piece *live.Piece) {
	c.tell(c.trail.Last(), piece)
	if piece.Record {
		c.transition(runtime.EventOutput, runtime.StateExecuting, &note{At: c.clock(), Live: new(piece.Counts), Output: int(piece.Bytes), Dropped: int(piece.Dropped)})
	}
}

// publish passes a piece on. The counts of an undo are not recorded: tool.output is no event of a call that has ended.
func (u *undoOwner) publish(piece *live.Piece) { u.tell(u.of.trail.Last(), piece) }

func (c *ident) tell(after uint64, piece *live.Piece) {
	if c.exec.live != nil && !piece.Silent {
		c.exec.live(pieceOf(c, after, piece))
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

// processStarted records that a process is about to run.
func (c *call) processStarted(of *journal.Process) error {
	if c.exec.log.On() {
		c.addProcess(journal.KindProcessStarted, of)
		if err := c.trail.Flush(); err != nil {
			return err
		}
	}
	c.begin()
	return nil
}

// addProcess adds an entry about a process to those of its call.
func (c *call) addProcess(kind string, of *journal.Process) {
	r := newRecord(&c.ident, kind, c.clock())
	r.Process = of
	c.progress.Lock()
	defer c.progress.Unlock()
	c.trail.Add(&r, nil)
}

// processStale records that the watcher of a process fell silent.
func (c *call) processStale() {
	c.transition(runtime.EventStale, c.progress.State(), &note{At: c.clock()})
}

// processEnded keeps what a process wrote whose call has not its output (SEMANTICS 6.6.9).
func (c *call) processEnded(of *journal.Process, exit *process.Exit) {
	switch known := c.tool != nil && c.values.Args != nil; { // sensitive values that are not known cannot be hidden
	case !c.exec.log.On():
		c.exec.processes.Unspool(of.ID.Mark) // no recovery will read it
	case exit != nil && c.exec.artifacts != nil && known:
		var err error
		if of.Kept, err = c.exec.processes.Keep(c.exec.artifacts, c.tool.Spec, c.hidden(), exit); err != nil {
			c.exec.report(c.newFault(runtime.ReasonNone, err))
		}
	}
}
