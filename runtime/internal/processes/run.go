package processes

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// roomDelay is after what time a host is asked again for the room that a process needs.
const roomDelay = time.Second

// An Attempt is one process that is to run for a call.
type Attempt struct {
	Session, Call string
	Number        int // of the attempt
	Input         wire.Value
	Argv          []string // of its Invocation
	Due           time.Time

	// Started is called before the program runs and must return nil when its argument is durable in
	// the journal. The program does not run when it fails.
	Started func(context.Context, *journal.Process) error

	// Output and Kept are those of process.Job. They may be nil.
	Output func(process.Chunk)
	Kept   func(func() (stdout, stderr process.Output))
}

// A Result is what came of a process.
type Result struct {
	Output  wire.Value       // nil when there is an error
	Process *journal.Process // its ID and its exit; nil: the program did not run
	Stdout  process.Output   // what is kept
	Stderr  process.Output
}

// Run runs a process and returns when nothing of it is left. The end of ctx ends it, after the grace of
// the command (SEMANTICS 6.1.8). What is known of it while it runs is no secret (SEMANTICS 6.13.3).
//
// The error is a *Failure, in the marks of package errmark: Public, with the category as its code,
// and Transient where the call may be repeated. Where the program did not run it is
// process.ErrProgramChanged, process.ErrStarted, or a *process.LackError after the host had no
// room until ctx ended; these have no mark.
func (c *Command) Run(ctx context.Context, a *Attempt) (Result, error) {
	r := &running{key: Key(a.Session, a.Call), RunningProcess: runtime.RunningProcess{Session: a.Session, Call: a.Call, Attempt: a.Number, Tool: c.tool.Spec.Name, Due: a.Due}}
	ctx, end := c.set.attempt(ctx, r)
	defer end()
	c.set.enter(r)
	defer c.set.leave(r)
	job := c.job(ctx, a, r)
	defer c.set.spoolTo(job)()
	exit, err := c.runInRoom(ctx, job, a.Due)
	if exit == nil {
		return Result{}, c.notRun(ctx, err)
	}
	c.set.beat(r, exit.Usage)
	category, again := c.exit(exit)
	res := Result{
		Process: &journal.Process{ID: exit.ID, Tier: c.spec.Tier, Exit: exit.Summary(category)},
		Stdout:  exit.Stdout, Stderr: exit.Stderr,
	}
	traceEnd(ctx, res.Process.Exit)
	if category != runtime.ExitOK {
		return res, c.failure(ctx, exit, category, again)
	}
	res.Output, err = c.output(exit)
	return res, err
}

// job returns the job of an attempt. Its mark is random: the id of a call is the text of a model, and
// all descendants of the process have the mark in their environment. A heartbeat is no entry (SEMANTICS 6.13.1).
func (c *Command) job(ctx context.Context, a *Attempt, r *running) *process.Job {
	job := &process.Job{
		Spec: c.spec, Program: c.program, Argv: a.Argv, Env: c.env, Dir: c.dir, Mark: rand.Text(), Grace: c.grace,
		Output: a.Output, Kept: a.Kept, Beat: func(u runtime.ProcessUsage) { c.set.beat(r, u) },
	}
	if c.code.Stdin != nil {
		job.Stdin = io.Reader(strings.NewReader(c.code.Stdin(a.Input)))
	}
	job.Started = func(starting context.Context, id runtime.ProcessID) error {
		c.set.began(r, id, c.set.sched.Now())
		defer r.over() // the program does not run when the attempt has ended meanwhile
		if a.Started != nil {
			if err := a.Started(starting, &journal.Process{
				ID: id, Program: c.program.Path, SHA256: hexOf(c.program.SHA256), Argv: hexOf(process.Digest(a.Argv)),
				Tier: c.spec.Tier, Due: a.Due, Attempt: a.Number,
			}); err != nil {
				return err
			}
		}
		c.set.traceStart(ctx, r)
		return nil
	}
	return job
}

// runInRoom runs a job once the host has what its limits need, and returns the *process.LackError
// when ctx ends before, or the attempt would be over before the host is asked again (SEMANTICS 6.3.10).
func (c *Command) runInRoom(ctx context.Context, job *process.Job, due time.Time) (*process.Exit, error) {
	var lack *process.LackError
	for {
		exit, err := c.set.runner.Run(ctx, job)
		switch {
		case errors.As(err, &lack):
		case exit == nil && lack != nil && ctx.Err() != nil: // it did not begin: ctx ended with the wait
			return nil, lack
		default:
			return exit, err //nolint:wrapcheck // notRun reads it
		}
		if !due.IsZero() && due.Sub(c.set.sched.Now()) <= roomDelay {
			return nil, lack
		}
		if wake := c.set.sched.Sleep(roomDelay, nil, ctx.Done()); wake == sched.Done {
			return nil, lack
		}
	}
}
