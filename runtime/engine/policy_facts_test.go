package engine_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// TestThirdEvaluationExcludesOtherCalls: other calls of the session change the facts while the policy
// evaluates a call, until they wait for it.
// SEMANTICS 3.5.3
func TestThirdEvaluationExcludesOtherCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		var wg sync.WaitGroup
		start := make(chan string)
		policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			_ = in.Facts()
			if n := tries.Load() + 1; in.CallID == "slow" && n <= 5 {
				tries.Store(n)
				start <- fmt.Sprint("c", n)
				synctest.Wait()
			}
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)})
		turn := r.run().Turn(engine.TurnConfig{})
		go func() {
			for id := range start {
				wg.Go(func() {
					assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(id, "file_read", goodInput)).Kind)
				})
			}
		}()
		assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("slow", "file_read", goodInput)).Kind)
		assert.EqualValues(t, 3, tries.Load())
		close(start)
		wg.Wait()
	})
}
