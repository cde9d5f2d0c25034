package process

import "time"

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

	Limits    Limits     // zero: not declared
	Accepts   []Accepted // of each limit that is declared
	StopGrace time.Duration
}

// A Variable is a variable of the environment. A Value of $NAME is that of the host.
type Variable struct{ Name, Value string }

// An ExitCode says what an exit code means.
type ExitCode struct {
	Code      int
	Category  Category
	Retryable bool
}

// An Accepted is the weakest level that a declaration takes for a limit.
type Accepted struct {
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
