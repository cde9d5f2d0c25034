package values

import (
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// TestValues: what a rule can be is followed through locals, rules, functions and data.
func TestValues(t *testing.T) {
	for _, test := range []struct {
		rules string
		want  []string // nil: it may be anything
	}{
		{`r := 1`, []string{"1"}},
		{`r := x if x := "a"`, []string{`"a"`}},
		{`r := x if some x in ["a", "b"]`, []string{`"a"`, `"b"`}},
		{`r := upper("a")`, []string{`"A"`}},
		{`r := f("a")` + "\n" + `f(x) := upper(x)`, []string{`"A"`}},
		{`r := table.b` + "\n" + `table := {"a": 1, "b": 2}`, []string{"2"}},
		{`r := input.args.path`, []string{"input.args.path"}},
		{`r := args.path if args := input.args`, []string{"input.args.path"}},
		{`r := f(input.args)` + "\n" + `f(x) := x.path`, []string{"input.args.path"}},
		{`r := object.get(input.args, "path", "none")`, []string{"input.args.path", `"none"`}},
		{`r := lower(input.args.path)`, []string{"lower"}},
		{`r := f(1)` + "\n" + `f(x) := y if y := [x, input.now_ns][_]`, []string{"1", "input.now_ns"}},
	} {
		a, r := analyzed(t, test.rules)
		found := a.Values(r.Head.Value, NewFrame(r, nil, ToolSet{}, 0))
		assert.Equal(t, test.want == nil, found.open, test.rules)
		var got []string
		for _, c := range found.Constants() {
			got = append(got, c.String())
		}
		for _, p := range found.Parts() {
			got = append(got, p.Path.String())
		}
		for _, c := range found.Candidates() {
			if m, ok := c.(Made); ok {
				got = append(got, m.Name)
			}
		}
		assert.ElementsMatch(t, test.want, got, test.rules)
	}
}

// analyzed returns the analysis of a package with some rules, and its rule r.
func analyzed(t *testing.T, rules string) (*Analysis, *ast.Rule) {
	t.Helper()
	const name = "v.rego"
	src, err := policydir.ReadSource(regotest.Dir(name, "package ambit.policies.v\n\n"+rules+"\n"))
	require.NoError(t, err)
	var errs policydir.Errors
	b, _ := policydir.ReadBundle(src, &errs)
	require.Empty(t, errs)
	b.Compiler = b.NewCompiler()
	b.Compiler.Compile(b.Stamped())
	require.Empty(t, b.Compiler.Errors)
	m := b.Compiler.Modules[name]
	i := slices.IndexFunc(m.Rules, func(r *ast.Rule) bool { return policydir.RuleName(r) == "r" })
	return New(b), m.Rules[i]
}

func TestToolSets(t *testing.T) {
	one, both := ToolSet{Names: []string{"a"}, Fixed: true}, ToolSet{Names: []string{"a", "b"}, Fixed: true}
	other := ToolSet{Names: []string{"b"}, Fixed: true}
	foreign := ToolSet{Fixed: true, Foreign: true}
	assert.Equal(t, one, ToolSet{}.And(one))
	assert.Equal(t, one, both.And(one))
	assert.True(t, one.And(other).None())
	assert.False(t, foreign.None())
	assert.True(t, foreign.Abroad())
	assert.Equal(t, both, one.or(other))
	assert.Equal(t, ToolSet{}, one.or(ToolSet{}))
	assert.True(t, ToolSet{}.Covers(one))
	assert.True(t, both.Covers(one))
	assert.False(t, one.Covers(both))
	assert.False(t, one.Covers(ToolSet{}))
	assert.Equal(t, "* | a b | ?", ToolSet{}.String()+" | "+both.String()+" |"+foreign.String())
}
