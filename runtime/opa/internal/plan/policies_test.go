package plan

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

// base is the data of the policies that the grammar writes.
func base() map[string]any {
	return map[string]any{"limit": json.Number("3"), "names": map[string]any{"a": json.Number("1"), "b": "x"}}
}

// policyInput is what the inputs of those policies are changed from.
var policyInput = map[string]any{
	"a": "ab", "b": json.Number("1"), "o": map[string]any{"a": json.Number("1.0"), "b": map[string]any{"c": "x"}},
	"list": []any{"a", "b", json.Number("2")}, "rule": "h0",
}

// rules are what input.rule can name.
var rules = []any{"h0", "h1", "h2", "d", "m", "nothing", "a.b", "\"", "", json.Number("1"), nil}

// evaluators returns both evaluators of data.p.x; false for modules that OPA refuses.
func evaluators(t testing.TB, modules ...string) (query rego.PreparedEvalQuery, p *Program, ok bool) {
	t.Helper()
	all := map[string]*ast.Module{}
	for i, text := range modules {
		m, err := ast.ParseModuleWithOpts("p.rego", text, ast.ParserOptions{RegoVersion: ast.RegoV1})
		if err != nil {
			return query, nil, false
		}
		all[fmt.Sprintf("p%d.rego", i)] = m
	}
	c := ast.NewCompiler()
	if c.Compile(all); c.Failed() {
		return query, nil, false
	}
	store := inmem.NewFromObjectWithOpts(base(), inmem.OptReturnASTValuesOnRead(true))
	query, err := rego.New(rego.Query("answer = data.p.x"), rego.Compiler(c), rego.Store(store), rego.StrictBuiltinErrors(true),
		rego.GenerateJSON(func(t *ast.Term, _ *rego.EvalContext) (any, error) { return t, nil })).PrepareForEval(t.Context())
	require.NoError(t, err)
	p, err = Prepare(t.Context(), Source{Compiler: c, Store: store}, "data.p.x")
	require.NoError(t, err, modules)
	return query, p, true
}

// agree compares both evaluators on one input, twice.
func (n *tally) agree(t testing.TB, module string, query rego.PreparedEvalQuery, p *Program, input ast.Value) {
	t.Helper()
	results, slowErr := query.Eval(t.Context(), rego.EvalParsedInput(input), rego.EvalRuleIndexing(false))
	undefined := slowErr != nil || len(results) == 0
	for range 2 {
		fast, fastErr := p.Eval(t.Context(), input)
		switch {
		case undefined && fastErr != nil:
			n.refused++
		case undefined:
			n.open++
			t.Errorf("OPA has no answer (%v), the plan %v\ninput %v\n%s", slowErr, fast, input, module)
		case fastErr != nil:
			n.gaveUp++
		case results[0].Bindings["answer"].(*ast.Term).Value.Compare(fast.Value) != 0:
			n.different++
			t.Errorf("OPA answers %v\nthe plan   %v\ninput %v\n%s", results[0].Bindings["answer"], fast, input, module)
		default:
			n.equal++
		}
	}
}

// Both evaluators agree on policies that a grammar writes.
func TestPolicies(t *testing.T) {
	var n tally
	compiled := 0
	count := battery.Count(t, 250, 2500)
	for seed := range count {
		g := &grammar{Rand: rand.New(rand.NewPCG(uint64(seed), 1))}
		x, module := g.policy()
		query, p, ok := evaluators(t, x, module)
		if !ok {
			continue
		}
		compiled++
		for range 6 {
			n.agree(t, module, query, p, changedInput(g.Rand))
		}
	}
	t.Logf("%d policies, %d equal, %d refused by both, %d where only the plan gives up", compiled, n.equal, n.refused, n.gaveUp)
	assert.Zero(t, n.different+n.open)
	assert.Greater(t, compiled, count/5)
	assert.Greater(t, n.equal, count/2)
	assert.Greater(t, n.refused, count/10)
}

func changedInput(r *rand.Rand) ast.Value {
	in, ok := change(r, policyInput).(map[string]any)
	if !ok {
		in = map[string]any{}
	}
	if r.IntN(3) > 0 {
		in["rule"] = rules[r.IntN(len(rules))]
	}
	return ast.MustInterfaceToValue(in)
}

// FuzzPolicies looks for a policy and an input on which the evaluators differ: the seeds
// choose a policy of the grammar, and what its input is changed to.
func FuzzPolicies(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, seed+7)
	}
	f.Fuzz(func(t *testing.T, policy, input uint64) {
		g := &grammar{Rand: rand.New(rand.NewPCG(policy, 1))}
		x, module := g.policy()
		if query, p, ok := evaluators(t, x, module); ok {
			new(tally).agree(t, module, query, p, changedInput(rand.New(rand.NewPCG(input, 2))))
		}
	})
}

// FuzzModule looks for a module, written in full, and an input on which they differ.
func FuzzModule(f *testing.F) {
	f.Add("package p\nx contains y if { some y in input.list; not y in data.names }", `{"list": ["a", 1]}`)
	f.Add("package p\nx := y if { y := z with input.a as 1 } else := 2\nz := input.a", `{}`)
	f.Add("package p\nx := {k: v | some k, v in input; every e in v { e > 1 }}", `{"a": [2], "b": [0]}`)
	f.Add("package p\nx := [1.0, 1] if 18446744073709551617 > input.n", `{"n": 1e400}`)
	f.Fuzz(func(t *testing.T, module, input string) {
		if varies.MatchString(module) || len(module) > 2000 {
			t.Skip()
		}
		term, err := ast.ParseTerm(input)
		if err != nil || !ast.IsConstant(term.Value) {
			t.Skip()
		}
		if query, p, ok := evaluators(t, module); ok {
			new(tally).agree(t, module, query, p, term.Value)
		}
	})
}
