package inbox

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// resultRejected is the result of a command for which nothing was tried.
const resultRejected = "rejected"

// Import executes a command, at most once per nonce ([engine.Executor.ExecuteOnce]). The caller must
// have verified that c.By gave the command: an executor cannot. A Server does.
//
// Import waits as long as the method that executes the command. After an approval it does not wait
// for the call.
func Import(ctx context.Context, e *engine.Executor, c Command) (CommandResult, error) {
	return e.ExecuteOnce(ctx, c.recorded(), c.By, func(ctx context.Context) CommandResult { return c.execute(ctx, e) })
}

// execute executes a command.
func (c *Command) execute(ctx context.Context, e *engine.Executor) CommandResult {
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
		return answered(e.Decide(ctx, c.Request, a))
	case CommandRevoke:
		return c.revoke(ctx, e)
	case CommandTokenCreate, CommandTokenRevoke:
		return c.changeTokens(ctx)
	case CommandConsoleOpen:
		return c.openConsole()
	case CommandArchive:
		return c.archive(ctx, e)
	case CommandUndo, CommandCancel, CommandResolve:
	default:
		return rejected(RejectedUnknownKind)
	}
	s, ok := e.FindSession(c.Session)
	if !ok {
		return rejected(RejectedUnknownSession)
	}
	var res CommandResult
	switch c.Kind {
	case CommandUndo:
		res = c.undo(ctx, s)
	case CommandCancel:
		end := e.Cancel
		if c.Now {
			end = e.CancelNow
		}
		res = resultOf(end(ctx, c.Session, c.Call, c.actor(), c.Reason))
	default:
		res = resultOf(s.Resolve(ctx, c.Call, action.ResolveRequest{TookEffect: c.Happened, By: c.actor(), Reason: c.Reason}))
	}
	res.Session, res.Call = c.Session, c.Call
	return res
}

// revoke executes a command to revoke a grant. Its result names the call that the grant comes from.
func (c *Command) revoke(ctx context.Context, e *engine.Executor) CommandResult {
	grants := e.Grants(action.GrantFilter{ID: c.Grant})
	res := resultOf(e.Revoke(ctx, c.Grant, c.actor(), c.Reason))
	if res.Done {
		res.Result = runtime.ResolutionAccepted.String()
	}
	if len(grants) > 0 && res.Reason != string(action.CodeJournalUnavailable) {
		res.Call = grants[0].CallID
	}
	return res
}

// undo executes a command to undo.
func (c *Command) undo(ctx context.Context, s *engine.Session) CommandResult {
	all, err := s.Undo(ctx, action.UndoRequest{CallID: c.Call, RunID: c.Run, By: c.actor(), Reason: c.Reason, DryRun: c.DryRun})
	res := resultOf(err)
	res.Error = detailOf(err)
	res.Undone, res.Failed, res.NotUndoable, res.Reads = all.Undone, all.Failed, all.NotUndoable, all.Reads
	for _, c := range all.Calls {
		result, code := action.ResultOf(c.Err)
		one := journal.UndoneCall{Call: c.CallID, Tool: c.Tool, Result: result, Reason: string(code), Error: detailOf(c.Err)}
		for _, l := range c.Later {
			one.Later = append(one.Later, journal.LaterCall{Call: l.CallID, Tool: l.Tool, Shares: l.Shares})
		}
		res.Calls = append(res.Calls, one)
	}
	return res
}

// resultOf returns the result of a command whose method returned err.
func resultOf(err error) CommandResult {
	result, code := action.ResultOf(err)
	return CommandResult{Done: err == nil, Result: result, Reason: string(code)}
}

// detailOf returns the detail of an action.Error.
func detailOf(err error) string {
	if e, ok := errors.AsType[*action.Error](err); ok {
		return e.Detail
	}
	return ""
}

// answered returns the result of a command that was an answer.
func answered(res action.Resolution) CommandResult {
	out := CommandResult{
		Done: res.Kind != runtime.ResolutionRejected, Result: res.Kind.String(), Call: res.Call, Missing: res.Missing,
		Rewritten: res.Rewritten,
	}
	if !out.Done {
		out.Reason, out.Error = res.Reason.String(), res.Detail
	}
	if res.Granted != nil {
		out.Grant = res.Granted.ID
	}
	return out
}
