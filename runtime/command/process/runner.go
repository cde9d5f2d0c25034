package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// A Runner starts processes and ends them. Its methods are safe for concurrent use.
type Runner interface {
	// Enforces says what the runner makes of each limit of a spec on this host. The error names
	// what the host cannot give, and the remedy; then Run refuses the spec, too.
	Enforces(spec *Spec) (Enforcement, error)

	// Run starts a job and returns when nothing of it is left: no process, and no folder that
	// the runner made for it.
	//
	// When ctx ends, all processes of the job get SIGTERM, and SIGKILL when Job.Grace is over.
	// With the cause ErrNow they get SIGKILL at once. That is an end as any other: Run returns
	// an Exit that says so, and no error.
	//
	// An error means that the program did not run, unless it is an ErrLost, with which an Exit
	// comes that has what is known. It is a *LackError where the host has not enough memory,
	// processes or disk left for the limits of the spec, and an ErrResources where a folder of
	// the job is missing or the host ran out of something while the job was started.
	Run(ctx context.Context, job *Job) (*Exit, error)

	// Kill ends what an earlier process of the executor started and recorded. It is nil when
	// nothing of it is left, also where nothing was. A process that has taken over the pid of
	// the recorded one is not touched.
	Kill(ctx context.Context, id runtime.ProcessID) error
}

// ErrNow is the cause of a context that ends a job without a SIGTERM and its grace.
var ErrNow = errors.New("process: ended at once")

// ErrLost is the error of a job that ran and of whose end the runner knows nothing, because
// something else ended the processes that watched it.
var ErrLost = errors.New("process: the end of the process is not known")

// ErrResources is the error of a job that could not be started with what the host has. The program
// did not run.
var ErrResources = errors.New("process: the host has not what the start of the process needs")

// ErrStarted is the error of a job whose Started failed. The program did not run.
var ErrStarted = errors.New("process: the start was not recorded, so the program did not run")

// A Job is one process that is to run.
type Job struct {
	Spec    *Spec
	Program *Program
	Argv    []string      // with the name of the program as the first element
	Env     []string      // complete, as NAME=value: nothing is inherited
	Dir     string        // absolute; empty: the private folder
	Stdin   io.Reader     // Run does not wait for one that blocks
	Mark    string        // names the call, for Kill; it reaches the process as AMBIT_CALL
	Grace   time.Duration // between SIGTERM and SIGKILL

	// Started is called once before the program runs and must return nil when its argument is
	// recorded durably. The program does not run when it fails. Nil stands for a function that
	// returns nil.
	Started func(ctx context.Context, id runtime.ProcessID) error

	// Output is called with what the process writes, one call at a time, in order for each
	// stream. The process does not wait for it: what comes while Output is slow is dropped, and
	// Chunk.Offset shows the gap. It may be nil.
	Output func(Chunk)

	// Spool is called with all that the process writes, before it is kept: one call at a time for each
	// stream. The process waits for it. It may be nil.
	Spool func(Stream, []byte)

	// Kept is called once, before the program runs, with a function that returns the head and the tail of
	// what the process has written so far. It may be nil.
	Kept func(func() (stdout, stderr Output))

	// Beat is called about once a second while the process runs. It may be nil.
	Beat func(runtime.ProcessUsage)
}

// A Stream is one of the two outputs of a process.
type Stream uint8

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

// String returns stdout or stderr.
func (s Stream) String() string {
	if s == Stderr {
		return "stderr"
	}
	return "stdout"
}

// A Chunk is a part of a stream.
type Chunk struct {
	Stream Stream
	Offset int64 // of Data in the stream, in bytes
	Data   []byte
}

// An Exit is how a job ended.
type Exit struct {
	Code   int    // -1 where a signal ended the process
	Signal string // SIGKILL and the like; empty when the process exited
	Cause  Cause
	Limit  runtime.LimitName // the limit that ended it, where Cause is LimitReached
	Usage  runtime.ProcessUsage
	Stdout Output
	Stderr Output
	ID     runtime.ProcessID
	Levels Enforcement
}

// A Cause says what ended a process.
type Cause uint8

// The causes.
const (
	Exited       Cause = iota // the process itself, or a signal that the runner did not send
	Ended                     // the end of the context of Run
	LimitReached              // Exit.Limit
	Stale                     // the watcher of the box was silent for a minute
	Lost                      // the processes that watched it were killed
)

// String returns the name of a cause.
func (c Cause) String() string {
	if int(c) < len(causes) {
		return causes[c]
	}
	return fmt.Sprintf("Cause(%d)", c)
}

var causes = []string{"exited", "ended", "limit_reached", "stale", "lost"}

// A LackError says what the host has too little of to start a job. Nothing ran.
type LackError struct {
	What       runtime.LimitName
	Need, Have int64 // bytes, or processes
}

// Error implements error.
func (e *LackError) Error() string {
	return fmt.Sprintf("process: the limit of %s is %d and the host has %d left: wait, or lower the limit", e.What, e.Need, e.Have)
}
