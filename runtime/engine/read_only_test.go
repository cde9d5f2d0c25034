package engine_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestReadToolHasNoPartToWrite calls WritePartOf in calls of both effects.
func TestReadToolHasNoPartToWrite(t *testing.T) {
	for effect, steps := range map[runtime.SideEffect][]string{
		runtime.SideEffectRead:  nil,
		runtime.SideEffectWrite: {"begin", "seal", "commit"},
	} {
		l := &ledgerOfWrites{}
		var err, unknown error
		r := transacting(t, new(journal.Memory), l, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			_, err = runtime.WritePartOf(ctx, l)
			_, unknown = runtime.WritePartOf(ctx, new(ledgerOfWrites))
			return okRead(ctx, in)
		}, func(s *runtime.Spec) { s.Effect = effect }))
		require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		if effect == runtime.SideEffectRead {
			assert.EqualError(t, err, `tool "file_read" cannot write through participant "writes": the tool is declared effect: read: declare effect: write, or read without the transaction of the call`)
			assert.ErrorIs(t, err, runtime.ErrReadOnly)
		} else {
			assert.NoError(t, err)
		}
		assert.ErrorContains(t, unknown, "is no participant of this executor")
		assert.Equal(t, steps, l.steps)
	}
	_, err := runtime.WritePartOf(t.Context(), new(ledgerOfWrites))
	assert.ErrorIs(t, err, runtime.ErrNoCall)
}
