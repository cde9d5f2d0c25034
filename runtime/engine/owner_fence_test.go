package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A fenced is a journal that keeps its next owner out while an effect is in progress.
type fenced struct{ *owned }

func (f fenced) Fence(_ context.Context, effect func()) error {
	f.mu.Lock()
	stands := f.shared.epoch == f.epoch
	f.mu.Unlock()
	if !stands {
		return fmt.Errorf("epoch %d: %w", f.epoch, journal.ErrLost)
	}
	effect()
	return nil
}

// stopped returns a tool whose handler waits, after it has begun, for goOn, as if its
// process were stopped meanwhile.
func stopped(begun chan<- string, goOn <-chan struct{}, then readFunc) readFunc {
	return func(ctx context.Context, in *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		begun <- info.ID
		<-goOn
		return then(ctx, in)
	}
}

// TestFormerOwnerHasNoEffects stops an owner in a handler until a successor owns the
// journal: the handler has no effect under the fence, and the ownership is lost.
// SEMANTICS 6.9.1
func TestFormerOwnerHasNoEffects(t *testing.T) {
	var s shared
	begun, goOn := make(chan string), make(chan struct{})
	late := make(chan error, 1)
	former := recovered(t, fenced{s.take()}, readTool(stopped(begun, goOn, func(ctx context.Context, _ *readInput) (*readOutput, error) {
		late <- runtime.Commit(ctx, func() error { t.Error("an effect of a former owner"); return nil })
		return &readOutput{}, nil
	})))
	out := told(former.turn(), callOf("c1", "file_read", goodInput))
	<-begun

	done := errors.New("done")
	var wrote error
	successor := recovered(t, fenced{s.take()}, readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) {
		wrote = runtime.Commit(ctx, func() error { return done })
		return &readOutput{}, nil
	}))
	run, err := successor.exec.Session(engine.SessionConfig{ID: "next"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
	assert.Equal(t, done, wrote)

	close(goOn)
	err = <-late
	assert.ErrorIs(t, err, runtime.ErrFenced)
	assert.ErrorIs(t, err, journal.ErrLost)
	assert.NotEqual(t, runtime.Completed, (<-out).Kind)
	assert.ErrorIs(t, former.exec.Shutdown(t.Context()), journal.ErrLost)
	require.NoError(t, successor.exec.Shutdown(t.Context()))
}

// TestFormerOwnerRollsNothingBack lets a call of a stopped owner fail after its
// successor has settled the call: the parts at participants belong to the successor.
// SEMANTICS 6.9.1
func TestFormerOwnerRollsNothingBack(t *testing.T) {
	for _, foreign := range []bool{false, true} {
		var s shared
		begun, goOn := make(chan string), make(chan struct{})
		l := &ledgerOfWrites{foreign: foreign}
		former := transacting(t, fenced{s.take()}, l, writeTool(l, stopped(begun, goOn, func(context.Context, *readInput) (*readOutput, error) {
			return nil, errors.New("no")
		})))
		out := told(former.turn(), callOf("c1", "file_read", goodInput))
		<-begun
		s.take()
		close(goOn)
		assert.False(t, (<-out).RolledBack && !foreign)
		assert.ErrorIs(t, former.exec.Shutdown(t.Context()), journal.ErrLost)
		assert.Equal(t, foreign, slices.Contains(l.steps, "rollback"), "a foreign transaction does not stay open")
	}
}

// TestFormerOwnerCommitsNothingForeign takes over from an owner that has decided to
// commit. The successor says that the call is unknown, and the former owner does not
// commit it later.
// SEMANTICS 6.9.1
func TestFormerOwnerCommitsNothingForeign(t *testing.T) {
	var s shared
	first := s.take()
	j := &takenAfterDecision{fenced: fenced{first}, take: sync.OnceFunc(func() { s.take() })}
	l := &ledgerOfWrites{foreign: true}
	former := transacting(t, j, l, writeTool(l, okRead))
	out := former.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.NotEqual(t, runtime.Completed, out.Kind)
	assert.NotContains(t, l.steps, "commit")
	assert.ErrorIs(t, former.exec.Shutdown(t.Context()), journal.ErrLost)
}

// takenAfterDecision is a journal that a successor takes over as soon as a decision to
// commit is durable.
type takenAfterDecision struct {
	fenced
	take func()
}

func (j *takenAfterDecision) Append(ctx context.Context, entries []journal.Entry) error {
	err := j.fenced.Append(ctx, entries)
	for i := range entries {
		if entries[i].Kind == journal.KindCommitting {
			j.take()
		}
	}
	return err
}
