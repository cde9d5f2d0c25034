package dsl

import "time"

// A Pos is a place in a source file. Line and Col are counted from 1; Col
// counts code points, as an editor does.
type Pos struct {
	File      string
	Line, Col int
}

// A File is one checked declaration file. All of it is known to be well formed:
// names are legal and do not collide, references lead somewhere, every value
// is in range.
type File struct {
	Path    string // as given by the caller, used in diagnostics
	Package string // Go package of the generated code
	Types   []*NamedSchema
	Reasons []*Reason
	Rules   *Rules // of the whole set; nil when none are declared
	Tools   []*Tool
	// Isolation is the tier of the commands that declare none; empty where the file says nothing.
	Isolation string
	Unboxed   bool // the file may hold commands of the tier process
	// Warnings name what keeps nothing from working and may not be meant, in the
	// order of their places.
	Warnings []Warning
	// PackagePos is where the key package stands.
	PackagePos Pos
	// ToolsPos is where the key tools stands.
	ToolsPos Pos
	// EditorSchema is the file for [EditorSchema] that the modeline of
	// yaml-language-server names, relative to the folder of the declaration; empty if
	// it names none there.
	EditorSchema string

	source source
}

// A NamedSchema is an entry of types or of $defs.
type NamedSchema struct {
	Name   string
	Pos    Pos // of the name
	Schema *Schema
	// Document is the text of an entry of types; nil when no schema of the file is checked.
	Document *Document

	node *node
}

// A Reason is a denial code that policies of this set may use.
type Reason struct {
	Code        string
	Description string
	Pos         Pos
}

// A Tool is one declared tool. Durations and sizes hold the declared values or
// the defaults of SEMANTICS section 8.
type Tool struct {
	Name          string
	Pos           Pos    // of the name
	Alias         string // the name under which clients know the tool; empty: none
	RenamedFrom   []string
	Version       string
	Title         string
	Description   string
	Effect        string // read, write or destructive
	Idempotent    bool
	Deterministic bool
	Capabilities  []string
	Behaviors     []string
	Input, Output *Schema
	Isolation     string   // the tier that the tool declares; empty: none
	Command       *Command // what the tool runs; nil: it has a handler
	Deadline      time.Duration
	Limits        Limits
	Retry         *Retry
	SafeErrors    bool
	Modes         []*Mode
	Heartbeat     bool
	Every         time.Duration // 0: not periodic
	Args          *Value        // complete arguments; nil when none
	Dedupe        Dedupe
	Idempotency   *Idempotency
	Transactional bool
	Reconcile     bool
	Consent       *Consent
	Undo          *Undo
	Artifact      *Artifact
	Rules         *Rules
	Deprecated    *Deprecated
	Keys          map[string]Pos // where each key of the tool stands, as declared
	LimitKeys     map[string]Pos // where each of its limits stands: in the tool, or in the defaults
}

// Limits caps what a call, or all calls of a tool together, may use. Sizes are in
// bytes; 0 means no limit.
type Limits struct {
	Input, Output, Memory int64
	Concurrency           int
	Queue                 int // 0: not declared; NoQueue: none
	Process               ProcessLimits
}

// NoQueue is Limits.Queue of a tool whose calls never wait for a slot.
const NoQueue = -1

// Retry says how often and how fast a failed idempotent call is tried again.
type Retry struct {
	Max          int
	Initial, Cap time.Duration
	OnTimeout    bool
}

// A Mode is a gate: the tool may run only while the session's mode has one of the values.
type Mode struct {
	Name   string
	Values []string
	Pos    Pos
}

// Dedupe says whether an equal call is answered with the earlier one.
type Dedupe struct {
	Mode   string // never (the default), window or always
	Window time.Duration
}

// Idempotency names the input members that identify an effect.
type Idempotency struct {
	Key    []string
	Window time.Duration
}

// Consent says when and whom to ask.
type Consent struct {
	Ask       string // always or policy
	Message   string
	Approvers []string
	Timeout   time.Duration
	Quorum    int
	MaxCover  string // exact, args or tool
	MaxFor    time.Duration
	Preview   bool
	AllowEdit bool
	AllowSelf bool
	Reveal    []string
	Pos       Pos
}

// Undo says how long an effect can be taken back and what must be remembered for it.
type Undo struct {
	TTL   time.Duration
	State *Schema
	Pos   Pos
}

// Artifact says when an output is stored aside and as what.
type Artifact struct {
	Over int // characters
	Type string
}

// Deprecated marks a tool that should not be used any more.
type Deprecated struct {
	Since, Use, Message string
	RemoveIn            string // the version without the tool; empty: not said
}

// Rules are the rules of one tool or of the whole set (SEMANTICS section 4).
type Rules struct {
	StartConstraint    bool
	RequiresPreceding  []string
	AnyPreceding       bool // any of RequiresPreceding is enough
	MustPrecede        []string
	ExclusiveGroups    []string
	RequiredBeforeExit bool
	MaxCalls           int // 0: no limit
	MaxCallsEach       bool
	Cooldown           time.Duration
	CooldownEach       bool // of the set: one timer for each tool
	ContinueLoop       bool
	ExitLoop           bool
	AllowedOperations  *AllowedOperations
	Keys               map[string]Pos
}

// AllowedOperations limits the values of one string argument.
type AllowedOperations struct {
	Arg    string
	Values []string
}

// Defaults hold for the tools that do not say their own: the declared ones, or
// those of SEMANTICS section 8.
type Defaults struct {
	Deadline       time.Duration
	ConsentTimeout time.Duration
	Dedupe         Dedupe
	Limits         Limits
	LimitKeys      map[string]Pos
}

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
