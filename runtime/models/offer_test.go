package models_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// gates is the policy of the model: it allows what the library of package opa would.
type gates struct{ opa.Policy }

func (g *gates) Decide(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	if d, denied := g.Gates(ctx, in); denied {
		return runtime.Decision{Effect: runtime.EffectDeny, Denials: []runtime.Denial{d}}, nil
	}
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// desk returns the tools of the model, at random.
func desk(r *rand.Rand) []*runtime.Tool {
	var tools []*runtime.Tool
	for i := range 6 {
		s := &runtime.Spec{Name: fmt.Sprintf("t%d", i), Effect: runtime.SideEffectRead}
		switch r.IntN(10) {
		case 0:
			s.Behaviors = []string{"work"}
		case 1:
			s.Capabilities = []string{"net"}
		case 2:
			s.Modes = []runtime.Mode{{Name: "plan", Values: []string{"off", ""}}}
		case 3:
			s.Rules.ExitLoop = true
		case 4:
			s.Rules.RequiredBeforeExit = true
		case 5:
			s.Rules.RequiresPreceding = []string{fmt.Sprintf("t%d", (i+1)%6)}
		case 6:
			s.Rules.MaxCalls = 1
		}
		tools = append(tools, spec(s, false))
	}
	return tools
}

// TestOfferLeavesOutNoToolThatWouldRun makes random runs. Whatever Offer leaves out is called next,
// and must be refused for the reason that Offer gave.
func TestOfferLeavesOutNoToolThatWouldRun(t *testing.T) {
	left := map[string]int{}
	for seed := range uint64(battery.Count(t, 300, 5000)) {
		r := rand.New(rand.NewPCG(seed, 3))
		reg, err := runtime.NewRegistry(desk(r)...)
		if err != nil {
			continue // a cycle of prerequisites
		}
		exec, err := engine.NewExecutor(reg, &gates{})
		if err != nil {
			continue
		}
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
				out := turn.Execute(t.Context(), runtime.Call{Tool: name, Input: []byte(`{}`)})
				require.Equal(t, runtime.Denied, out.Kind, "seed %d: %s was left out: %v", seed, name, why)
				require.Equal(t, why.Code, out.Reason.String(), "seed %d: %s", seed, name)
			}
			name := reg.Names()[r.IntN(reg.Len())]
			turn.Execute(t.Context(), runtime.Call{Tool: name, Input: []byte(`{}`)})
			if r.IntN(20) == 0 {
				require.NoError(t, run.Close(t.Context()))
			}
		}
	}
	for _, code := range []string{"behavior_not_allowed", "capability_missing", "mode_off", "exiting", "run_finished"} {
		assert.Positive(t, left[code], code)
	}
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
