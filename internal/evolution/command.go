package evolution

import "github.com/ambit-tools/ambit/dsl"

// command compares what carries a tool out. Other arguments of the same program are no break: grants
// and approvals are bound to the declaration anyway.
func command(was, t *dsl.Tool, add func(dsl.Pos, []string, string, ...any), key func(string) dsl.Pos) {
	switch {
	case was.Command == nil && t.Command == nil:
	case was.Command == nil:
		add(key("command"), []string{Handlers}, "the tool had a handler and is a command: its method of Handler is gone")
	case t.Command == nil:
		add(t.Pos, []string{Handlers}, "the tool was a command and has a handler: Handler has one method more")
	case was.Command.Tier == "sandbox" && t.Command.Tier != "sandbox":
		add(key("isolation"), []string{Policies, Approvals}, "the command ran in a sandbox and runs without a box: what policies and approvers allowed reaches more")
	}
}
