package opa

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// goPolicy is toolPolicy and teamPolicy in Go.
func goPolicy(in *runtime.PolicyInput) runtime.Decision {
	var d runtime.Decision
	path, content := in.Args.(*writeArgs).Path, in.Args.(*writeArgs).Content
	if strings.HasPrefix(path, "/etc/") {
		d.Denials = append(d.Denials, runtime.Denial{Code: "system_path", Message: path + " is a system path"})
	}
	if len(content) > 1000 {
		d.Denials = append(d.Denials, runtime.Denial{Code: "too_big", Message: fmt.Sprint(len(content), " characters")})
	}
	if in.Facts().Tool(in.Index).Invocations > 100_000 {
		d.Denials = append(d.Denials, runtime.Denial{Code: "too_many", Message: "too often"})
	}
	if strings.HasPrefix(path, "/home/") {
		d.Asks = append(d.Asks, runtime.Ask{ID: "home", Message: "into a home", Approvers: []string{"owner"}})
	}
	switch {
	case len(d.Denials) > 0:
		d.Effect = runtime.EffectDeny
	case len(d.Asks) > 0:
		d.Effect = runtime.EffectAsk
	case strings.HasPrefix(path, "/ws/"):
		d.Effect = runtime.EffectAllow
	default:
		d.Denials = []runtime.Denial{{Code: "no_allow"}}
	}
	return d
}

// sides are the calls that are measured: one that is allowed, one that is refused, one
// that needs consent.
var sides = []struct{ name, path string }{{"allow", "/ws/a"}, {"deny", "/etc/passwd"}, {"ask", "/home/a"}}

// A way is one of the ways that a benchmark measures side by side.
type way struct {
	name string
	f    func()
}

// The figures of ways that take turns: the least time, the median, the allocations.
func sideBySide(b *testing.B, title string, rounds int, ways []way) (least []time.Duration) {
	b.Helper()
	times, calls := make([][]time.Duration, len(ways)), make([]int, len(ways))
	for i, w := range ways { // a batch takes about 0.2 ms, so that some are not interrupted
		w.f()
		start := time.Now()
		w.f()
		calls[i] = max(1, int(200*time.Microsecond/(time.Since(start)+time.Nanosecond)))
	}
	for range rounds {
		for i, w := range ways {
			start := time.Now()
			for range calls[i] {
				w.f()
			}
			times[i] = append(times[i], time.Since(start)/time.Duration(calls[i]))
		}
	}
	for i, w := range ways {
		slices.Sort(times[i])
		least = append(least, times[i][0])
		fmt.Printf("%-6s %-32s least %9v  median %9v  %5.0f allocs  1/%.1f\n", title, w.name, times[i][0], times[i][rounds/2],
			testing.AllocsPerRun(20, w.f), float64(least[0])/float64(times[i][0]))
	}
	return least
}

// BenchmarkDecide prints, side by side, the usual way to ask OPA, Policy.Decide with
// each evaluator, the parts of it, and a policy in Go. The last column is against the
// usual way.
func BenchmarkDecide(b *testing.B) {
	w := newWorld(b, 100)
	w.calls(b, 10)
	w.policy.checkEvery = 0
	reference := w.withoutPlan()
	for _, side := range sides {
		in := w.input(42, side.path)
		ready := naive(w, in)
		d := w.policy.current.Load()
		input, release, err := d.input(&w.policy.builders, in)
		require.NoError(b, err)
		term, err := d.eval(b.Context(), input)
		require.NoError(b, err)
		sideBySide(b, side.name, 300, []way{
			{"EvalInput(struct)", func() { w.eval(b, ready) }},
			{"Policy.Decide, OPA's evaluator", func() { _, _ = reference.Decide(b.Context(), in) }},
			{"Policy.Decide, plan", func() { w.lean(b, in) }},
			{"evaluation alone, OPA's", func() { _, _ = d.eval(b.Context(), input) }},
			{"evaluation alone, plan", func() { _, _ = d.plan.Eval(b.Context(), input) }},
			{"input alone", func() { _, release, _ := d.input(&w.policy.builders, in); release() }},
			{"answer alone", func() { _, _ = decode(term) }},
			{"a policy in Go", func() { goPolicy(in) }},
		})
		release()
	}
	b.Run("call", func(b *testing.B) { w.guardedCalls(b, reference) })
	b.Run("whatif", func(b *testing.B) { w.whatIfs(b, reference) })
}

// withoutPlan returns a policy of the same policies that OPA's evaluator decides.
func (w *world) withoutPlan() *Policy {
	p := &Policy{reg: w.reg, evaluator: Reference}
	d := w.policy.current.Load()
	g := &generation{Bundle: d.Bundle, store: d.store, query: d.query, queryCompiler: d.queryCompiler, reads: d.reads}
	p.current.Store(&decider{g, d.names, d.askers})
	return p
}

// turnOf returns a turn of an executor with a policy.
func (w *world) turnOf(b *testing.B, p runtime.Policy) *engine.Turn {
	b.Helper()
	exec, err := engine.NewExecutor(w.reg, p, engine.WithPolicyTimeout(time.Minute))
	require.NoError(b, err)
	run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent", Capabilities: []string{"fs.write"}, Behavior: "day"}).StartRun(b.Context(), engine.RunConfig{ID: "r"})
	require.NoError(b, err)
	return run.Turn(engine.TurnConfig{Budget: time.Hour})
}

// callers are the policies of a guarded call.
func (w *world) callers(reference *Policy) map[string]runtime.Policy {
	return map[string]runtime.Policy{
		"OPA's evaluator": reference, "plan": w.policy,
		"Go": runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) { return goPolicy(in), nil }),
	}
}

var callInput = []byte(`{"path":"/ws/a","content":"hello","mode":"create"}`)

// guardedCalls prints what a guarded call takes with each policy.
func (w *world) guardedCalls(b *testing.B, reference *Policy) {
	var ways []way
	policies := w.callers(reference)
	for _, name := range []string{"OPA's evaluator", "plan", "Go"} {
		turn := w.turnOf(b, policies[name])
		ways = append(ways, way{"a guarded call, " + name, func() {
			if out := turn.Execute(b.Context(), runtime.Call{Tool: "tool_0042", Input: callInput}); out.Kind != runtime.Completed {
				b.Fatal(out.Message)
			}
		}})
	}
	sideBySide(b, "call", 300, ways)
}

// whatIfs prints what the question about every tool of a turn takes.
func (w *world) whatIfs(b *testing.B, reference *Policy) {
	var ways []way
	policies := w.callers(reference)
	for _, name := range []string{"OPA's evaluator", "plan"} {
		turn := w.turnOf(b, policies[name])
		ways = append(ways, way{"100 WhatIf calls, " + name, func() {
			for _, tool := range w.reg.Names() {
				if v := turn.WhatIf(b.Context(), runtime.Call{Tool: tool, Input: callInput}); !v.Runs {
					b.Fatal(v.Outcome.Message)
				}
			}
		}})
	}
	sideBySide(b, "whatif", 60, ways)
}

var sink atomic.Uint64

// Two goroutines decide, against two that only compute: both scale as the machine does.
func BenchmarkDecideParallel(b *testing.B) {
	w := newWorld(b, 100)
	w.calls(b, 10)
	in := w.input(42, "/ws/a")
	compute := func() {
		x := uint64(1)
		for range 20_000 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		sink.Store(x)
	}
	scale := func(f func()) float64 {
		run := func(goroutines int) time.Duration {
			done := make(chan struct{})
			start := time.Now()
			for range goroutines {
				go func() {
					for range 300 {
						f()
					}
					done <- struct{}{}
				}()
			}
			for range goroutines {
				<-done
			}
			return time.Since(start) / time.Duration(goroutines)
		}
		return float64(run(1)) / float64(run(2))
	}
	var cpu, decide []float64
	for range 40 {
		cpu, decide = append(cpu, scale(compute)), append(decide, scale(func() { w.lean(b, in) }))
	}
	slices.Sort(cpu)
	slices.Sort(decide)
	fmt.Printf("two goroutines: computing %.2f, deciding %.2f, of it %.2f\n", cpu[20], decide[20], decide[20]/cpu[20])
}
