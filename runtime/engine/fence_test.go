package engine_test

import (
	"context"
	goruntime "runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
)

// A ledger knows which call owns it and counts the writes of other calls.
type ledger struct {
	owner atomic.Int64
	late  atomic.Int64
	wrote atomic.Int64
}

func (l *ledger) write(call int64) {
	goruntime.Gosched() // any work between the read and the write
	if l.owner.Load() != call {
		l.late.Add(1)
	}
	l.wrote.Add(1)
}

// TestFenceUnderStress lets handlers write from several goroutines until they are
// refused, while their calls time out. Once a call has its outcome the ledger belongs
// to the next call, and no other call may write.
// SEMANTICS 6.1.5
func TestFenceUnderStress(t *testing.T) {
	const writers = 4
	calls := int64(battery.Count(t, 300, 1000))
	var l ledger
	r := newRig(t, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		var wg sync.WaitGroup
		for range writers {
			wg.Go(func() {
				for runtime.Commit(ctx, func() error { l.write(in.Limit); return nil }) == nil {
				}
			})
		}
		wg.Wait()
		return okRead(ctx, in)
	}, func(s *runtime.Spec) {
		s.Deadline = 50 * time.Microsecond
		if lockorder.Checked {
			s.Deadline = time.Millisecond // a handler has to start before it
		}
		s.Effect, s.Idempotent, s.Retry = runtime.SideEffectWrite, true, &runtime.Retry{OnTimeout: true}
	}))
	turn := r.run().Turn(engine.TurnConfig{})
	for i := int64(1); i <= calls; i++ {
		l.owner.Store(i)
		out := turn.Execute(t.Context(), callOf("", "file_read", `{"path":"a","limit":`+strconv.FormatInt(i, 10)+`}`))
		require.Equal(t, runtime.TimedOut, out.Kind)
	}
	l.owner.Store(0)
	require.NoError(t, r.exec.Shutdown(t.Context())) // waits for the handlers
	assert.Zero(t, l.late.Load(), "late writes, of %d", l.wrote.Load())
	assert.Positive(t, l.wrote.Load())
}
