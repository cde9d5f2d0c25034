package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestWhatIfGivenUp cancels WhatIf at every moment, while the worker of the evaluation
// may still be busy, for the race detector.
// SEMANTICS 6.12.1
func TestWhatIfGivenUp(t *testing.T) {
	r := newRig(t, readTool(okRead))
	turn := r.turn()
	kinds := map[bool]int{}
	for i := range 400 {
		ctx, cancel := context.WithCancel(t.Context())
		timer := time.AfterFunc(time.Duration(i%40)*time.Microsecond, cancel)
		v := turn.WhatIf(ctx, callOf("", "file_read", goodInput))
		kinds[v.Runs]++
		assert.Equal(t, v.Runs, v.Outcome.Reason == runtime.ReasonNone)
		if v.Runs || len(v.Input) > 0 { // it may have been given up before it was read
			assert.JSONEq(t, goodInput, string(v.Input))
		}
		timer.Stop()
		cancel()
	}
	require.NoError(t, r.exec.Shutdown(t.Context()))
	t.Logf("%d of 400 were given up", kinds[false])
}

// SEMANTICS 6.12.1
func TestWhatIfOfAPolicyThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigWith(t, runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			time.Sleep(time.Minute)
			return allowAll(ctx, in)
		}), []*runtime.Tool{readTool(okRead)})
		v := r.turn().WhatIf(t.Context(), callOf("", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonPolicyError, v.Outcome.Reason)
		assert.False(t, v.Runs)
		assert.JSONEq(t, goodInput, string(v.Input))
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}
