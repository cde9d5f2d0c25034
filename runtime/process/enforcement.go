package process

import (
	"errors"
	"fmt"
	"slices"
)

// A Level says how well a limit holds.
type Level uint8

// The levels, the strongest first.
const (
	Enforced Level = iota // the kernel refuses what exceeds it
	Watched               // a watcher ends the processes when it sees them exceed it, within 50 ms
	Advisory              // nothing holds it
	Refused               // a spec that needs it does not run on this host
)

var levels = []string{"enforced", "watched", "advisory", "refused"}

// String returns the name of a level in a declaration.
func (l Level) String() string {
	if int(l) < len(levels) {
		return levels[l]
	}
	return fmt.Sprintf("Level(%d)", l)
}

// A LimitName names something that a runner holds a process to.
type LimitName string

// What runners hold processes to. The first group are the limits of a declaration.
const (
	Memory    LimitName = "memory"
	Processes LimitName = "processes"
	CPU       LimitName = "cpu"
	File      LimitName = "file"
	Scratch   LimitName = "scratch"
	Files     LimitName = "files"
	OutputCap LimitName = "output"

	TreeKill     LimitName = "tree_kill"     // no process outlives the job, even when its watcher is killed
	FileAccess   LimitName = "file_access"   // what is read, written and changed
	NoNetworking LimitName = "no_network"    // no connection to anything
	LoopbackOnly LimitName = "loopback"      // connections within the box
	OtherProcs   LimitName = "signals"       // no signal to, and no look into, other processes
	KernelCalls  LimitName = "kernel"        // system calls that change the host are refused
	SharedMem    LimitName = "shared_memory" // none that outlives the job
)

// LimitNames returns what runners hold processes to, in the order of the documentation.
func LimitNames() []LimitName {
	return []LimitName{
		Memory, Processes, CPU, File, Scratch, Files, OutputCap,
		TreeKill, FileAccess, NoNetworking, LoopbackOnly, OtherProcs, KernelCalls, SharedMem,
	}
}

// An Enforcement is what a runner makes of a spec on this host.
type Enforcement struct {
	Tier       Tier         `json:"tier"`
	Namespaces bool         `json:"namespaces"` // the box has some of its own
	Limits     []LimitLevel `json:"limits"`
}

// A LimitLevel is the level of one limit, and why it is not a stronger one.
type LimitLevel struct {
	Name  LimitName `json:"name"`
	Level Level     `json:"level"`
	Note  string    `json:"note,omitempty"`
}

// MarshalText implements encoding.TextMarshaler.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// MarshalText implements encoding.TextMarshaler.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Of returns the level of a limit. A limit that the enforcement does not name is refused.
func (e Enforcement) Of(name LimitName) LimitLevel {
	for _, l := range e.Limits {
		if l.Name == name {
			return l
		}
	}
	return LimitLevel{Name: name, Level: Refused, Note: "this runner does not know it"}
}

// Holds is nil when each limit that a spec names is held at the level that the spec accepts.
func (e Enforcement) Holds(spec *Spec) error {
	var all []error
	names := make([]LimitName, 0, len(spec.Accepts))
	for name := range spec.Accepts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if is, want := e.Of(name), spec.Accepts[name]; is.Level > want {
			all = append(all, fmt.Errorf("process: the limit %s is %s here and the declaration takes no less than %s (%s): declare `enforcement: %s`, or change the tier or the host",
				name, is.Level, want, is.Note, is.Level))
		}
	}
	return errors.Join(all...)
}
