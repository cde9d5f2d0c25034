package isolate

import (
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// Options configure a Runner. The zero value is fit for use.
type Options struct {
	// Folder is where the private folders of processes are made, os.TempDir when empty. No
	// command may reach it.
	Folder string

	// WithoutNamespaces builds every box as on a host that gives none.
	WithoutNamespaces bool
}

// A Runner starts processes in boxes of this program. It is safe for concurrent use.
type Runner struct {
	folder string
	plain  bool
	host   func() *Host // what this host can build, found by the first call

	// seconds counts the patience with a box; its second result ends it.
	seconds func() (<-chan time.Time, func())
}

var _ process.Runner = (*Runner)(nil)

// New returns a runner. It fails in a program that did not begin with Enter.
func New(o Options) (*Runner, error) {
	if err := checkEntered(); err != nil {
		return nil, err
	}
	folder := o.Folder
	if folder == "" {
		folder = os.TempDir()
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("isolate: %w", err)
	}
	if folder, err = filepath.EvalSymlinks(folder); err != nil {
		return nil, fmt.Errorf("isolate: the folder for private folders: %w", err)
	}
	r := &Runner{folder: folder, plain: o.WithoutNamespaces, seconds: wallSeconds}
	r.host = sync.OnceValue(r.examine)
	return r, nil
}

// wallSeconds ticks once a second. A tick that comes late comes once.
func wallSeconds() (<-chan time.Time, func()) {
	t := time.NewTicker(time.Second)
	return t.C, t.Stop
}

// A Host is what a self-test found out about a host. The self-test builds a box and attacks
// from inside it: it reads and writes a file, connects, and signals the agent.
type Host struct {
	System     string `json:"system"`
	Landlock   int    `json:"landlock"` // its version; 0: none
	Root       bool   `json:"root"`
	Sandbox    bool   `json:"sandbox"`
	Namespaces bool   `json:"namespaces"`
	// WhyNot says what a sandbox, or its namespaces, failed by.
	WhyNot string `json:"why_not,omitempty"`
}

// Host returns what this host can build. The first call runs the self-test, some 30 ms.
func (r *Runner) Host() Host { return *r.host() }

// Enforces implements process.Runner.
func (r *Runner) Enforces(spec *process.Spec) (process.Enforcement, error) {
	if err := r.reach(spec).Check(); err != nil {
		return process.Enforcement{}, err
	}
	host := r.host()
	if spec.Tier == runtime.TierSandbox && !host.Sandbox {
		return Levels(*host, spec), fmt.Errorf("isolate: this host cannot build the tier sandbox: %s: use another host, or `isolation: process` for a tool that needs no box", host.WhyNot)
	}
	levels := Levels(*host, spec)
	if spec.Network == runtime.NetworkLoopback {
		if l := levels.Of(runtime.LimitLoopback); l.Level == runtime.LevelRefused {
			return levels, fmt.Errorf("isolate: network: loopback is refused here: %s", l.Note)
		}
	}
	return levels, levels.Holds(spec)
}

// reach is a spec with what every box of its tier reads, and with the folder of the private folders
// of others, which none may reach.
func (r *Runner) reach(spec *process.Spec) *process.Spec {
	s := *spec
	s.Protected = append(slices.Clone(spec.Protected), r.folder)
	if spec.Tier == runtime.TierSandbox {
		s.Reads = slices.Concat(spec.Reads, readable)
	}
	return &s
}

// Levels says what a host makes of each limit of a spec.
func Levels(h Host, spec *process.Spec) process.Enforcement {
	e := process.Enforcement{Tier: spec.Tier, Namespaces: spec.Tier == runtime.TierSandbox && h.Namespaces}
	for _, name := range runtime.LimitNames() {
		level, note := levelOf(h, spec, name)
		e.Limits = append(e.Limits, process.LimitLevel{Name: name, Level: level, Note: note})
	}
	return e
}

// The reasons why a level is not a stronger one.
const (
	noteTree    = "RLIMIT_DATA holds each process; the sum of the tree is looked at 20 times a second"
	noteShared  = noteTree + "; memory whose descriptor waits in a socket is not seen"
	noteTreeCPU = "RLIMIT_CPU holds each process; the sum of the tree is looked at 20 times a second"
	noteRoot    = "the kernel does not limit the processes of root: they are counted 20 times a second"
	noteNoSpace = "needs user namespaces, which this host does not give"
	noteNoBox   = "the tier process has no box"
	noteNoLinux = "only Linux can"
)

func levelOf(h Host, spec *process.Spec, name runtime.LimitName) (runtime.Level, string) {
	if h.System != "linux" {
		return elsewhere(h, spec, name)
	}
	box := spec.Tier == runtime.TierSandbox
	spaces := box && h.Namespaces
	switch name {
	case runtime.LimitMemory:
		if spec.Limits.SharedMemory {
			return runtime.LevelWatched, noteShared
		}
		return runtime.LevelWatched, noteTree
	case runtime.LimitCPU:
		return runtime.LevelWatched, noteTreeCPU
	case runtime.LimitProcesses:
		switch {
		case !spaces:
			return runtime.LevelWatched, "RLIMIT_NPROC would count all processes of the user: those of the tree are counted 20 times a second"
		case h.Root:
			return runtime.LevelWatched, noteRoot
		}
	case runtime.LimitScratch:
		if !spaces {
			return runtime.LevelWatched, "the private folder is on a disk: it is looked at once a second"
		}
	case runtime.LimitTreeKill:
		if !spaces {
			return runtime.LevelAdvisory, "a descendant that cleared its environment outlives a kill -9 of the shim"
		}
	case runtime.LimitFile, runtime.LimitFiles, runtime.LimitOutput:
	case runtime.LimitLoopback:
		switch {
		case !box:
			return runtime.LevelRefused, noteNoBox
		case !spaces:
			return runtime.LevelRefused, noteNoSpace
		}
	default:
		if !box {
			return runtime.LevelAdvisory, noteNoBox
		}
		if !h.Sandbox {
			return runtime.LevelRefused, h.WhyNot
		}
	}
	return runtime.LevelEnforced, ""
}

// elsewhere is levelOf on systems that are not Linux.
func elsewhere(h Host, spec *process.Spec, name runtime.LimitName) (runtime.Level, string) {
	if spec.Tier == runtime.TierSandbox || h.System != "darwin" {
		return runtime.LevelRefused, noteNoLinux
	}
	switch name {
	case runtime.LimitCPU:
		return runtime.LevelAdvisory, "RLIMIT_CPU holds each process, and the tree has no bound"
	case runtime.LimitFile, runtime.LimitFiles, runtime.LimitOutput:
		return runtime.LevelEnforced, ""
	case runtime.LimitTreeKill:
		return runtime.LevelAdvisory, "the process group is ended; a process that left it lives on"
	case runtime.LimitLoopback:
		return runtime.LevelRefused, noteNoLinux
	}
	return runtime.LevelAdvisory, noteNoBox
}

func thisHost() *Host { return &Host{System: goruntime.GOOS, Root: os.Getuid() == 0} }
