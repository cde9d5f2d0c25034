package plan

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// program returns the plan of data.p.x in a module.
func program(t testing.TB, module string) *Program {
	t.Helper()
	p, err := prepared(t, "answer = data.p.x", nil, rego.Module("p.rego", module), rego.StrictBuiltinErrors(true))
	require.NoError(t, err)
	return p
}

func value(t testing.TB, text string) ast.Value {
	t.Helper()
	return ast.MustParseTerm(text).Value
}

// Many goroutines evaluate one program with constants that are shared.
func TestConcurrent(t *testing.T) {
	p := program(t, `package p
names := {"b", "a", "c"}
limits := {"b": {"n": 2}, "a": {"n": 1}}
x contains [n, limits[n].n, count(names)] if { some n in names; n in input.names; limits[n].n <= 2 }
x contains concat(",", [n | some n, _ in limits; names[n]])
x contains {"b": 1, "a": [names]}`)
	want, err := p.Eval(t.Context(), value(t, `{"names": ["a", "b"]}`))
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 200 {
				got, err := p.Eval(t.Context(), value(t, `{"names": ["a", "b"]}`))
				assert.NoError(t, err)
				assert.Zero(t, want.Value.Compare(got.Value))
			}
		})
	}
	group.Wait()
}

// stopping is a context that ends at the nth look at it.
type stopping struct {
	context.Context
	looks, at int
}

func (s *stopping) Err() error {
	if s.looks++; s.looks >= s.at {
		return context.Canceled
	}
	return nil
}

// A policy that would not end in any time ends at the next look at the context, which is
// at most 256 steps away, and leaves nothing in its machine.
func TestStops(t *testing.T) {
	for name, module := range map[string]string{
		"loops": `x := count([1 | some a in input.n; some b in input.n; some c in input.n; some d in input.n; some e in input.n; a+b+c+d+e == -1])`,
		"calls": `f(a, b) := 1 if a != b
x := count([1 | some a in input.n; f(a, 1) == 2; some b in input.n; f(a, b) == 2]) if { every a in input.n { every b in input.n { every c in input.n { every d in input.n { f(a, [b, c, d]) == 1 } } } } }`,
		"rules": `x := 1 if { every a in input.n { every b in input.n { every c in input.n { every d in input.n { y == 1 with input.m as [a, b, c, d] } } } } }
y := 1 if input.m[0] < 100`,
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t, "package p\n"+module)
			list := make([]*ast.Term, 40)
			for i := range list {
				list[i] = ast.InternedTerm(i)
			}
			input := ast.NewObject(ast.Item(ast.StringTerm("n"), ast.ArrayTerm(list...)))
			for at := 1; at < 4; at++ {
				ctx := &stopping{Context: t.Context(), at: at}
				m := p.machine(ctx)
				_, err := p.results(m, ast.NewTerm(input))
				require.ErrorIs(t, err, context.Canceled)
				assert.EqualValues(t, at*checkEvery, m.steps, "steps until the %dth look", at)
				assert.Equal(t, at, ctx.looks)
				p.release(m)
				assertClear(t, m)
			}
		})
	}
}

// assertClear asserts that a machine keeps nothing of an evaluation.
func assertClear(t *testing.T, m *machine) {
	t.Helper()
	for _, kept := range [][]*ast.Term{m.stack, m.values, m.out[:cap(m.out)]} {
		for _, term := range kept {
			require.Nil(t, term)
		}
	}
	for _, f := range m.frames {
		assert.Equal(t, frame{m: m}, *f)
	}
	assert.Zero(t, m.depth)
	assert.Empty(t, m.cache)
	assert.Nil(t, m.ctx)
	assert.Nil(t, m.bctx.Context)
	assert.Nil(t, m.found)
	require.NoError(t, m.err)
	assert.Zero(t, m.top)
	assert.Zero(t, m.inWith)
	assert.Zero(t, m.steps)
}

// A machine is used again after each end of an evaluation, and answers as a new one.
func TestMachineIsUsedAgain(t *testing.T) {
	p := program(t, `package p
x contains y if { y := input.a } 
x contains y if { y := to_number(input.b) }
x contains y if { y := z with input.a as "other" }
z := input.a`)
	m := newMachine(8)
	answer := func(input string) (string, error) {
		m.begin(t.Context())
		defer func() { m.clear(); assertClear(t, m) }()
		out, err := p.results(m, ast.NewTerm(value(t, input)))
		return fmt.Sprint(out), err
	}
	for range 3 {
		got, err := answer(`{"a": "x", "b": "7"}`)
		require.NoError(t, err)
		assert.Contains(t, got, `{7, "other", "x"}`)
		_, err = answer(`{"a": "x", "b": "seven"}`)
		require.ErrorContains(t, err, "g0.data.p.x: ", "it names the rule")
		got, err = answer(`{}`)
		require.NoError(t, err)
		assert.Contains(t, got, `{"other"}`)
	}
}

// What is no single value is no answer.
func TestNone(t *testing.T) {
	for module, want := range map[string]error{
		`x := 1 if input.n > 5`:         errUndefined,
		"x := 1 if input.n > 0\nx := 2": errConflict,
		"x[k] := input.n if some k in [\"a\"]\nx[k] := 2 if some k in [\"a\"]": errKeys,
		`x := startswith(input.n, "a")`:                                        errOperand,
		`x := count(input.n)`:                                                  errOperand,
	} {
		_, err := program(t, "package p\n"+module).Eval(t.Context(), value(t, `{"n": 1}`))
		require.ErrorIs(t, err, want, module)
	}
	several, err := prepared(t, "answer = data.p.x[_]", nil, rego.Module("p.rego", "package p\nx := [1, 2]"))
	require.NoError(t, err)
	_, err = several.Eval(t.Context(), ast.NewObject())
	require.ErrorIs(t, err, errSeveral)
}

// A panic is no answer, and the program is as before.
func TestPanicIsNone(t *testing.T) {
	p := program(t, "package p\nx := input.n")
	right := p.query.blocks
	p.query.blocks = []block{{func(*frame) int { panic(errors.New("boom")) }}}
	_, err := p.Eval(t.Context(), value(t, `{"n": 1}`))
	require.ErrorContains(t, err, "boom")
	p.query.blocks = right
	got, err := p.Eval(t.Context(), value(t, `{"n": 1}`))
	require.NoError(t, err)
	assert.Equal(t, "1", got.String())
}

// The compiler of the policies is as it was, and its store is what the plan reads.
func TestPrepare(t *testing.T) {
	c := ast.MustCompileModules(map[string]string{"p.rego": "package p\nx := [data.limit, input.n]"})
	store := inmem.NewFromObjectWithOpts(map[string]any{"limit": 3}, inmem.OptReturnASTValuesOnRead(true))
	p, err := Prepare(t.Context(), Source{Compiler: c, Store: store}, "data.p.x")
	require.NoError(t, err)
	got, err := p.Eval(t.Context(), value(t, `{"n": 1}`))
	require.NoError(t, err)
	assert.Equal(t, "[3, 1]", got.String())
	_, err = p.EvalRule(t.Context(), []string{"p", "x"})
	require.ErrorIs(t, err, errUndefined)
	_, err = p.EvalRule(t.Context(), []string{"p", "y"})
	require.ErrorIs(t, err, errNoRule)
}
