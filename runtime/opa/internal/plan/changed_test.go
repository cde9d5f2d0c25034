package plan

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/test/cases"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

// varies are functions that decisions do not have, or that answer differently each time.
var varies = regexp.MustCompile(`http\.send|rand\.|uuid\.rfc|time\.now|opa\.runtime|lookup_ip|io\.jwt|crypto|trace\(|print\(|providers|graphql|rego\.|json\.(match|verify)_schema|test\.`)

// A tally counts how the two evaluators answered.
type tally struct{ equal, refused, gaveUp, different, open int }

// Both evaluators answer OPA's cases on inputs that were changed at random, as decisions
// are made: errors are strict and there is no index. What OPA refuses has no answer in
// the plan, and what both answer is the same.
func TestChangedInputs(t *testing.T) {
	left := battery.Count(t, 2000, 20_000)
	list := opaCases(t)
	each := max(8, left/1000)
	r := rand.New(rand.NewPCG(7, 7))
	var n tally
	for left > 0 {
		before := left
		for _, i := range r.Perm(len(list)) {
			if left <= 0 {
				break
			}
			left -= n.changed(t, &list[i], r, min(each, left))
		}
		require.Less(t, left, before, "no case can be evaluated")
	}
	t.Logf("%d equal, %d refused by both, %d where only the plan gives up, %d different, %d where only OPA refuses", n.equal, n.refused, n.gaveUp, n.different, n.open)
	assert.Zero(t, n.different)
	assert.Zero(t, n.open)
	assert.Greater(t, n.equal, 10*n.gaveUp)
}

// changed evaluates a case on inputs that were changed, and returns how many.
func (n *tally) changed(t *testing.T, c *cases.TestCase, r *rand.Rand, count int) int {
	opts, text := modules(c)
	if varies.MatchString(text) || c.InputTerm != nil || len(c.Env) > 0 {
		return 0
	}
	opts = append(opts, rego.StrictBuiltinErrors(true))
	store := inmem.NewFromObjectWithOpts(baseOf(c), inmem.OptReturnASTValuesOnRead(true))
	query, err := rego.New(append(opts, rego.Query(c.Query), rego.Store(store))...).PrepareForEval(t.Context())
	if err != nil {
		return 0
	}
	p, err := prepared(t, c.Query, baseOf(c), opts...)
	if err != nil {
		return 0
	}
	p.context = everything
	var in any = map[string]any{}
	if c.Input != nil {
		in = *c.Input
	}
	for range count {
		in := change(r, in)
		n.compare(t, c.Note, query, p, ast.NewTerm(ast.MustInterfaceToValue(in)))
	}
	return count
}

// compare compares the answers to one input.
func (n *tally) compare(t *testing.T, note string, query rego.PreparedEvalQuery, p *Program, input *ast.Term) {
	slow, slowErr := query.Eval(t.Context(), rego.EvalParsedInput(input.Value), rego.EvalRuleIndexing(false))
	fast, fastErr := p.all(t.Context(), input)
	switch {
	case slowErr != nil && fastErr != nil:
		n.refused++
	case slowErr != nil:
		n.open++
		t.Logf("%s: OPA refuses, the plan answers: %v, input %v", note, slowErr, input)
	case fastErr != nil:
		n.gaveUp++
	default:
		want := map[string]bool{}
		for _, s := range slow {
			b := map[string]any{}
			for k, v := range s.Bindings {
				if !strings.HasPrefix(k, "$") {
					b[k] = v
				}
			}
			want[norm(b)] = true
		}
		got := results(fast)
		if assert.ObjectsAreEqual(keys(resort(want)), keys(resort(got))) {
			n.equal++
			return
		}
		n.different++
		t.Logf("%s: DIFFERENT for %v: OPA %v, the plan %v", note, input, keys(want), keys(got))
	}
}

// replacements are what a member of an input is changed to.
var replacements = []any{
	nil, true, 1, -3.5, json.Number("1.0"), json.Number("18446744073709551616"), "", "a", "/ws/a",
	[]any{}, []any{1, "a"}, map[string]any{}, map[string]any{"a": 1},
}

// change changes about one value of a document.
func change(r *rand.Rand, v any) any {
	if r.IntN(4) == 0 {
		return replacements[r.IntN(len(replacements))]
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			switch r.IntN(5) {
			case 0:
			case 1, 2:
				out[k] = change(r, v[k])
			default:
				out[k] = v[k]
			}
		}
		return out
	case []any:
		var out []any
		for _, x := range v {
			if r.IntN(4) > 0 {
				out = append(out, change(r, x))
			}
		}
		return out
	}
	return v
}
