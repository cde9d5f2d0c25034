package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// putTool returns a tool whose undo handler only calls undone.
func putTool(run readFunc, undone func(callID string), change ...func(*runtime.Spec)) *runtime.Tool {
	spec := &runtime.Spec{Name: "put", Deadline: time.Second, Undo: &runtime.UndoSpec{}}
	for _, f := range change {
		f(spec)
	}
	return runtime.NewTool(spec, &readInputRule, run, runtime.WithUndo(&readInputRule, &readOutputRule,
		func(_ context.Context, in *readInput) (*readInput, error) { return in, nil },
		func(_ context.Context, u *runtime.Undo[readInput, readInput, readOutput]) error {
			undone(u.CallID)
			return nil
		}))
}

// SEMANTICS 4.20.2
func TestUndoIsPolicyCheckedAndAudited(t *testing.T) {
	var answer runtime.Decision
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if in.Undo {
			return answer, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	count := 0
	r := newRigWith(t, policy, []*runtime.Tool{putTool(okRead, func(string) { count++ })})
	ses := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	run, err := ses.StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "put", goodInput))
	undo := action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")}
	for _, tc := range []struct {
		answer runtime.Decision
		why    string
	}{
		{runtime.Decision{}, "no policy allows the undo"},
		{runtime.Decision{Effect: runtime.EffectAllow, Denials: []runtime.Denial{{Code: "frozen"}}}, "the policy denies the undo: frozen"},
	} {
		answer = tc.answer
		assert.Equal(t, undoing{Kind: undoRejected, Reason: action.CodeDenied, Message: tc.why, Err: tc.why}, undoingOf(ses.Undo(t.Context(), undo)))
	}
	assert.Zero(t, count)
	assert.Empty(t, r.allFaults(), "a decision of the policy is no fault")
	answer = runtime.Decision{Effect: runtime.EffectAllow}
	assert.Equal(t, undoOK, undoingOf(ses.Undo(t.Context(), undo)).Kind)
	assert.Equal(t, 1, count)
	events := r.sink.Events()
	for i, kind := range []runtime.EventKind{runtime.EventUndoFailed, runtime.EventUndoFailed, runtime.EventUndone} {
		ev := events[len(events)-3+i]
		assert.Equal(t, kind, ev.Kind)
		assert.Equal(t, "alice", ev.By)
		if kind == runtime.EventUndoFailed {
			assert.Equal(t, []string{"rejected", "denied"}, []string{ev.Resolution, ev.Rejection})
		}
	}
}

// SEMANTICS 4.20.7, 8.1.4
func TestUndoHasALifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, putTool(okRead, func(string) {}))
		ses := r.exec.Session(engine.SessionConfig{})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		turn := run.Turn(engine.TurnConfig{})
		turn.Execute(t.Context(), callOf("c1", "put", goodInput))
		turn.Execute(t.Context(), callOf("c2", "put", goodInput))
		time.Sleep(time.Hour - 1)
		assert.Equal(t, undoOK, undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")})).Kind)
		time.Sleep(time.Nanosecond)
		assert.Equal(t, action.CodeExpired, undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "c2", By: runtime.ProgramActor("ops")})).Reason)
		time.Sleep(time.Minute)
	})
}

// SEMANTICS 4.20.8
func TestTimedOutCallIsUndoneAfterItsGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(ctx context.Context, in *readInput) (*readOutput, error) {
			time.Sleep(time.Minute) // ignores its context
			return okRead(ctx, in)
		}
		count := 0
		r := newRig(t, putTool(slow, func(string) { count++ }))
		ses := r.exec.Session(engine.SessionConfig{})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "put", goodInput))
		require.Equal(t, runtime.TimedOut, out.Kind)
		undo := action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")}
		assert.Equal(t, action.CodeStillRunning, undoingOf(ses.Undo(t.Context(), undo)).Reason)
		time.Sleep(5 * time.Second)
		assert.Equal(t, undoOK, undoingOf(ses.Undo(t.Context(), undo)).Kind)
		assert.Equal(t, 1, count)
		time.Sleep(2 * time.Minute)
	})
}

// TestUndoHandlerKnowsItsCall: an undo handler has to undo the same effect, so it gets
// the key of the handler.
func TestUndoHandlerKnowsItsCall(t *testing.T) {
	var done, undone runtime.CallInfo
	var known bool
	spec := &runtime.Spec{
		Name: "put", Deadline: time.Second, Undo: &runtime.UndoSpec{}, Idempotency: &runtime.Idempotency{Key: []string{"path"}},
	}
	tool := runtime.NewTool(spec, &readInputRule,
		func(ctx context.Context, in *readInput) (*readOutput, error) {
			done, _ = runtime.FromContext(ctx)
			return okRead(ctx, in)
		},
		runtime.WithUndo(&readInputRule, &readOutputRule,
			func(_ context.Context, in *readInput) (*readInput, error) { return in, nil },
			func(ctx context.Context, _ *runtime.Undo[readInput, readInput, readOutput]) error {
				undone, known = runtime.FromContext(ctx)
				return runtime.Commit(ctx, func() error { return nil })
			}))
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, tool)
		ses := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{ID: "r"})
		require.NoError(t, err)
		run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "put", goodInput))
		time.Sleep(10 * time.Second)
		res := undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")}))
		assert.Equal(t, undoOK, res.Kind, res.Err)
		require.True(t, known)
		assert.Equal(t, time.Second, undone.Remaining())
	})
	assert.Equal(t, done.Key(), undone.Key())
	assert.Equal(t, []string{"c1", "put", "s", "r", "agent"}, []string{undone.ID, undone.Tool, undone.Session, undone.Run, undone.Principal})
	assert.Equal(t, 1, undone.Attempt)
}
