// Package processes runs the commands that tools declare: processes in place of handlers. It finds their
// programs when an executor starts, makes the arguments of a call, starts its process by a Runner,
// and reads what the process wrote as the output of the tool. It knows no call: what depends on one is
// an argument.
package processes

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/bind"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/spool"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
)

// The defaults of commands (SEMANTICS section 8).
const (
	DefaultGrace     = 2 * time.Second // between SIGTERM and SIGKILL
	DefaultProcesses = 5               // at once, of all tools of an executor (SEMANTICS 8.1)
	maxGrace         = 4 * time.Second // a handler that is late is given up after 5 s
)

// A Config is what commands get from the host.
type Config struct {
	Runner    process.Runner
	Workspace string                           // an absolute folder that commands read; empty: none
	Protected []string                         // paths that no command may reach, such as the store
	Caches    string                           // the folder in which each tool has one for its caches; empty: none
	Spool     string                           // the folder for what processes write, until their end is recorded; empty: it is lost with the agent
	Variable  func(name string) (string, bool) // of the host, such as os.LookupEnv
	Processes int                              // how many run at once; 0: DefaultProcesses
}

// A Set has the commands of an executor, and their processes that run. It is safe for concurrent use.
type Set struct {
	runner   process.Runner
	sched    *sched.Scheduler
	slots    sched.Slots
	commands []*Command
	spool    spool.Folder    // empty: none
	left     map[string]bool // marks of processes of earlier executors whose spools recovery removes

	mu   sync.Mutex
	live map[string]*running             // by the key of a call
	used map[string]runtime.ProcessUsage // by tool, of processes that have ended
}

// A Command is what one tool runs, as the host has it.
type Command struct {
	Levels process.Enforcement // what this host makes of its limits

	set      *Set
	tool     *tools.Tool
	declared *runtime.Command
	code     *bind.Command
	spec     *process.Spec
	program  *process.Program
	env      []string // NAME=value
	dir      string   // absolute; empty: the private folder
	grace    time.Duration
	changed  atomic.Bool // the program was not what it was, when it was looked at last
}

// Of returns the command of the tool at a position of the registry; nil: the tool has a handler.
func (s *Set) Of(index int) *Command {
	if s == nil || index >= len(s.commands) {
		return nil
	}
	return s.commands[index]
}

// Slots returns the queue of all processes, for a tool that starts one: a slot is taken before a process
// starts, and released when nothing is left of it. It is nil for a tool that has a handler.
func (s *Set) Slots(tool int) *sched.Slots {
	if s.Of(tool) == nil {
		return nil
	}
	return &s.slots
}

// SetLimit changes how many processes run at once, to at least one.
func (s *Set) SetLimit(n int) { s.slots.SetLimit(n, s.sched) }

var errNoRunner = errors.New("the executor has no runner of processes")

// Kill ends a process that an earlier executor recorded. It is nil when nothing of it is left.
func (s *Set) Kill(ctx context.Context, id runtime.ProcessID) error {
	if s.runner == nil {
		return errNoRunner
	}
	return s.runner.Kill(ctx, id) //nolint:wrapcheck // it names the process
}

// Changed reports whether the program of a tool is not the one that was found at start (SEMANTICS 3.5.8).
// It looks at the file: the caller holds no lock.
func (s *Set) Changed(tool int) bool {
	c := s.Of(tool)
	return c != nil && unlike(c.Changed())
}

// unlike says whether an error of Changed is about the program.
func unlike(err error) bool { return err != nil && !errors.Is(err, process.ErrResources) }

// Changed is process.ErrProgramChanged when the program is not the one that was found at start, and
// process.ErrResources when the host could not look.
func (c *Command) Changed() error {
	f, err := c.program.Open()
	if errors.Is(err, process.ErrResources) { // whether it has changed is seen when it starts
		return err
	}
	c.changed.Store(err != nil)
	if err != nil {
		return err
	}
	return f.Close()
}

// exit returns what an exit of the process means, and whether the call may be repeated for it.
func (c *Command) exit(e *process.Exit) (runtime.ExitCategory, bool) {
	table, retry := process.Exits{}, map[int]bool{}
	for _, x := range c.declared.Exits {
		table[x.Code], retry[x.Code] = x.Category, x.Retryable
	}
	category := table.Of(e)
	listed := e.Cause == process.Exited && e.Signal == ""
	if _, declared := table[e.Code]; listed && declared {
		return category, retry[e.Code]
	}
	return category, category == runtime.ExitResourceExhausted
}

// mayHaveTakenEffect says whether a process that was ended may have done what it was to do.
func (c *Command) mayHaveTakenEffect(e *process.Exit) bool {
	return e.Killed() && c.tool.Spec.Effect != runtime.SideEffectRead
}
