package opa

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/runtime"
)

// hostile are policies of file_write that are wrong in all ways, by whether the plan has
// an answer for a call with the path docs/a.
var hostile = map[string]struct {
	policy   string
	answered bool
}{
	"right":            {`allow contains {"code": "a", "message": concat("", ["m", input.args.path])} if startswith(input.args.path, "docs/")`, true},
	"builtin error":    {`deny contains {"code": "too_big", "message": "m"} if to_number(input.args.path) > 1`, false},
	"operand error":    {`deny contains {"code": "too_big", "message": "m"} if startswith(input.run.counts[input.tool.name], "a")`, false},
	"several values":   {"x := 1 if contains(input.args.path, \"d\")\nx := 2 if contains(input.args.path, \"o\")\ndeny contains {\"code\": \"too_big\", \"message\": \"m\"} if x == 1", false},
	"several members":  {"x[k] := input.args.path if some k in [input.tool.effect]\nx[k] := input.tool.name if some k in [input.tool.effect]\ndeny contains {\"code\": \"too_big\", \"message\": \"m\"} if x.write == \"a\"", false},
	"undefined helper": {"x := 1 if input.args.path == \"no\"\ndeny contains {\"code\": \"too_big\", \"message\": \"m\"} if not x", true},
	"else":             {"x := 1 if input.args.path == \"no\" else := 2 if input.args.path == \"docs/a\" else := 3\nask contains {\"id\": \"i\", \"message\": sprintf(\"%v\", [x])}", true},
	"with":             {"x := input.args.path\ny := z if { z := x with input.args.path as \"other\" } else := \"none\"\nask contains {\"id\": \"i\", \"message\": concat(\" \", [x, y, x])}", true},
	"every":            {`ask contains {"id": "i", "message": "m"} if every n in input.run.counts { n < 5 }`, true},
	"numbers":          {`ask contains {"id": "i", "message": sprintf("%v %v", [18446744073709551616 + 1, {1.0, 1, 1e0}])} if 1.0 == 1`, true},
	"too much memory":  {"list := [format_int(n, 10) | some n in numbers.range(1, 9000)]\nask contains {\"id\": \"i\", \"message\": \"m\"} if count([concat(input.args.path, list) | some n in numbers.range(1, 1000); n > count(input.args.path) - 9]) > 7", false},
	"odd names":        {"x := {\"a.b\": 1, \"\\\"q\\\"\": 2, \"docs/a\": 3}\nask contains {\"id\": \"i\", \"message\": sprintf(\"%v\", [object.get(x, input.args.path, 0)])}", true},
	"wrong shape":      {`modify contains {"code": "c", "pointer": input.args.path, "value": {1, "a"}}`, true},
}

// A Policy decides the same with both evaluators, errors and their texts included.
func TestEvaluatorsDecideTheSame(t *testing.T) {
	for name, test := range hostile {
		t.Run(name, func(t *testing.T) {
			p, reg := load(t, "w.rego", regotest.Tool(test.policy))
			reference, err := Load(regotest.Dir("w.rego", regotest.Tool(test.policy)), reg, WithEvaluator(Reference))
			require.NoError(t, err)
			inputs := []string{
				`{"path":"docs/a"}`, `{"path":7}`, `{}`, `{"path":["docs/a"]}`, `{"path":{"a":null}}`, `{"path":"a.b"}`, `{"path":"\"q\""}`,
			}
			if name == "too much memory" { // each takes a third of a second
				inputs = inputs[:2]
			} else {
				inputs = append(inputs, `{"path":"docs/`+strings.Repeat("x", 64<<10-100)+`"}`)
			}
			for _, args := range inputs {
				in := call(t, reg, "file_write", args)
				got, gotErr := p.Explain(t.Context(), in)
				want, wantErr := reference.Explain(t.Context(), in)
				assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr), args)
				assert.Equal(t, Reference, want.Evaluator)
				if args == `{"path":"docs/a"}` {
					assert.Equal(t, test.answered, got.Evaluator == Plan, "%v", gotErr)
				}
				want.Evaluator = got.Evaluator
				assert.Equal(t, want, got, args)
			}
			s := p.Stats()
			assert.EqualValues(t, len(inputs), s.Planned+s.NoAnswer)
			assert.Equal(t, Stats{}, reference.Stats())
		})
	}
}

// Both evaluators decide the same about tools that no rule names, with few rules and with many.
func TestEvaluatorsDecideTheSameAmongManyRules(t *testing.T) {
	var many strings.Builder
	for i := range battery.Count(t, 200, 1000) {
		fmt.Fprintf(&many, "ask contains {\"id\": \"i%d\", \"message\": \"m\"} if input.args.path in {\"docs/%d\", \"docs/%d\"}\n", i, i, i+1)
	}
	p, reg := load(t, "w.rego", regotest.Tool(many.String()))
	reference, err := Load(regotest.Dir("w.rego", regotest.Tool(many.String())), reg, WithEvaluator(Reference))
	require.NoError(t, err)
	for _, tool := range reg.All() {
		for _, path := range []string{"docs/7", "docs/199", "docs/none"} {
			in := call(t, reg, tool.Spec().Name, fmt.Sprintf(`{"path":%q}`, path))
			got, gotErr := p.Explain(t.Context(), in)
			want, wantErr := reference.Explain(t.Context(), in)
			assert.Equal(t, fmt.Sprint(wantErr), fmt.Sprint(gotErr), tool.Spec().Name)
			want.Evaluator = got.Evaluator
			assert.Equal(t, want, got, "%s %s", tool.Spec().Name, path)
		}
	}
}

// The context of a call that was stopped is not asked for a second evaluation.
func TestStoppedIsNotAskedAgain(t *testing.T) {
	p, reg := load(t, "w.rego", regotest.Tool(hostile["right"].policy))
	ctx, stop := context.WithCancelCause(t.Context())
	stop(errors.New("enough"))
	for range 3 {
		e, err := p.Explain(ctx, call(t, reg, "file_write", `{"path":"docs/a"}`))
		require.EqualError(t, err, "the policy was stopped: enough")
		assert.Equal(t, Plan, e.Evaluator)
	}
	assert.Zero(t, p.Stats().NoAnswer)
	assert.Equal(t, runtime.EffectAllow, decide(t, p, call(t, reg, "file_write", `{"path":"docs/a"}`)).Effect)
}

// OPA's evaluator makes one decision in n, too, and what it finds is counted.
func TestCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := regotest.Dir("w.rego", regotest.Tool(hostile["right"].policy))
		reg := registryOf(t, specs())
		p, err := Load(fsys, reg, WithCheck(3))
		require.NoError(t, err)
		p.OnDifference(func(d Difference) { t.Errorf("%+v", d) })
		for range 10 {
			decide(t, p, call(t, reg, "file_write", `{"path":"docs/a"}`))
			synctest.Wait()
		}
		assert.Equal(t, Stats{Planned: 10, Checked: 3}, p.Stats())
		p.checking.Store(true)
		for range 3 {
			decide(t, p, call(t, reg, "file_write", `{"path":"docs/a"}`))
		}
		assert.Equal(t, Stats{Planned: 13, Checked: 3, Skipped: 1}, p.Stats(), "a check that is busy makes no call wait")
	})
}

// After a difference OPA's evaluator decides, until the next reload.
func TestDifference(t *testing.T) {
	if compareEvaluators {
		t.Skip("a wrong plan panics before the check")
	}
	for name, test := range map[string]struct {
		wrong  string
		failed bool
	}{
		"another answer": {strings.Replace(hostile["right"].policy, `"m"`, `"n"`, 1), false},
		"OPA refuses":    {hostile["right"].policy, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				right := hostile["right"].policy
				if test.failed {
					right = hostile["builtin error"].policy
				}
				reg := registryOf(t, specs())
				p, err := Load(regotest.Dir("w.rego", regotest.Tool(right)), reg, WithCheck(1))
				require.NoError(t, err)
				wrong, err := Load(regotest.Dir("w.rego", regotest.Tool(test.wrong)), reg)
				require.NoError(t, err)
				g := p.current.Load().generation
				g.plan = wrong.current.Load().plan
				var seen []Difference
				p.OnDifference(func(d Difference) { seen = append(seen, d) })
				in := call(t, reg, "file_write", `{"path":"docs/a"}`)
				e, err := p.Explain(t.Context(), in)
				require.NoError(t, err)
				assert.Equal(t, Plan, e.Evaluator)
				synctest.Wait()
				want := Difference{Time: in.Now, Revision: p.Revision(), Tool: "file_write", CallID: "c1", RunID: "r1", Session: "s1", Failed: test.failed}
				assert.Equal(t, []Difference{want}, seen)
				e, err = p.Explain(t.Context(), in)
				assert.Equal(t, test.failed, err != nil)
				assert.Equal(t, Reference, e.Evaluator)
				synctest.Wait()
				assert.Equal(t, Stats{Planned: 1, Checked: 1, Different: 1}, p.Stats())
				require.NoError(t, p.Reload(regotest.Dir("w.rego", regotest.Tool(hostile["right"].policy+"\n"))))
				e, err = p.Explain(t.Context(), in)
				require.NoError(t, err)
				assert.Equal(t, Plan, e.Evaluator, "the policies are new")
				synctest.Wait()
			})
		})
	}
}

// Each policy of this repository's own tests has a plan: a shape that the planner
// refuses would make every decision slow.
func TestPlansAreMade(t *testing.T) {
	p, _ := load(t)
	assert.NotNil(t, p.current.Load().plan)
	w := newWorld(t, 3)
	assert.NotNil(t, w.policy.current.Load().plan)
}
