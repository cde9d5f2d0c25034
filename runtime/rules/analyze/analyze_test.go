package analyze_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/rules/analyze"
)

func tool(name string, r runtime.Rules) rules.Tool { return rules.Tool{Name: name, Rules: r} }

func needs(names ...string) runtime.Rules { return runtime.Rules{RequiresPreceding: names} }

// example is a rule set and what is wrong with it, messages left out.
type example struct {
	set   runtime.Rules
	tools []rules.Tool
	want  []analyze.Finding
}

func start() runtime.Rules { return runtime.Rules{StartConstraint: true} }

func group() runtime.Rules { return runtime.Rules{ExclusiveGroups: []string{"g"}} }

func unreachable() map[string]example {
	free := tool("free", runtime.Rules{})
	return map[string]example{
		"nothing": {runtime.Rules{MaxCalls: 5}, []rules.Tool{free, tool("a", needs("free"))}, nil},
		"declared twice": {runtime.Rules{}, []rules.Tool{free, free},
			[]analyze.Finding{{Code: analyze.DuplicateTool, Tool: "free"}}},
		"unknown": {runtime.Rules{}, []rules.Tool{tool("a", runtime.Rules{RequiresPreceding: []string{"x"}, MustPrecede: []string{"y"}})},
			[]analyze.Finding{
				{Code: analyze.UnknownTool, Tool: "a", Rule: "requires_preceding", Related: []string{"x"}},
				{Code: analyze.UnknownTool, Tool: "a", Rule: "must_precede", Related: []string{"y"}},
			}},
		"continue and exit": {runtime.Rules{}, []rules.Tool{tool("a", runtime.Rules{ContinueLoop: true, ExitLoop: true})},
			[]analyze.Finding{{Code: analyze.LoopConflict, Tool: "a", Rule: "exit_loop"}}},
		"start needs other": {runtime.Rules{}, []rules.Tool{free, tool("a", runtime.Rules{StartConstraint: true, RequiresPreceding: []string{"free"}})},
			[]analyze.Finding{{Code: analyze.StartNeeds, Tool: "a", Rule: "requires_preceding", Related: []string{"free"}}}},
		"cycle, and what is behind it": {runtime.Rules{}, []rules.Tool{tool("a", needs("b")), tool("b", needs("c")), tool("c", needs("a")), tool("d", needs("b"))},
			[]analyze.Finding{
				{Code: analyze.Cycle, Tool: "a", Rule: "requires_preceding", Related: []string{"b", "c"}},
				{Code: analyze.Unreachable, Tool: "d", Rule: "requires_preceding", Related: []string{"b"}},
			}},
		"itself": {runtime.Rules{}, []rules.Tool{tool("a", needs("a"))},
			[]analyze.Finding{{Code: analyze.Cycle, Tool: "a", Rule: "requires_preceding"}}},
		"own group": {runtime.Rules{}, []rules.Tool{tool("a", group()), tool("b", runtime.Rules{RequiresPreceding: []string{"a"}, ExclusiveGroups: []string{"g"}})},
			[]analyze.Finding{{Code: analyze.Unreachable, Tool: "b", Rule: "exclusive_group", Related: []string{"a"}}}},
		"groups of prerequisites": {runtime.Rules{}, []rules.Tool{tool("a", group()), tool("b", group()), tool("c", needs("a", "b"))},
			[]analyze.Finding{{Code: analyze.Unreachable, Tool: "c", Rule: "exclusive_group", Related: []string{"a", "b"}}}},
		"too few calls": {runtime.Rules{MaxCalls: 2}, []rules.Tool{free, tool("a", needs("free")), tool("b", needs("a"))},
			[]analyze.Finding{{Code: analyze.Unreachable, Tool: "b", Rule: "max_calls", Related: []string{"free", "a"}}}},
		"must precede what it needs": {runtime.Rules{}, []rules.Tool{free, tool("a", runtime.Rules{RequiresPreceding: []string{"free"}, MustPrecede: []string{"free"}})},
			[]analyze.Finding{{Code: analyze.Unreachable, Tool: "a", Rule: "must_precede", Related: []string{"free"}}}},
		"must precede each other": {runtime.Rules{}, []rules.Tool{
			tool("a", runtime.Rules{MustPrecede: []string{"b"}}), tool("b", runtime.Rules{MustPrecede: []string{"a"}}), tool("c", needs("a", "b"))},
			[]analyze.Finding{{Code: analyze.Unreachable, Tool: "c", Rule: "must_precede", Related: []string{"a", "b"}}}},
		"no operation": {runtime.Rules{}, []rules.Tool{tool("a", runtime.Rules{AllowedOperations: &runtime.AllowedOperations{Arg: "op"}})},
			[]analyze.Finding{{Code: analyze.Unreachable, Tool: "a", Rule: "allowed_operations"}}},
	}
}

func endless() map[string]example {
	free := tool("free", runtime.Rules{})
	return map[string]example{
		"behind an exit": {runtime.Rules{}, []rules.Tool{tool("exit", runtime.Rules{ExitLoop: true}), tool("a", needs("exit"))},
			[]analyze.Finding{{Code: analyze.Unreachable, Tool: "a", Rule: "requires_preceding", Related: []string{"exit"}}}},
		"start tools apart": {runtime.Rules{}, []rules.Tool{
			tool("a", runtime.Rules{StartConstraint: true, ExclusiveGroups: []string{"g"}}), tool("b", runtime.Rules{StartConstraint: true, ExclusiveGroups: []string{"g"}}), free},
			[]analyze.Finding{{Code: analyze.Unreachable, Tool: "a", Rule: "start_constraint", Related: []string{"b"}}}},
		"exit requirement": {runtime.Rules{}, []rules.Tool{tool("a", needs("a")), tool("b", runtime.Rules{RequiresPreceding: []string{"a"}, RequiredBeforeExit: true})},
			[]analyze.Finding{
				{Code: analyze.Cycle, Tool: "a", Rule: "requires_preceding"},
				{Code: analyze.Unreachable, Tool: "b", Rule: "requires_preceding", Related: []string{"a"}},
				{Code: analyze.ExitUnmet, Tool: "b", Rule: "required_before_exit"},
			}},
		"exit requirements together": {runtime.Rules{}, []rules.Tool{
			tool("a", runtime.Rules{RequiredBeforeExit: true, ExclusiveGroups: []string{"g"}}), tool("b", runtime.Rules{RequiredBeforeExit: true, ExclusiveGroups: []string{"g"}})},
			[]analyze.Finding{{Code: analyze.ExitUnmet, Tool: "a", Rule: "required_before_exit", Related: []string{"b"}}}},
		"three exit requirements, two calls": {runtime.Rules{MaxCalls: 2}, []rules.Tool{
			tool("a", runtime.Rules{RequiredBeforeExit: true}), tool("b", runtime.Rules{RequiredBeforeExit: true}), tool("c", runtime.Rules{RequiredBeforeExit: true})},
			[]analyze.Finding{{Code: analyze.ExitUnmet, Tool: "a", Rule: "required_before_exit", Related: []string{"b", "c"}}}},
		"unreachable exit": {runtime.Rules{}, []rules.Tool{tool("a", needs("a")), tool("exit", runtime.Rules{RequiresPreceding: []string{"a"}, ExitLoop: true})},
			[]analyze.Finding{
				{Code: analyze.Cycle, Tool: "a", Rule: "requires_preceding"},
				{Code: analyze.Unreachable, Tool: "exit", Rule: "requires_preceding", Related: []string{"a"}},
				{Code: analyze.ExitUnreachable, Tool: "exit", Rule: "exit_loop"},
			}},
	}
}

func dead() map[string]example {
	free := tool("free", runtime.Rules{})
	return map[string]example{
		"dead: only start tools": {runtime.Rules{}, []rules.Tool{tool("a", start())},
			[]analyze.Finding{{Code: analyze.DeadRule, Tool: "a", Rule: "start_constraint"}}},
		"dead: alone in its group": {runtime.Rules{}, []rules.Tool{tool("a", group()), free},
			[]analyze.Finding{{Code: analyze.DeadRule, Tool: "a", Rule: "exclusive_group"}}},
		"dead: needs a start tool": {runtime.Rules{}, []rules.Tool{tool("a", start()), tool("b", needs("a"))},
			[]analyze.Finding{{Code: analyze.DeadRule, Tool: "b", Rule: "requires_preceding", Related: []string{"a"}}}},
		"dead: precedes in its group": {runtime.Rules{}, []rules.Tool{tool("a", group()), tool("b", runtime.Rules{ExclusiveGroups: []string{"g"}, MustPrecede: []string{"a"}})},
			[]analyze.Finding{{Code: analyze.DeadRule, Tool: "b", Rule: "must_precede", Related: []string{"a"}}}},
		"dead: limit": {runtime.Rules{MaxCalls: 3}, []rules.Tool{tool("a", runtime.Rules{MaxCalls: 3}), tool("b", runtime.Rules{MaxCalls: 2})},
			[]analyze.Finding{{Code: analyze.DeadRule, Tool: "a", Rule: "max_calls"}}},
		"dead: limit of each": {runtime.Rules{MaxCalls: 3, MaxCallsEach: true}, []rules.Tool{tool("a", runtime.Rules{MaxCalls: 4})},
			[]analyze.Finding{{Code: analyze.DeadRule, Tool: "a", Rule: "max_calls"}}},
		"dead: cooldown": {runtime.Rules{Cooldown: time.Second}, []rules.Tool{tool("a", runtime.Rules{Cooldown: time.Second}), tool("b", runtime.Rules{Cooldown: time.Minute})},
			[]analyze.Finding{{Code: analyze.DeadRule, Tool: "a", Rule: "cooldown"}}},
	}
}

// TestFindings holds every kind of finding, and that each is alone.
func TestFindings(t *testing.T) {
	for _, examples := range []map[string]example{unreachable(), endless(), dead()} {
		for name, c := range examples {
			t.Run(name, c.check)
		}
	}
}

func (c example) check(t *testing.T) {
	got := analyze.Analyze(rules.Config{Set: c.set, Tools: c.tools})
	for i := range got {
		t.Log(got[i])
		require.NotEmpty(t, got[i].Message)
		got[i].Message = ""
		if len(got[i].Related) == 0 {
			got[i].Related = nil
		}
	}
	require.Equal(t, c.want, got)
}
