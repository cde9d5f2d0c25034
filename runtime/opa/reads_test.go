package opa

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// Only the parts of the input that a policy reads are built, however it reads them.
func TestReads(t *testing.T) {
	const all = "all args behavior call modes now_ns principal run run.id session tool"
	library := "args behavior modes principal tool"
	for condition, want := range map[string]string{
		`true`:                        library,
		`input.call.id == "c1"`:       library + " call",
		`input["session"].id == "s1"`: library + " session",
		`{"now_ns": n} := {"now_ns": input.now_ns}; n > 1`: library + " now_ns",
		`input.run.counts.file_write == 0`:                 library + " run",
		`input.run.id == "r1"`:                             library + " run run.id",
		`some k in ["id", "counts"]; input.run[k] == "r1"`: library + " run run.id",
		`x := input.run; x.id == "r1"`:                     library + " run run.id",
		`x := input; x.call.id == "c1"`:                    all,
		`some k in ["call", "tool"]; input[k].id == "c1"`:  all,
		`count(input) > 3`:                                 all,
		`helper(input)`:                                    all,
		`x := [id | id := input.call.id]; count(x) == 1`:   library + " call",
		`every x in ["no"] { input.call.id != x }`:         library + " call",
		`not input.call.id == "no"`:                        library + " call",
		`a with input.call.id as "c2"`:                     library + " call",
		`a with input as {"call": {"id": "c2"}}`:           all,
		`not data.ambit.operators.by_default`:              library + " session",
	} {
		policy := regotest.Tool("helper(x) if x.call.id == \"c1\"\n\na if 1 == 1\n\nallow contains {\"code\": \"x\", \"message\": \"m\"} if {\n\t" + strings.ReplaceAll(condition, "; ", "\n\t") + "\n\tstartswith(input.args.path, \"docs/\")\n}")
		if !strings.Contains(condition, "helper") {
			policy = strings.Replace(policy, "helper(x) if x.call.id == \"c1\"\n\n", "", 1)
		}
		if !strings.Contains(condition, "a with") {
			policy = strings.Replace(policy, "a if 1 == 1\n\n", "", 1)
		}
		p, reg := load(t, "w.rego", policy)
		d := p.current.Load()
		input, release, err := d.input(&p.builders, call(t, reg, "file_write", `{"path":"docs/a"}`))
		require.NoError(t, err)
		assert.Equal(t, sorted(want), built(input.(ast.Object), d.reads.all), condition)
		full := d.names.input(&reads{all: true, runID: true}, call(t, reg, "file_write", `{"path":"docs/a"}`), input.(ast.Object).Get(ast.StringTerm("args")), d.names.none)
		short, err := d.eval(t.Context(), input)
		require.NoError(t, err, condition)
		whole, err := d.eval(t.Context(), full)
		require.NoError(t, err, condition)
		assert.Zero(t, short.Value.Compare(whole.Value), condition)
		release()
	}
}

// built names the parts that an input has.
func built(input ast.Object, all bool) string {
	names := map[string]bool{}
	if all {
		names["all"] = true
	}
	input.Foreach(func(k, v *ast.Term) {
		name := string(k.Value.(ast.String))
		names[name] = true
		if name == "run" && v.Value.(ast.Object).Get(ast.StringTerm("id")) != nil {
			names["run.id"] = true
		}
	})
	return sorted(strings.Join(slices.Collect(maps.Keys(names)), " "))
}

// A decision makes few objects.
func TestAllocationsOfADecision(t *testing.T) {
	if raceDetector || compareEvaluators {
		t.Skip("the race detector empties pools at random, and two evaluators make more objects")
	}
	w := newWorld(t, 10)
	w.calls(t, 10)
	for _, side := range sides {
		in := w.input(4, side.path)
		assert.LessOrEqual(t, fewestAllocs(func() { w.lean(t, in) }), 100.0, side.name)
	}
}

func sorted(words string) string {
	return strings.Join(slices.Sorted(strings.FieldsSeq(words)), " ")
}
