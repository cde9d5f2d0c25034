package engine

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/internal/commands"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// ErrCommandKnown says that a command was imported before and is not executed again. Compare with errors.Is.
var ErrCommandKnown = commands.ErrKnown

// ExecuteOnce executes a command of another process, at most once per nonce. by is the id of the
// principal or approver who gave the command. That the command was imported is durable before do is
// called, and the result of do is durable before ExecuteOnce returns.
//
// A command that was imported before is refused with ErrCommandKnown. When a crash interrupted that
// execution, its result is interrupted, and the entries of the journal about its call say how far
// it came. Any other error says that the journal cannot be written: execute the command again after
// a restart, and ExecuteOnce says whether this one was recorded.
//
// Without a journal (WithJournal) the executor keeps the nonces only in memory.
func (e *Executor) ExecuteOnce(
	ctx context.Context, c *journal.Command, by string, do func(context.Context) journal.CommandResult,
) (res journal.CommandResult, err error) {
	if e == nil || e.engine == nil {
		return res, errors.New("only an executor made by NewExecutor can import a command")
	}
	if e.approvals.Closed().Fired() {
		return res, errors.New("the executor is shutting down: it imports no command any more")
	}
	return e.seen.Do(deadline.OrBackground(ctx), c, by, string(action.CodeInterrupted), do)
}
