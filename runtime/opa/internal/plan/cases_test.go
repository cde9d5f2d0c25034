package plan

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/metrics"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/test/cases"
	"github.com/open-policy-agent/opa/v1/topdown"
	"github.com/open-policy-agent/opa/v1/topdown/builtins"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exceptions are the cases that have no answer here, and why.
var exceptions = map[string]string{
	"data/toplevel integer": "the data is no object: OPA's own exception for plans",
	"data/nested integer":   "the data is no object: OPA's own exception for plans",
	"time/time caching":     "it calls a function that only OPA's own tests have",
}

// opaCases returns the evaluation cases of OPA's tests, which its module holds.
func opaCases(t testing.TB) []cases.TestCase {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/open-policy-agent/opa").Output()
	require.NoError(t, err)
	list := cases.MustLoad(strings.TrimSpace(string(out)) + "/v1/test/cases/testdata/v1").Sorted().Cases
	require.Greater(t, len(list), 2390, "an empty folder passes, too")
	return list
}

// Each case of OPA's tests has OPA's answer, twice: a constant that an evaluation
// changed shows in the second answer only.
func TestCases(t *testing.T) {
	passed := 0
	for _, c := range opaCases(t) {
		fault := evaluate(t, &c)
		if exceptions[c.Note] != "" {
			assert.NotEmpty(t, fault, "%s passes: it is no exception any more", c.Note)
			continue
		}
		if assert.Empty(t, fault, c.Note) {
			passed++
		}
	}
	assert.LessOrEqual(t, len(exceptions), 3)
	assert.GreaterOrEqual(t, passed, 2388)
	t.Logf("%d cases pass", passed)
}

// prepared returns the Program of a query with options of OPA's.
func prepared(t testing.TB, query string, data map[string]any, opts ...func(*rego.Rego)) (*Program, error) {
	t.Helper()
	policy, err := planned(t.Context(), append(opts, rego.Query(query), rego.Target(target))...)
	if err != nil {
		return nil, err
	}
	return Compile(policy, ast.NewTerm(ast.MustInterfaceToValue(data)), nil)
}

// everything is a context with what a decision does not have: a clock, random numbers.
func everything(ctx context.Context) topdown.BuiltinContext {
	return topdown.BuiltinContext{
		Context: ctx, Metrics: metrics.NoOp(), Time: ast.NumberTerm(json.Number(strconv.FormatInt(time.Now().UnixNano(), 10))),
		Seed: rand.Reader, Cache: builtins.Cache{}, Capabilities: ast.CapabilitiesForThisVersion(),
	}
}

// all returns all values of the query, as they are after the machine was cleared.
func (p *Program) all(ctx context.Context, input *ast.Term) ([]*ast.Term, error) {
	m := p.machine(ctx)
	defer p.release(m)
	out, err := p.results(m, input)
	return slices.Clone(out), err
}

func modules(c *cases.TestCase) (opts []func(*rego.Rego), text string) {
	opts = append(opts, rego.StrictBuiltinErrors(c.StrictError))
	for i, m := range c.Modules {
		opts = append(opts, rego.Module(fmt.Sprintf("m%d.rego", i), m))
	}
	return opts, strings.Join(c.Modules, "\n") + c.Query
}

func baseOf(c *cases.TestCase) map[string]any {
	if c.Data == nil {
		return map[string]any{}
	}
	return *c.Data
}

// evaluate returns what is wrong with the answer to a case.
func evaluate(t *testing.T, c *cases.TestCase) string {
	for k, v := range c.Env {
		t.Setenv(k, v)
	}
	wantErr := c.WantErrorCode != nil || c.WantError != nil
	opts, text := modules(c)
	p, err := prepared(t, c.Query, baseOf(c), opts...)
	if err != nil {
		if wantErr {
			return ""
		}
		return "there is no plan: " + err.Error()
	}
	p.lax, p.context = !c.StrictError, everything
	input := inputOf(c)
	first, err := p.all(t.Context(), input)
	switch {
	case wantErr && err == nil:
		return "there is no error"
	case wantErr:
		return ""
	case err != nil:
		return "there is no answer: " + err.Error()
	}
	got := results(first)
	second, err := p.all(t.Context(), input)
	if err != nil || !strings.Contains(text, "rand") && !strings.Contains(text, "uuid") && !maps.Equal(got, results(second)) {
		return fmt.Sprintf("the second answer is %v %v", second, err)
	}
	return compare(c, got)
}

func inputOf(c *cases.TestCase) *ast.Term {
	switch {
	case c.InputTerm != nil:
		return ast.MustParseTerm(*c.InputTerm)
	case c.Input != nil:
		return ast.NewTerm(ast.MustInterfaceToValue(*c.Input))
	}
	return nil
}

// compare returns how the results differ from those that the case wants.
func compare(c *cases.TestCase, got map[string]bool) string {
	if c.WantResult == nil {
		if c.WantDefined != nil && (len(got) > 0) != *c.WantDefined {
			return "it is defined, or not, against the case"
		}
		return ""
	}
	want := map[string]bool{}
	for _, r := range *c.WantResult {
		want[norm(map[string]any(r))] = true
	}
	if c.SortBindings {
		got, want = resort(got), resort(want)
	}
	if !maps.Equal(got, want) {
		return fmt.Sprintf("got %v, want %v", keys(got), keys(want))
	}
	return ""
}

// results returns the texts of results, without the variables of OPA's own.
func results(list []*ast.Term) map[string]bool {
	got := map[string]bool{}
	for _, r := range list {
		n := ast.NewObject()
		r.Value.(ast.Object).Foreach(func(k, v *ast.Term) {
			if s := string(k.Value.(ast.String)); !strings.HasPrefix(s, "^term") && !strings.HasPrefix(s, "$") {
				n.Insert(k, v)
			}
		})
		j, err := ast.JSON(n)
		if err != nil {
			panic(err)
		}
		got[norm(j)] = true
	}
	return got
}

// norm prints numbers one way: 3.0 and 3 are the same number.
func norm(v any) string {
	var walk func(any) any
	walk = func(v any) any {
		switch x := v.(type) {
		case json.Number:
			f, ok := new(big.Float).SetString(string(x))
			if !ok {
				return x
			}
			return json.Number(f.Text('f', 40))
		case map[string]any:
			for k := range x {
				x[k] = walk(x[k])
			}
		case []any:
			for i := range x {
				x[i] = walk(x[i])
			}
		}
		return v
	}
	return ast.MustInterfaceToValue(walk(v)).String()
}

// resort sorts the arrays that are members of results.
func resort(m map[string]bool) map[string]bool {
	out := map[string]bool{}
	for k := range m {
		o := ast.NewObject()
		ast.MustParseTerm(k).Value.(ast.Object).Foreach(func(k, v *ast.Term) {
			if a, ok := v.Value.(*ast.Array); ok {
				v = ast.NewTerm(a.Sorted())
			}
			o.Insert(k, v)
		})
		out[o.String()] = true
	}
	return out
}

func keys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
