package analyze

import (
	"fmt"
	"strings"
)

// A Code says what is wrong.
type Code string

// The codes.
const (
	DuplicateTool   Code = "duplicate_tool"         // a name is declared twice
	UnknownTool     Code = "unknown_tool"           // a rule names a tool that is not declared
	LoopConflict    Code = "continue_and_exit"      // both continue_loop and exit_loop
	StartNeeds      Code = "start_needs_other"      // a start tool needs one that is not
	Cycle           Code = "prerequisite_cycle"     // tools need each other
	Unreachable     Code = "unreachable_tool"       // can never run
	ExitUnmet       Code = "exit_requirement_unmet" // required before exit, and cannot succeed
	ExitUnreachable Code = "unreachable_exit"       // an exit tool that can never run
	DeadRule        Code = "dead_rule"              // never decides anything
)

// A Finding is one mistake. Rule is the key of the declaration where it is to be
// mended, such as requires_preceding; Related names the other tools involved.
type Finding struct {
	Code    Code
	Tool    string
	Rule    string
	Related []string
	Message string
}

// String returns the message.
func (f Finding) String() string { return f.Message }

// quoted lists names for a message.
func quoted(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, fmt.Sprintf("%q", n))
	}
	return strings.Join(out, ", ")
}
