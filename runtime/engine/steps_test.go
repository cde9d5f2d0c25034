package engine_test

import (
	"context"
	goruntime "runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// TestStepsNameNoCallToGiveUp: a caller cannot withdraw a call, so no step tells it to.
// The message names the call whose end would help.
// SEMANTICS 2.4.1
func TestStepsNameNoCallToGiveUp(t *testing.T) {
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{
		readTool(okRead, asking(), func(s *runtime.Spec) { s.Rules.MaxCalls = 1 }),
	}, engine.WithPendingRequests())
	turn := r.run().Turn(engine.TurnConfig{})
	first := turn.Execute(t.Context(), callOf("f1", "file_read", goodInput))
	require.Equal(t, runtime.Pending, first.Kind)
	out := turn.Execute(t.Context(), callOf("f2", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonMaxCalls, out.Reason)
	assert.Empty(t, out.Steps)
	assert.Equal(t, `"file_read" may be called once in a run; it cannot be called any more in this run, `+
		`unless f1 (file_read), which has not started, is denied or cancelled`, out.Message)

	r.exec.Decide(t.Context(), first.RequestID, action.Answer{By: runtime.ProgramActor("alice")})
	assert.Equal(t, runtime.Pending, turn.Execute(t.Context(), callOf("f3", "file_read", goodInput)).Kind, "as it was told")
}

// TestRefusalsCountOne: the message for a limit of one is in the singular.
func TestRefusalsCountOne(t *testing.T) {
	free, begun := make(chan struct{}), make(chan struct{})
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{
		readTool(okRead, asking()),
		readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			close(begun)
			<-free
			return okRead(ctx, in)
		}, named("slow"), func(s *runtime.Spec) { s.Rules.MaxCalls = 1 }),
	}, engine.WithPendingRequests(), engine.WithMaxInFlight(1), engine.WithMaxOpenRequests(1))
	turn := r.run().Turn(engine.TurnConfig{})
	idle := func() { // a call is in flight until its worker has released it
		for r.exec.Stats().InFlight > 0 {
			goruntime.Gosched()
		}
	}
	message := func(id, tool string) string { return turn.Execute(t.Context(), callOf(id, tool, goodInput)).Message }
	require.Equal(t, runtime.Pending, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	idle()
	assert.Contains(t, message("c2", "file_read"), "1 request of this session waits for an answer, which is the most that may")
	idle()
	done := make(chan runtime.Outcome)
	go func() { done <- turn.Execute(t.Context(), callOf("c3", "slow", goodInput)) }()
	<-begun
	assert.Contains(t, message("c4", "file_read"), "1 call is in flight")
	close(free)
	require.Equal(t, runtime.Completed, (<-done).Kind)
	idle()
	assert.Contains(t, message("c5", "slow"), `"slow" may be called once in a run`)
}

// TestWaitsAreRoundedUp: the message has a whole number that is not too short.
// SEMANTICS 2.4.1
func TestWaitsAreRoundedUp(t *testing.T) {
	for passed, told := range map[time.Duration]string{
		time.Microsecond:                          "2s",
		time.Second:                               "1s",
		time.Second + time.Microsecond:            "1s",
		time.Second + 2*time.Millisecond:          "998ms",
		1999*time.Millisecond + 1:                 "1ms",
		1750*time.Millisecond + 5*time.Nanosecond: "250ms",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, readTool(okRead, func(s *runtime.Spec) { s.Rules.Cooldown = 2 * time.Second }))
			turn := r.turn()
			require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
			time.Sleep(passed)
			out := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
			assert.Equal(t, `"file_read" is cooling down: `+told+` must pass; what would help: wait `+told, out.Message)
			assert.Equal(t, 2*time.Second-passed, out.Detail.RetryAfter, "programs read it as it is")
			require.NoError(t, r.exec.Shutdown(t.Context()))
		})
	}
}
