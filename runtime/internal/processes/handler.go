package processes

import (
	"context"
	"errors"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/callctx"
	"github.com/ambit-tools/ambit/runtime/internal/outcomes"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Recorder is the attempt that a process runs for. The engine puts it into the context of a handler,
// under callctx.Key.
type Recorder interface {
	// Info describes the call.
	Info() callctx.Info

	// ProcessStarts records a process and returns when that is durable.
	ProcessStarts(context.Context, *journal.Process) error

	// ProcessEnded takes the end of a process, for the entry of the call that follows. Once that is durable it ends
	// the spool. The exit has what the process wrote, nil where that is the output of the call.
	ProcessEnded(*journal.Process, *process.Exit)
}

// A Teller is the attempt that a process runs for, as what tells what the process writes while it runs.
type Teller interface {
	// ProcessKeeps takes what returns the head and the tail that are kept, before the process writes. At
	// most so many bytes of each stream are told.
	ProcessKeeps(kept func() (stdout, stderr process.Output), most int64)

	// ProcessWrites takes a chunk.
	ProcessWrites(*process.Chunk)
}

var errNoAttempt = errors.New("a command runs in a call of an executor")

// handle is the handler of a tool that is a command: it runs one process and returns when nothing is left
// of it. What it wrote is kept where that is not the output of the call (SEMANTICS 6.6.9).
func (c *Command) handle(ctx context.Context, in wire.Value) (wire.Value, error) {
	at, inCall := ctx.Value(callctx.Key{}).(Recorder)
	p, planned := in.(*runtime.PlannedInput)
	if !inCall || !planned {
		return nil, errNoAttempt
	}
	info := at.Info()
	a := &Attempt{Session: info.Session, Call: info.ID, Number: info.Attempt, Input: in, Argv: p.Plan.Argv, Due: info.Deadline, Started: at.ProcessStarts}
	if to, tells := at.(Teller); tells {
		a.Kept = func(kept func() (stdout, stderr process.Output)) { to.ProcessKeeps(kept, c.spec.Limits.Output) }
		a.Output = func(chunk process.Chunk) { to.ProcessWrites(&chunk) }
	}
	res, err := c.Run(ctx, a)
	switch {
	case res.Process == nil:
	case err != nil:
		at.ProcessEnded(res.Process, &process.Exit{Stdout: res.Stdout, Stderr: res.Stderr})
	default:
		at.ProcessEnded(res.Process, nil)
	}
	return res.Output, err
}

// notRun is the error of a stand-in for a command.
type notRun struct{ error }

// NotRun returns the error by which a stand-in for a command is denied for a reason, as a command whose
// program did not run; nil where no command is denied for it then.
func NotRun(reason runtime.Reason) error {
	switch reason {
	case runtime.ReasonAtCapacity:
		return notRun{&process.LackError{}}
	case runtime.ReasonProgramChanged:
		return notRun{process.ErrProgramChanged}
	}
	return nil
}

// Refused returns the outcome of a call whose program did not run in its only attempt, nil where err
// says something else, or the tool has a handler: the call is denied, and nothing was done.
func (s *Set) Refused(t *tools.Tool, err error) *runtime.Outcome {
	if recorded, ok := err.(notRun); ok { // no errors.As: the methods of an error of a handler may hang
		err = recorded.error
	} else if s.Of(t.Index) == nil {
		return nil
	}
	tool := t.Spec.Name
	var lack *process.LackError
	var out runtime.Outcome
	switch {
	case errors.Is(err, process.ErrProgramChanged):
		out = outcomes.ProgramChanged(tool)
	case errors.Is(err, process.ErrStarted):
		out = outcomes.JournalUnavailable()
	case errors.As(err, &lack):
		out = outcomes.NoRoom(tool, string(lack.What), roomDelay)
	default:
		return nil
	}
	return &out
}

// Complete completes the outcome of a call that a process failed: the reason, what the model reads, and
// whether the process was ended and may have taken effect.
func (f *Failure) Complete(out *runtime.Outcome, retryable bool) {
	out.Reason, out.Violations, out.Detail.Killed = f.Reason, f.Violations, f.Killed
	switch f.Reason {
	case runtime.ReasonDeadline: // the exit says that it took too long
		out.Kind, out.Retryable = runtime.TimedOut, retryable
	case runtime.ReasonInvalidOutput:
		out.Message = "the tool returned an invalid output"
	case runtime.ReasonOutputTooLarge:
		out.Message = f.Text
	}
}
