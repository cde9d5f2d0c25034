package processes

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Plan returns a decoded input of a tool as its policy sees it, and what a command would run for it; nil:
// the tool has a handler. Without an input the plan is what the declaration says. It needs neither
// the program nor a runner, so that a simulation plans what an executor runs.
func Plan(t *tools.Tool, in wire.Value) (wire.Value, *runtime.Invocation) {
	if t.Hooks.Command == nil {
		return in, nil
	}
	if p, planned := in.(*runtime.PlannedInput); planned {
		return p.Value, p.Plan
	}
	return in, t.Spec.Command.Invocation(nil)
}

// Binding returns what a consent to the call of a tool is bound to; empty: the tool has a handler, or
// is a stand-in. For a program that was found changed it is another than it was.
func (s *Set) Binding(t *tools.Tool, in wire.Value) string {
	p, planned := in.(*runtime.PlannedInput)
	c := s.Of(t.Index)
	if !planned || c == nil {
		return ""
	}
	return c.Binding(p.Plan)
}

// Binding returns what a consent to an invocation is bound to: the file of the program, its contents
// and the arguments, as 64 hexadecimal digits.
func (c *Command) Binding(in *runtime.Invocation) string {
	args, contents := process.Digest(in.Argv), string(c.program.SHA256[:])
	if c.changed.Load() {
		contents = "changed"
	}
	return hexOf(process.Digest([]string{c.program.Path, contents, string(args[:])}))
}

func hexOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }
