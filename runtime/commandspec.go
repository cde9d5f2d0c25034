package runtime

import (
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/enum"
)

// A Command is what a tool runs in place of a handler, as it was declared. The arguments come from
// a function that is generated.
type Command struct {
	Program string // a name that is looked up in PATH, or an absolute path
	Script  string // the member of the input that Program, a shell, runs; empty: Program is no shell
	Tier    Tier
	Network Network
	Form    Form
	Env     []Variable
	Dir     string // below the workspace; empty: the workspace
	Stdin   string // the member of the input that the process reads; empty: none
	Reads   []string
	Caches  []Variable // a variable for each, with the name of its folder
	Exits   []ExitCode

	Limits    ProcessLimits   // zero: not declared
	Accepts   []AcceptedLevel // of each limit that is declared
	StopGrace time.Duration
}

// A Variable is a variable of the environment. A Value of $NAME is that of the host.
type Variable struct{ Name, Value string }

// An ExitCode says what an exit code means.
type ExitCode struct {
	Code      int
	Category  ExitCategory
	Retryable bool
}

// An AcceptedLevel is the weakest level that a declaration takes for a limit.
type AcceptedLevel struct {
	Limit LimitName
	Level Level
}

// A Form says what becomes of the output of a command.
type Form uint8

// The forms.
const (
	FormText      Form = iota // a TextOutput
	FormLines                 // Lines of stdout
	FormJSON                  // one value
	FormJSONLines             // JSONLines of stdout
)

// A Tier says what stands between a process and the host.
type Tier uint8

// The tiers. The zero value is the stricter one.
const (
	TierSandbox Tier = iota // a box: files, network, other processes and the kernel are out of reach
	TierProcess             // a process group of its own and a clean environment, no box
)

var tierNames = [...]string{"sandbox", "process"}

// String returns the name of a tier in a declaration.
func (t Tier) String() string { return enum.Name("tier", tierNames[:], t) }

// MarshalText returns the name of t.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText sets t to the tier that text names.
func (t *Tier) UnmarshalText(text []byte) error { return enum.Parse("tier", tierNames[:], text, t) }

// A Network says what a process in a sandbox can connect to.
type Network uint8

// The networks.
const (
	NetworkNone     Network = iota
	NetworkLoopback         // of the box: processes of the job reach each other
)

var networkNames = [...]string{"none", "loopback"}

// String returns the name of a network in a declaration.
func (n Network) String() string { return enum.Name("network", networkNames[:], n) }

// MarshalText returns the name of n.
func (n Network) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText sets n to the network that text names.
func (n *Network) UnmarshalText(text []byte) error {
	return enum.Parse("network", networkNames[:], text, n)
}

// An ExitCategory says what kind of failure an exit is. The zero value is none: the command did what it
// was to do.
type ExitCategory string

// The categories of failures.
const (
	ExitOK                ExitCategory = ""
	ExitTimeout           ExitCategory = "timeout"
	ExitPermissionDenied  ExitCategory = "permission_denied"
	ExitCommandNotFound   ExitCategory = "command_not_found"
	ExitResourceExhausted ExitCategory = "resource_exhausted"
	ExitProcessKilled     ExitCategory = "process_killed"
	ExitSystemError       ExitCategory = "system_error"
)

// ProcessLimits bound what the processes of a job use together, unless it is said otherwise.
type ProcessLimits struct {
	Memory       int64 // bytes of memory of the tree, and of the data of each process
	SharedMemory bool  // allows memory that processes share by a handle: memfd, and System V and POSIX queues
	Processes    int   // processes and threads
	CPU          time.Duration
	File         int64 // bytes of each file that is written
	Scratch      int64 // bytes in the private folder
	Files        int   // descriptors of each process
	Output       int64 // bytes that are kept of each stream
}

// Defaults returns the limits with what is zero replaced by the defaults. CPU is the deadline
// of the tool by default; 0 of both leaves it unlimited.
func (l ProcessLimits) Defaults(deadline time.Duration) ProcessLimits {
	fill(&l.Memory, 512<<20)
	fill(&l.Processes, 128)
	fill(&l.CPU, deadline)
	fill(&l.File, 256<<20)
	fill(&l.Scratch, 256<<20)
	fill(&l.Files, 256)
	fill(&l.Output, 64<<10)
	return l
}

func fill[T int | int64 | time.Duration](p *T, value T) {
	if *p == 0 {
		*p = value
	}
}

// A Level says how well a limit holds.
type Level uint8

// The levels, the strongest first.
const (
	LevelEnforced Level = iota // the kernel refuses what exceeds it
	LevelWatched               // a watcher ends the processes when it sees them exceed it, within 50 ms
	LevelAdvisory              // nothing holds it
	LevelRefused               // a spec that needs it does not run on this host
)

var levelNames = [...]string{"enforced", "watched", "advisory", "refused"}

// String returns the name of a level in a declaration.
func (l Level) String() string { return enum.Name("level", levelNames[:], l) }

// MarshalText returns the name of l.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText sets l to the level that text names.
func (l *Level) UnmarshalText(text []byte) error { return enum.Parse("level", levelNames[:], text, l) }

// A LimitName names something that a runner holds a process to.
type LimitName string

// What runners hold processes to. The first group are the limits of a declaration.
const (
	LimitMemory    LimitName = "memory"
	LimitProcesses LimitName = "processes"
	LimitCPU       LimitName = "cpu"
	LimitFile      LimitName = "file"
	LimitScratch   LimitName = "scratch"
	LimitFiles     LimitName = "files"
	LimitOutput    LimitName = "output"

	LimitTreeKill     LimitName = "tree_kill"     // no process outlives the job, even when its watcher is killed
	LimitFileAccess   LimitName = "file_access"   // what is read, written and changed
	LimitNoNetwork    LimitName = "no_network"    // no connection to anything
	LimitLoopback     LimitName = "loopback"      // connections within the box
	LimitSignals      LimitName = "signals"       // no signal to, and no look into, other processes
	LimitKernel       LimitName = "kernel"        // system calls that change the host are refused
	LimitSharedMemory LimitName = "shared_memory" // none that outlives the job
)

// LimitNames returns what runners hold processes to, in the order of the documentation.
func LimitNames() []LimitName {
	return []LimitName{
		LimitMemory, LimitProcesses, LimitCPU, LimitFile, LimitScratch, LimitFiles, LimitOutput,
		LimitTreeKill, LimitFileAccess, LimitNoNetwork, LimitLoopback, LimitSignals, LimitKernel, LimitSharedMemory,
	}
}

// An Invocation is what a command would run for an input, as policies and approvers see it. It is the
// same on every host: Program, Dir and Env are what was declared, not what a host makes of them.
type Invocation struct {
	Program string   `json:"program"`       // a name, or an absolute path
	Argv    []string `json:"argv"`          // with the name of the program as the first element
	Dir     string   `json:"dir,omitempty"` // below the workspace; empty: the workspace
	Env     []string `json:"env,omitempty"` // names of variables, sorted, those of caches among them
	Network Network  `json:"network"`
	Tier    Tier     `json:"tier"`
	Script  string   `json:"script,omitempty"` // what a shell runs; empty for other programs
}

// Invocation returns what the command would run with arguments.
func (c *Command) Invocation(argv []string) *Invocation {
	in := &Invocation{Program: c.Program, Argv: argv, Dir: c.Dir, Network: c.Network, Tier: c.Tier}
	for _, v := range slices.Concat(c.Env, c.Caches) {
		in.Env = append(in.Env, v.Name)
	}
	slices.Sort(in.Env)
	if c.Script != "" && len(argv) > 0 {
		in.Script = argv[len(argv)-1] // sh -c -- SCRIPT
	}
	return in
}
