package models_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	declared "github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/models"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/opa"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// noCodec takes any object.
type noCodec struct{}

func (noCodec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

func dynamic(name, schema string) *runtime.Tool {
	return spec(&runtime.Spec{Name: name, InputSchema: &schema}, false)
}

// spec returns a tool that does nothing, or times out.
func spec(s *runtime.Spec, hangs bool) *runtime.Tool {
	return runtime.NewDynamicTool(s, noCodec{}, func(ctx context.Context, _ wire.Value) (wire.Value, error) {
		if hangs {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return wire.Raw(`{}`), nil
	})
}

// desk returns a declaration at random.
func desk(t *testing.T, r *rand.Rand) *dsl.File {
	t.Helper()
	var b strings.Builder
	b.WriteString("ambit: v1\npackage: desk\ntools:\n")
	ends := r.IntN(2) == 0 // by a tool, while another one has to succeed
	for i := range 6 {
		more := []string{
			"behaviors: [work]", "capabilities: [net]", "modes: {plan: ['off']}", "rules: {exit_loop: true}", "rules: {required_before_exit: true}",
			fmt.Sprintf("rules: {requires_preceding: [t%d]}", (i+1)%6), "rules: {max_calls: 1}", "", "", "",
		}[r.IntN(10)]
		if ends && i < 2 {
			more = []string{"rules: {exit_loop: true}", "rules: {required_before_exit: true}"}[i]
		}
		fmt.Fprintf(&b, `  t%d:
    version: 1.0.0
    description: Does it.
    effect: read
    %s
    input: {type: object, properties: {n: {type: integer, description: A number.}}, required: [n]}
    output: {type: object}
`, i, more)
	}
	f, err := dsl.Parse("tools.yaml", []byte(b.String()), dsl.WithPatterns(gen.PatternFault))
	if err != nil {
		require.ErrorContains(t, err, "cycle", b.String()) // of prerequisites
		return nil
	}
	return f
}

// library returns policies in Rego that allow small numbers: beside them the library decides by
// behavior, capabilities and modes.
func library(t *testing.T, f *dsl.File, reg *runtime.Registry) runtime.Policy {
	t.Helper()
	generated, err := gen.Generate(f, gen.Options{})
	require.NoError(t, err)
	files := fstest.MapFS{}
	for _, file := range generated {
		if name, ok := strings.CutPrefix(file.Name, "policy/"); ok {
			files[name] = &fstest.MapFile{Data: file.Content}
		}
	}
	for _, name := range reg.Names() {
		text := "package ambit.tools." + name + "\nallow contains {\"code\": \"small\", \"message\": \"a small number\"} if input.args.n <= 3\n"
		files[name+".rego"] = &fstest.MapFile{Data: []byte(text)}
	}
	p, err := opa.Load(files, reg)
	require.NoError(t, err)
	require.Implements(t, (*runtime.Offers)(nil), p)
	return p
}

// anyCall allows each call: the rules of the engine alone decide.
func anyCall(*testing.T, *dsl.File, *runtime.Registry) runtime.Policy {
	return runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
}

// withheldCodes are the reasons for which Offer leaves out tools of a run.
var withheldCodes = []string{"behavior_not_allowed", "capability_missing", "mode_off", "exiting", "run_finished"}

// TestOfferLeavesOutNoToolThatWouldRun makes random runs. Whatever Offer leaves out is called next, with
// arguments that the policies allow and with others, and must be refused for the reason that Offer gave.
// A call that is refused for such a reason must be of a tool that Offer has left out.
func TestOfferLeavesOutNoToolThatWouldRun(t *testing.T) {
	for name, policy := range map[string]func(*testing.T, *dsl.File, *runtime.Registry) runtime.Policy{"library": library, "engine": anyCall} {
		t.Run(name, func(t *testing.T) {
			left, ran := map[string]int{}, 0
			for seed := range uint64(max(6, battery.Count(t, 6, 60))) {
				r := rand.New(rand.NewPCG(seed, 3))
				f := desk(t, r)
				if f == nil {
					continue
				}
				tools, err := declared.Tools(f, func(context.Context, string, wire.Value) (wire.Value, error) { return wire.Raw(`{}`), nil })
				require.NoError(t, err)
				reg, err := runtime.NewRegistry(tools...)
				require.NoError(t, err)
				exec, err := engine.NewExecutor(reg, policy(t, f, reg))
				require.NoError(t, err)
				for range 30 {
					ran += wander(t, seed, r, exec, left)
				}
			}
			for _, code := range withheldCodes {
				assert.True(t, left[code] > 0 == (name == "library" || code == "exiting" || code == "run_finished"), "%s: %d", code, left[code])
			}
			assert.Positive(t, ran)
		})
	}
}

// wander makes a random run. It counts what Offer left out by the reason, and returns how many calls ran.
func wander(t *testing.T, seed uint64, r *rand.Rand, exec *engine.Executor, left map[string]int) (ran int) {
	t.Helper()
	reg := exec.Registry()
	cfg := engine.SessionConfig{Principal: "p", Behavior: []string{"", "work", "rest"}[r.IntN(3)], Modes: map[string]string{"plan": []string{"on", "off"}[r.IntN(2)]}}
	if r.IntN(2) == 0 {
		cfg.Capabilities = []string{"net"}
	}
	run, err := exec.Session(cfg).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	tools, err := models.Definitions(reg, dialect.JSONSchema)
	require.NoError(t, err)
	turn := run.Turn(engine.TurnConfig{})
	for range 8 {
		offered, withheld := models.Offer(t.Context(), turn, tools)
		require.Len(t, offered.All(), reg.Len()-len(withheld))
		for name, why := range withheld {
			left[why.Code]++
			_, ok := offered.Lookup(name)
			require.False(t, ok)
			for n := range 5 {
				out := turn.Execute(t.Context(), runtime.Call{Tool: name, Input: fmt.Appendf(nil, `{"n":%d}`, n)})
				require.Equal(t, runtime.Denied, out.Kind, "seed %d: %s was left out: %v", seed, name, why)
				require.True(t, deniedFor(out, why.Code), "seed %d: %s was left out: %v: %v", seed, name, why, out)
			}
		}
		name := reg.Names()[r.IntN(reg.Len())]
		out := turn.Execute(t.Context(), runtime.Call{Tool: name, Input: fmt.Appendf(nil, `{"n":%d}`, r.IntN(5))})
		if out.Kind == runtime.Completed {
			ran++
		}
		for _, code := range withheldCodes {
			if _, gone := withheld[name]; deniedFor(out, code) {
				require.True(t, gone, "seed %d: %s was offered: %v", seed, name, out)
			}
		}
		if r.IntN(20) == 0 {
			require.NoError(t, run.Close(t.Context()))
		}
	}
	return ran
}

// deniedFor reports whether a call was denied for a reason, among others.
func deniedFor(out runtime.Outcome, code string) bool {
	return out.Reason.String() == code || slices.ContainsFunc(out.Denials, func(d runtime.Denial) bool { return d.Code == code })
}

// TestOfferWithoutWhatTimedOut: a tool that timed out in the turn is left out until the next.
func TestOfferWithoutWhatTimedOut(t *testing.T) {
	reg, err := runtime.NewRegistry(spec(&runtime.Spec{Name: "slow", Deadline: 1}, true), spec(&runtime.Spec{Name: "quick"}, false))
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}))
	require.NoError(t, err)
	run, err := exec.Session(engine.SessionConfig{}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	tools, err := models.Definitions(reg, dialect.Gemini)
	require.NoError(t, err)
	turn := run.Turn(engine.TurnConfig{})
	all, withheld := models.Offer(t.Context(), turn, tools)
	assert.Same(t, tools, all)
	assert.Empty(t, withheld)
	out := turn.Execute(t.Context(), runtime.Call{Tool: "slow", Input: []byte(`{}`)})
	require.Equal(t, runtime.TimedOut, out.Kind)
	offered, withheld := models.Offer(t.Context(), turn, tools)
	assert.Len(t, offered.All(), 1)
	assert.Equal(t, "blocked_after_timeout", withheld["slow"].Code)
	_, withheld = models.Offer(t.Context(), run.Turn(engine.TurnConfig{}), tools)
	assert.Empty(t, withheld)
}
