package opa

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/facts"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// everything reads every part of the input, and says what it read.
const everything = `package ambit.policies.everything

obligations contains {"code": "notify", "args": {"input": input}} if input.behavior != "single"

deny contains {"code": "too_many", "message": sprintf("%v", [input.run.counts[input.tool.name]])} if input.run.counts[input.tool.name] % 3 == 2

ask contains {"id": "all", "message": concat(" ", sort([t | some t, n in input.run.counts; n > 1]))} if {
	some tool, done in input.run.succeeded
	done
	tool != input.tool.name
}

modify contains {"code": "m", "pointer": concat("/", ["", k]), "value": v} if some k, v in input.args
`

// onlySingle reads facts one by one, so that they are kept between calls.
const onlySingle = `package ambit.policies.single

deny contains {"code": "too_many", "message": sprintf("%v %v", [input.run.counts[input.tool.name], input.run.counts.tool_0001])} if {
	input.run.counts[input.tool.name] % 3 == 2
}

ask contains {"id": "all", "message": concat(" ", sort([t | some t; input.run.counts[t] > 1]))} if {
	some tool
	input.run.succeeded[tool]
	tool != input.tool.name
}

obligations contains {"code": "notify", "args": {"run": input.run.id, "args": input.args, "session": input.session.id, "call": input.call.id, "now": input.now_ns}} if {
	input.principal.capabilities["fs.write"]
}
`

// randomJSON returns any JSON value.
func randomJSON(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n < 2 && depth > 0:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomJSON(r, depth-1)
		}
		return list
	case n < 5 && depth > 0:
		return randomObject(r, depth)
	case n == 5:
		return json.Number(fmt.Sprint(r.Int64() - r.Int64()))
	case n == 6:
		return json.Number(fmt.Sprint(r.NormFloat64() * 1e3))
	case n == 7:
		return r.IntN(2) == 0
	case n == 8:
		return nil
	}
	return []string{"", "a", "é\"\\\n", "/ws/a", "<&>"}[r.IntN(5)]
}

func randomObject(r *rand.Rand, depth int) map[string]any {
	members := map[string]any{}
	for range r.IntN(4) {
		members[[]string{"path", "x", "", "a/b~", "content"}[r.IntN(5)]] = randomJSON(r, depth-1)
	}
	return members
}

// randomize changes everything about a call.
func randomize(t *testing.T, r *rand.Rand, w *world, in *runtime.PolicyInput) {
	t.Helper()
	in.Index = r.IntN(w.reg.Len())
	in.Tool = w.spec(in.Index)
	encoded, err := json.Marshal(randomObject(r, 3))
	require.NoError(t, err)
	args, bad := wire.ParseRaw(encoded, wire.Limits{})
	require.Empty(t, bad)
	in.Args = args
	in.Principal = []string{"agent", "", "other"}[r.IntN(3)]
	in.Capabilities = [][]string{nil, {"fs.write"}, {"other", "fs.write"}}[r.IntN(3)]
	in.Behavior = []string{"", "day", "single"}[r.IntN(3)]
	in.CallID, in.SessionID, in.RunID = fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(3)), ""
	in.Now = time.Unix(0, r.Int64())
}

// reference evaluates a call on the usual way: the input as a struct, through JSON.
func (w *world) reference(t *testing.T, query rego.PreparedEvalQuery, in *runtime.PolicyInput) (any, error) {
	t.Helper()
	plain := *in
	plain.Args = &writeArgs{}
	s := naive(w, &plain)
	text, err := json.Marshal(s)
	require.NoError(t, err)
	input := map[string]any{}
	require.NoError(t, unmarshal(text, &input))
	var args any
	require.NoError(t, unmarshal(in.Args.(wire.Raw), &args))
	input["args"] = args
	results, err := query.Eval(t.Context(), rego.EvalInput(input), rego.EvalRuleIndexing(false))
	if err != nil || len(results) == 0 {
		return nil, fmt.Errorf("undefined: %w", err)
	}
	return results[0].Expressions[0].Value, nil
}

func unmarshal(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// evalLean returns the whole decision of the lean path as JSON values.
func (w *world) evalLean(t *testing.T, in *runtime.PolicyInput) (any, error) {
	t.Helper()
	d := w.policy.current.Load()
	args, err := w.policy.builders.args(d.names, in.Args)
	require.NoError(t, err)
	facts, release := d.facts(d.names, in.Facts())
	defer release()
	input := d.names.input(&d.reads, in, args, facts)
	term, err := d.eval(t.Context(), input)
	planned, noAnswer := d.plan.Eval(t.Context(), input)
	if err != nil {
		require.Error(t, noAnswer, "the plan answers what OPA's evaluator refuses")
		return nil, err
	}
	require.NoError(t, noAnswer)
	require.Zero(t, term.Value.Compare(planned.Value))
	return ast.JSON(term.Value)
}

// The lean path and OPA return the same decision after any sequence of calls.
func TestLeanPathIsOPA(t *testing.T) {
	for _, test := range []struct {
		name, policy string
		whole        bool
	}{{"whole facts", everything, true}, {"single facts", onlySingle, false}} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, 5, "everything.rego", test.policy)
			g := w.policy.current.Load().generation
			require.Equal(t, test.whole, g.reads.wholeFacts)
			query, err := rego.New(rego.Query(policydir.EntryPoint), rego.Compiler(unguarded(t, g.Bundle)), rego.StrictBuiltinErrors(true),
				rego.Store(inmem.NewFromObject(g.Data))).PrepareForEval(t.Context())
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(1, 2))
			var earlier []*runtime.Facts
			decided := 0
			w.during = func(seen *runtime.PolicyInput) {
				earlier = append(earlier, seen.Facts())
				for range 3 {
					in := *seen
					randomize(t, r, w, &in)
					if r.IntN(4) == 0 { // a call with the facts of an earlier snapshot
						in.SetFacts((*facts.Snapshot)(earlier[r.IntN(len(earlier))]))
					}
					want, wantErr := w.reference(t, query, &in)
					got, gotErr := w.evalLean(t, &in)
					require.Equal(t, wantErr == nil, gotErr == nil, "%v %v", wantErr, gotErr)
					require.Equal(t, want, got)
					if gotErr == nil {
						decided++
					}
				}
			}
			w.calls(t, 150)
			assert.Greater(t, decided, 100)
		})
	}
}

// One run's calls may be judged at once, on facts of different age.
func TestFactsAreShared(t *testing.T) {
	w := newWorld(t, 5, "single.rego", onlySingle)
	var snapshots []*runtime.Facts
	var group sync.WaitGroup
	w.during = func(in *runtime.PolicyInput) {
		snapshots = append(snapshots, in.Facts())
		recent := slices.Clone(snapshots[max(0, len(snapshots)-3):])
		for i, f := range recent {
			in := w.input(i, "/ws/a")
			in.SetFacts((*facts.Snapshot)(f))
			group.Go(func() {
				d, err := w.policy.Decide(t.Context(), in)
				assert.NoError(t, err)
				n := f.Tool(i).Invocations
				assert.Equal(t, n%3 == 2, len(d.Denials) == 1, "%d invocations: %v", n, d.Denials)
			})
		}
	}
	w.calls(t, 200)
	group.Wait()
}

// A reload may turn to policies that read the facts as a whole: what was
// changed in place until then is not for them.
func TestWholeFactsAfterReload(t *testing.T) {
	w := newWorld(t, 3, "single.rego", onlySingle)
	w.during = func(in *runtime.PolicyInput) {
		in.Args = &writeArgs{}
		_, err := w.policy.Decide(t.Context(), in)
		assert.NoError(t, err)
	}
	w.calls(t, 8)
	d := w.policy.current.Load()
	require.True(t, (*facts.Snapshot)(w.facts).Memo(nil).(*memo).pair.patched)
	kept, release := d.facts(d.names, w.facts)
	release()
	assert.NotEqual(t, newPair(d.names, w.facts).counts.Hash(), kept.counts.Hash(), "the hash is as wrong as expected")
	g := &generation{reads: reads{wholeFacts: true}}
	own, release := g.facts(d.names, w.facts)
	release()
	assert.Equal(t, newPair(d.names, w.facts).counts.Hash(), own.counts.Hash())
}
