package evolution_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/evolution"
)

// TestCommands: what carries a tool out is a break where a handler or a box is gone, and other
// arguments are none.
func TestCommands(t *testing.T) {
	tool := func(version, rest string) *dsl.File {
		f, err := dsl.Parse("tools.yaml", fmt.Appendf(nil, "ambit: v1\npackage: shop\nunboxed: true\ntools:\n  buy:\n"+
			"    version: %s\n    description: Buy.\n    input: {type: object}\n%s", version, rest))
		require.NoError(t, err)
		return f
	}
	const (
		handler = "    output: {type: object}\n"
		boxed   = "    output: {type: object}\n    command: {run: [buy], output: json}\n"
		other   = "    output: {type: object}\n    command: {run: [buy, now], output: json, env: {A: b}}\n"
		unboxed = "    output: {type: object}\n    isolation: process\n    command: {run: [buy], output: json}\n"
	)
	for _, c := range []struct{ was, now, want string }{
		{handler, boxed, "handlers: the tool had a handler and is a command"}, {boxed, handler, "handlers: the tool was a command and has a handler"},
		{boxed, unboxed, "approvals: the command ran in a sandbox"}, {unboxed, boxed, ""}, {boxed, other, ""},
	} {
		got := said(evolution.Compare(tool("1.0.0", c.was), tool("1.1.0", c.now)))
		if c.want == "" {
			assert.Empty(t, got)
		} else {
			assert.Contains(t, got, c.want)
		}
	}
}
