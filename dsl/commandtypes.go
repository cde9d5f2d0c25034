package dsl

import "time"

// A Command is what a tool runs in place of a handler. Exactly one of Run and Shell is set.
type Command struct {
	Pos     Pos
	Tier    string // sandbox or process
	Run     []*Element
	Shell   *Shell
	Env     []*Variable
	Dir     string // below the workspace; empty: the workspace itself
	Stdin   string // a member of the input; empty: none
	Reads   []string
	Caches  []*Variable // a variable for each, and the name of its folder
	Network string      // none or loopback
	Output  string      // text, lines, json or json_lines
	Exits   []*Exit
	Keys    map[string]Pos
}

// An Element is a part of the arguments. Exactly one of Text, Literal, Arg, Each and When is set.
type Element struct {
	Pos        Pos
	Text       string // a literal that may hold {member}
	Literal    string
	Terminator bool // of Literal
	Arg, Each  string
	When, Add  string
}

// A Shell runs a member of the input as a script.
type Shell struct {
	Script string
	With   string // the program, sh unless the declaration says otherwise
}

// A Variable is a name with its value.
type Variable struct {
	Name, Value string
	Pos         Pos
}

// An Exit says what an exit code means.
type Exit struct {
	Code      int
	Category  string // ok, or the category of the failure
	Retryable bool
	Pos       Pos
}

// A Bound is a limit of the processes of a command.
type Bound struct {
	Max         int64  // 0: not declared
	Enforcement string // the weakest level that is taken; empty: watched
}

// ProcessLimits are the limits of the processes of a command, beside those of every tool.
type ProcessLimits struct {
	MemoryEnforcement      string // as of a Bound
	SharedMemory           bool
	Processes, File, Files Bound
	Scratch                Bound
	CPU                    Bound // Max in nanoseconds
	StopGrace              time.Duration
}

// A memoryBound is the long form of limits.memory.
type memoryBound struct {
	Bound

	shared bool
}
