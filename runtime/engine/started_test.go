package engine_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/tap"
)

// A bell is a sink that receives the id of every call that has started.
type bell chan string

func (b bell) Emit(e *runtime.Event) error {
	if e.Kind == runtime.EventStarted {
		b <- e.CallID
	}
	return nil
}

// A holdingTap holds calls between their admission and what comes after it while it is locked.
type holdingTap struct{ sync.Mutex }

func (h *holdingTap) Open(tap.Host) tap.Follower { return h }

func (h *holdingTap) Decided(*tap.Decision) {
	h.Lock()
	defer h.Unlock()
}

func (h *holdingTap) Close() {}

// heldCall makes a call that is held after its start, before its handler runs. It
// returns a function that releases the call, and its outcome.
func heldCall(t *testing.T, ctx context.Context, ran *bool) (turn *engine.Turn, goOn func(), ended <-chan runtime.Outcome) {
	started, hold := make(bell, 1), new(holdingTap)
	r := newRigWith(t, decide(runtime.Decision{Effect: runtime.EffectAllow}), []*runtime.Tool{
		readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			*ran = true
			return okRead(ctx, in)
		}),
	}, engine.WithDecisionTap(hold), engine.WithSink(started))
	turn = r.turn()
	out := make(chan runtime.Outcome, 1)
	hold.Lock()
	go func() { out <- turn.Execute(ctx, callOf("c1", "file_read", goodInput)) }()
	require.Equal(t, "c1", <-started)
	return turn, func() {
		hold.Unlock()
		require.NoError(t, r.exec.Shutdown(t.Context()))
	}, out
}

// TestEndedBeforeTheHandler ends a call that has started: its handler does not run.
func TestEndedBeforeTheHandler(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ran := false
	_, goOn, ended := heldCall(t, ctx, &ran)
	cancel()
	assert.Equal(t, runtime.Cancelled, (<-ended).Kind)
	goOn()
	assert.False(t, ran)
}

// TestStartedBeforeTheBlock blocks the tool of a call that has started in the turn, as
// the timeout of another call does: the call has used its admission, and goes on.
func TestStartedBeforeTheBlock(t *testing.T) {
	ran := false
	turn, goOn, ended := heldCall(t, t.Context(), &ran)
	turn.Block(0)
	goOn()
	assert.Equal(t, runtime.Completed, (<-ended).Kind)
	assert.True(t, ran)
}
