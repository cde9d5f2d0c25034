package whatif

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// A policy that does not end is given up by the clock of explain, as by any other.
func TestExplainStopsAPolicyThatHangs(t *testing.T) {
	file, err := dsl.Parse("tools.yaml", []byte(`{ambit: v1, package: p, rules: {cooldown: 1h}, tools: {t: {version: 1.0.0,
		description: Do., input: {type: object}, output: {type: object}}}}`))
	require.NoError(t, err)
	tools, err := dynamic.Tools(file, nil)
	require.NoError(t, err)
	registry, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	synctest.Test(t, func(t *testing.T) {
		clock, err := newPastClock(file, map[string]int{"t": 2}, time.Time{})
		require.NoError(t, err)
		hangs := runtime.PolicyFunc(func(ctx context.Context, _ *runtime.PolicyInput) (runtime.Decision, error) {
			<-ctx.Done()
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
		exec, err := engine.NewExecutor(registry, hangs, engine.WithPolicyTimeout(policyTimeout), engine.WithClock(clock))
		require.NoError(t, err)
		run, err := exec.Session(engine.SessionConfig{}).StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		clock.behind.Store(0)

		ctx, cancel := context.WithTimeout(t.Context(), 3*policyTimeout)
		defer cancel()
		began := time.Now()
		verdict := run.Turn(engine.TurnConfig{}).WhatIf(ctx, runtime.Call{Tool: "t", Input: []byte(`{}`)})
		require.Equal(t, policyTimeout, time.Since(began))
		require.Equal(t, runtime.ReasonPolicyError, verdict.Outcome.Reason)
		require.NoError(t, exec.Shutdown(t.Context()))
	})
}
