package processes

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/ambit-tools/ambit/runtime/internal/tools"
	"github.com/ambit-tools/ambit/runtime/process"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Plan returns what a tool would run for a decoded input; nil: it has a handler. It needs neither the
// program nor a runner, so that a simulation plans what an executor runs.
func Plan(t *tools.Tool, in wire.Value) (*process.Invocation, error) {
	if t.Hooks.Command == nil || t.Spec.Command == nil {
		return nil, nil
	}
	argv, err := t.Hooks.Command.Argv(in)
	if err != nil {
		return nil, err
	}
	return t.Spec.Command.Invocation(argv), nil
}

// Binding returns what a consent to an invocation is bound to: the file of the program, its contents
// and the arguments, as 64 hexadecimal digits.
func (c *Command) Binding(in *process.Invocation) string {
	args := process.Digest(in.Argv)
	all := process.Digest([]string{c.program.Path, string(c.program.SHA256[:]), string(args[:])})
	return hexOf(all)
}

func hexOf(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }
