package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// heldCall makes a call that is held after its start, before its handler runs: while it prepares its undo. It
// returns a function that releases the call, and its outcome.
func heldCall(t *testing.T, ctx context.Context, ran *bool) (turn *engine.Turn, goOn func(), ended <-chan runtime.Outcome) {
	started, hold := make(chan struct{}), make(chan struct{})
	spec := &runtime.Spec{Name: "file_read", Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{}}
	r := newRig(t, runtime.NewTool(spec, &readInputRule, func(ctx context.Context, in *readInput) (*readOutput, error) {
		*ran = true
		return okRead(ctx, in)
	}, runtime.WithUndo(&readInputRule, &readOutputRule,
		func(context.Context, *readInput) (*readInput, error) {
			close(started)
			<-hold
			return nil, nil
		},
		func(context.Context, *runtime.Undo[readInput, readInput, readOutput]) error { return nil })))
	turn = r.turn()
	out := make(chan runtime.Outcome, 1)
	go func() { out <- turn.Execute(ctx, callOf("c1", "file_read", goodInput)) }()
	<-started
	return turn, func() {
		close(hold)
		assert.NoError(t, r.exec.Shutdown(t.Context()))
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
