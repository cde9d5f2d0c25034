//go:build linux || darwin

package isolate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/scratch"
	"github.com/ambit-tools/ambit/runtime/command/isolate/internal/sock"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// patience is how many seconds a box may be silent before it counts as stale, as the agent counts
// them: it counts none while it is stopped itself.
const patience = 60

// A run is one box, seen by the agent.
type run struct {
	runner  *Runner
	job     *process.Job
	levels  process.Enforcement
	control *os.File // a socket
	reports chan report
	exit    *process.Exit
	started bool
	errOut  error
}

// Run implements process.Runner.
func (r *Runner) Run(ctx context.Context, job *process.Job) (*process.Exit, error) {
	levels, err := r.Enforces(job.Spec)
	if err != nil {
		return nil, err
	}
	if err := r.lacks(job.Spec, levels); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("isolate: %w", context.Cause(ctx))
	}
	program, err := job.Program.Open()
	if err != nil {
		return nil, err
	}
	defer program.Close()
	return r.run(ctx, job, program, levels)
}

// run builds a box without asking whether its limits hold: the self-test uses it, too.
func (r *Runner) run(ctx context.Context, job *process.Job, program *os.File, levels process.Enforcement) (_ *process.Exit, err error) {
	if err := present(job, r.folder); err != nil {
		return nil, err
	}
	private, err := os.MkdirTemp(r.folder, "ambit-box-")
	if err != nil {
		return nil, cannot("private folder", err)
	}
	defer func() { err = errors.Join(err, scratch.Remove(private)) }()
	ours, theirs, err := sock.Pair()
	if err != nil {
		return nil, cannot("socket", err)
	}
	defer ours.Close()

	u := &run{runner: r, job: job, levels: levels, control: ours, reports: make(chan report, 8), exit: &process.Exit{Levels: levels}}
	input, err := feed(job.Stdin)
	if err != nil {
		theirs.Close()
		return nil, cannot("input", err)
	}
	cmd, streams := u.command(input, program, theirs)
	defer streams.Close()
	err = cmd.Start()
	theirs.Close()
	input.Close()
	if err != nil {
		return nil, cannot("shim", err)
	}
	go u.listen()
	seconds, stop := r.seconds()
	err = u.follow(ctx, r.describe(job, levels, private), cmd.Process.Pid, seconds)
	stop()
	ours.Close() // what is left in the box ends with it
	u.settle(ctx, cmd)
	u.exit.Stdout, u.exit.Stderr = streams.Kept()
	if err != nil {
		return nil, err
	}
	return u.exit, u.errOut
}

// present is an error where a folder of a job is missing, or that of the private folders.
func present(job *process.Job, folder string) error {
	for _, dir := range append([]string{job.Dir, folder}, job.Spec.Caches...) {
		if info, err := os.Stat(dir); dir != "" && (err != nil || !info.IsDir()) {
			return fmt.Errorf("isolate: %w: the folder %s is missing", process.ErrResources, dir)
		}
	}
	return nil
}

// cannot is the error of a step before the program runs.
func cannot(what string, err error) error {
	if exhausted(err) {
		return fmt.Errorf("isolate: %w: %s: %w", process.ErrResources, what, err)
	}
	return fmt.Errorf("isolate: %s: %w", what, err)
}

// feed returns the file that a program reads its input from. Its end does not wait for a reader
// that blocks, as that of exec.Cmd would.
func feed(input io.Reader) (*os.File, error) {
	if input == nil {
		return os.Open(os.DevNull)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	go func() {
		_, _ = io.Copy(write, input) // fails when the program has ended
		write.Close()
	}()
	return read, nil
}

// command is the shim.
func (u *run) command(input, program, control *os.File) (*exec.Cmd, *process.Streams) {
	s := process.NewStreams(u.job)
	cmd := exec.Command(self)
	cmd.Args = []string{rolePlain}
	if u.levels.Namespaces {
		cmd.Args = []string{roleShim}
	}
	cmd.Env, cmd.Stdin, cmd.ExtraFiles = ownEnv, input, []*os.File{control, program}
	cmd.Stdout, cmd.Stderr = s.Writer(process.Stdout), s.Writer(process.Stderr)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Setsid would be a scheduling group of its own
	cmd.WaitDelay = 2 * time.Second
	return cmd, s
}

// listen reads the reports of a box until its end.
func (u *run) listen() {
	defer close(u.reports)
	for from := json.NewDecoder(u.control); ; {
		var rep report
		if from.Decode(&rep) != nil {
			return
		}
		u.reports <- rep
	}
}

// follow takes a box from its start to its end. An error means that the program did not run,
// but for ErrLost.
func (u *run) follow(ctx context.Context, b *box, shim int, seconds <-chan time.Time) error {
	done := ctx.Done()
	var grace, hard <-chan time.Time
	end := func() { // init ends everything, and reports
		_ = sock.CloseWrite(u.control)
		grace, hard = nil, time.After(5*time.Second)
	}
	silence := 0 // seconds
	for {
		select {
		case rep, more := <-u.reports:
			if !more {
				return u.silent(shim)
			}
			silence = 0
			if last, err := u.hear(ctx, rep, b, shim); last || err != nil {
				return err
			}
		case <-done:
			u.exit.Cause, done = process.Ended, nil
			if !u.started || context.Cause(ctx) == process.ErrNow || u.job.Grace <= 0 {
				end()
				continue
			}
			grace = time.After(u.job.Grace)
			say(u.control, order{Term: true})
		case <-grace:
			end()
		case <-hard:
			u.control.Close()
		case <-seconds:
			if silence++; silence < patience {
				continue
			}
			if !u.started {
				return fmt.Errorf("isolate: the shim %d was silent for a minute before the program ran", shim)
			}
			u.exit.Cause, u.exit.Code, u.exit.Signal = process.Stale, -1, "SIGKILL"
			return nil
		}
	}
}

// hear takes a report, and says whether it is the last one.
func (u *run) hear(ctx context.Context, rep report, b *box, shim int) (last bool, err error) {
	switch rep.Event {
	case eventReady:
		if u.exit.ID, err = identify(rep.PID, u.job.Mark); err != nil {
			return true, err
		}
		if u.job.Started != nil {
			if err := u.job.Started(ctx, u.exit.ID); err != nil {
				return true, fmt.Errorf("%w: %w", process.ErrStarted, err)
			}
		}
		if ctx.Err() != nil {
			return true, fmt.Errorf("isolate: %w", context.Cause(ctx))
		}
		say(u.control, order{Box: b})
		u.started = true
	case eventFailed:
		if rep.Lacks {
			return true, fmt.Errorf("isolate: %w: %s", process.ErrResources, rep.Why)
		}
		return true, fmt.Errorf("isolate: the program did not run: %s", rep.Why)
	case eventBeat:
		if u.job.Beat != nil {
			u.job.Beat(rep.Usage)
		}
	case eventExited:
		u.exit.Code, u.exit.Signal, u.exit.Usage = rep.Code, rep.Signal, rep.Usage
		if rep.Limit != "" && u.exit.Cause == process.Exited {
			u.exit.Cause, u.exit.Limit = process.LimitReached, rep.Limit
		}
		return true, nil
	}
	return false, nil
}

// silent is the end of a box that did not report one.
func (u *run) silent(shim int) error {
	switch {
	case u.exit.Cause == process.Ended && u.started:
		u.exit.Code, u.exit.Signal = -1, "SIGKILL"
		return nil
	case u.exit.Cause == process.Ended:
		return fmt.Errorf("isolate: ended before the program ran: %w", context.Canceled)
	case !u.started:
		return fmt.Errorf("isolate: the shim %d ended before the program ran", shim)
	}
	u.errOut = fmt.Errorf("%w: init or its shim was killed", process.ErrLost)
	u.exit.Cause, u.exit.Code = process.Lost, -1
	return nil
}

// settle returns when the shim has ended, and with it the box.
func (u *run) settle(ctx context.Context, cmd *exec.Cmd) {
	var over atomic.Bool
	patience := 5 * time.Second
	if u.exit.Cause == process.Stale {
		patience = 0
	}
	hang := time.AfterFunc(patience, func() { // it does not listen any more
		if !over.Load() {
			_ = u.runner.Kill(context.WithoutCancel(ctx), u.exit.ID)
			_ = cmd.Process.Kill()
		}
	})
	_ = cmd.Wait() // its exit code says nothing that the reports do not
	over.Store(true)
	hang.Stop()
	if u.errOut != nil && !u.levels.Namespaces { // the shim was killed: what it watched may live on
		u.errOut = errors.Join(u.errOut, u.runner.Kill(context.WithoutCancel(ctx), u.exit.ID))
	}
}
