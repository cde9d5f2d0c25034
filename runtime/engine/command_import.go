package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Import executes a command of another process, at most once per nonce. The import is durable
// before the command is executed, and the result is durable before Import returns.
//
// A command that was imported before is refused with ErrCommandKnown. When a crash interrupted that
// execution, its result is interrupted, and the entries of the journal about its call say how far
// it came. Any other error says that the journal cannot be written: import the command again after
// a restart, and Import says whether this one was recorded.
//
// Import waits as long as the method that executes the command. After an approval it does not wait
// for the call. Without a journal (WithJournal) the executor keeps the nonces only in memory.
func (e *Executor) Import(ctx context.Context, c Command) (CommandResult, error) {
	if e == nil || e.engine == nil {
		return CommandResult{}, errors.New("only an executor made by NewExecutor can import a command")
	}
	if c.Nonce == "" {
		return CommandResult{}, errors.New("a command without a nonce cannot be imported once only")
	}
	if err := e.log.health(); err != nil {
		return CommandResult{}, fmt.Errorf("the command cannot be recorded: %w", err)
	}
	if e.approvals.closed.Fired() {
		return CommandResult{}, errors.New("the executor is shutting down: it imports no command any more")
	}
	known, interrupted := e.seen.begin(c.Nonce)
	switch {
	case interrupted:
		res := CommandResult{Result: CommandInterrupted}
		return res, errors.Join(ErrCommandKnown, e.noteCommand(&c, &res))
	case known:
		return CommandResult{}, ErrCommandKnown
	}
	if err := e.noteCommand(&c, nil); err != nil {
		return CommandResult{}, err
	}
	res := e.perform(orBackground(ctx), &c)
	return res, e.noteCommand(&c, &res)
}

// noteCommand records that a command is imported, or its result, and returns when that is durable.
func (e *Executor) noteCommand(c *Command, res *CommandResult) error {
	if !e.log.on() {
		return nil
	}
	r := &journal.Record{Kind: journal.KindCommandImported, At: plain(e.sched.Now()), By: c.By, Command: c.recorded()}
	if res != nil {
		r.Kind, r.Command = journal.KindCommandDone, &journal.Command{Nonce: c.Nonce, Kind: c.Kind, Result: res}
	}
	if err := e.log.flushPatiently(e.log.note(r)); err != nil {
		return fmt.Errorf("the command cannot be recorded: %w", err)
	}
	return nil
}

// perform executes a command.
func (e *Executor) perform(ctx context.Context, c *Command) CommandResult {
	rejected := func(why string) CommandResult { return CommandResult{Result: resultRejected, Reason: why} }
	if c.incomplete() {
		return rejected(RejectedIncomplete)
	}
	switch c.Kind {
	case CommandApprove, CommandDeny:
		a, err := c.answer()
		if err != nil {
			return rejected(RejectedBadArguments)
		}
		res, _ := e.resolve(ctx, c.Request, a)
		return answered(&res)
	case CommandRevoke:
		call, err := e.revoke(c.Grant, c.By, c.Reason)
		res := resultOf(err)
		if res.Call = call; res.Done {
			res.Result = consent.Accepted.String()
		}
		return res
	case CommandUndo, CommandCancel, CommandResolve:
	default:
		return rejected(RejectedUnknownKind)
	}
	s := e.sessionOf(c.Session)
	if s == nil {
		return rejected(RejectedUnknownSession)
	}
	res := s.perform(ctx, c)
	res.Session, res.Call = c.Session, c.Call
	return res
}

// perform executes a command about a call or a run of s.
func (s *Session) perform(ctx context.Context, c *Command) CommandResult {
	switch c.Kind {
	case CommandUndo:
		return s.undoCommand(ctx, c)
	case CommandCancel:
		return resultOf(s.Cancel(ctx, c.Call, c.By, c.Reason))
	default:
		return resultOf(s.Resolve(ctx, c.Call, ResolveRequest{TookEffect: c.Happened, By: c.By, Reason: c.Reason}))
	}
}

// undoCommand executes an undo command.
func (s *Session) undoCommand(ctx context.Context, c *Command) CommandResult {
	res, err := s.Undo(ctx, UndoRequest{CallID: c.Call, RunID: c.Run, By: c.By, Reason: c.Reason, DryRun: c.DryRun})
	out := resultOf(err)
	out.Error = detailOf(err)
	out.Undone, out.Failed, out.NotUndoable, out.Reads = res.Undone, res.Failed, res.NotUndoable, res.Reads
	for _, c := range res.Calls {
		result, code := ResultOf(c.Err)
		one := journal.UndoneCall{Call: c.CallID, Tool: c.Tool, Result: result, Reason: string(code), Error: detailOf(c.Err)}
		for _, l := range c.Later {
			one.Later = append(one.Later, journal.LaterCall{Call: l.CallID, Tool: l.Tool, Shares: l.Shares})
		}
		out.Calls = append(out.Calls, one)
	}
	return out
}

// resultOf returns the result of a command whose method returned err.
func resultOf(err error) CommandResult {
	result, code := ResultOf(err)
	return CommandResult{Done: err == nil, Result: result, Reason: string(code)}
}

// detailOf returns the detail of an ActionError.
func detailOf(err error) string {
	if e, ok := errors.AsType[*ActionError](err); ok {
		return e.Detail
	}
	return ""
}

// answered returns the result of a command that was an answer.
func answered(res *Resolution) CommandResult {
	out := CommandResult{
		Done: res.Kind != consent.Rejected, Result: res.Kind.String(), Call: res.Call, Missing: res.Missing,
	}
	if !out.Done {
		out.Reason = res.Reason.String()
	}
	if res.Granted != nil {
		out.Grant = res.Granted.ID
	}
	return out
}

// seenCommands holds the nonces of the commands that were imported.
type seenCommands struct {
	mu    sync.Mutex
	known map[string]bool // by nonce; true: an earlier process began to execute it and recorded no result
}

// begin adds a nonce. It reports whether it was known, and whether a crash interrupted the command.
func (m *seenCommands) begin(nonce string) (known, interrupted bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	interrupted, known = m.known[nonce]
	if m.known == nil {
		m.known = map[string]bool{}
	}
	m.known[nonce] = false
	return known, interrupted
}

// restore sets the nonces to those of earlier processes.
func (m *seenCommands) restore(known map[string]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known = known
}
