package engine_test

import (
	"bytes"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// TestRestartWarns takes over from an owner that died while a handler ran, and reads
// what is logged at warning level.
func TestRestartWarns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		begun := make(chan string, 1)
		r := recovered(t, s.take(), obedient(begun))
		out := told(r.turn(), callOf("c1", "file_read", goodInput))
		<-begun
		time.Sleep(2 * time.Minute)

		var logged bytes.Buffer
		log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
		next := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)},
			engine.WithJournal(s.take()), engine.WithSink(runtime.NewLogSink(log)))
		next.recover()
		require.NoError(t, next.exec.Flush(t.Context()))
		assert.Contains(t, logged.String(), "level=WARN msg=tool.stale")
		assert.Regexp(t, `level=WARN msg=tool.unknown .*call=c1 .*reason=interrupted`, logged.String())
		assert.NotContains(t, logged.String(), "msg=tool.orphaned", "what becomes of the call is said next")
		<-out
		require.Error(t, r.exec.Shutdown(t.Context()))
		require.NoError(t, next.exec.Shutdown(t.Context()))
	})
}

// TestFailedUndoIsLoggedAsAWarning emits the event of a restart for an undo that was
// interrupted.
func TestFailedUndoIsLoggedAsAWarning(t *testing.T) {
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelWarn}))
	require.NoError(t, runtime.NewLogSink(log).Emit(&runtime.Event{Kind: runtime.EventUndoFailed, CallID: "c1", Rejection: "interrupted", Err: "stopped"}))
	assert.Regexp(t, `level=WARN msg=tool.undo_failed .*call=c1 .*reason=interrupted error=stopped`, logged.String())
}

// TestDuplicatesAreNoWarnings: a call that repeats an earlier one is logged as such, and not among the refusals.
//
// SEMANTICS 4.8.10
func TestDuplicatesAreNoWarnings(t *testing.T) {
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	once := readTool(okRead, func(s *runtime.Spec) { s.Dedupe.Mode, s.Rules.MaxCalls = runtime.DedupeAlways, 1 })
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{once}, engine.WithSink(runtime.NewLogSink(log)))
	turn := r.turn()
	turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.Equal(t, runtime.Duplicate, turn.Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
	require.Equal(t, runtime.ReasonMaxCalls, turn.Execute(t.Context(), callOf("c3", "file_read", `{"path":"b.md","limit":2}`)).Reason)
	require.NoError(t, r.exec.Flush(t.Context()))
	assert.Regexp(t, `level=DEBUG msg=tool.denied .*call=c2 .*outcome=duplicate`, logged.String())
	assert.Regexp(t, `level=WARN msg=tool.denied .*call=c3 .*reason=max_calls`, logged.String())
	assert.NotRegexp(t, `level=WARN .*call=c2 `, logged.String())
}
