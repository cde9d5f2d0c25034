package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

type reconcileFunc = func(context.Context, *runtime.Reconcile[readInput]) (*readOutput, error)

// transfer returns a tool that writes and can find out what an interrupted call did.
func transfer(run readFunc, find reconcileFunc, change ...func(*runtime.Spec)) *runtime.Tool {
	spec := &runtime.Spec{
		Name: "transfer", Version: "1.0.0", Effect: runtime.SideEffectWrite, Deadline: 5 * time.Second, Reconcile: true,
		Undo: &runtime.UndoSpec{}, Rules: runtime.Rules{ExclusiveGroups: []string{"g"}}, Dedupe: runtime.Dedupe{Mode: runtime.DedupeAlways},
	}
	for _, f := range change {
		f(spec)
	}
	return runtime.NewTool(spec, &readInputRule, run, runtime.WithReconcile(find))
}

// interrupted returns a journal whose owner has died while calls of transfer ran.
func interrupted(t *testing.T, s *shared, calls ...string) {
	begun := make(chan string)
	run := func(ctx context.Context, _ *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		begun <- info.Key()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	r := recovered(t, s.take(), transfer(run, nil, func(s *runtime.Spec) { s.Deadline = time.Hour }))
	turn := r.turn()
	for _, id := range calls {
		go turn.Execute(context.Background(), callOf(id, "transfer", strings.Replace(goodInput, "a.md", id, 1)))
		<-begun
	}
	s.take() // the owner dies: nothing that it does is recorded from now on
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		assert.Error(t, r.exec.Shutdown(ctx))
	})
}

func never(context.Context, *readInput) (*readOutput, error) { panic("it ran again") }

// session returns the session of all calls in this file.
func (r *rig) session() *engine.Session {
	return r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
}

// TestReconcile runs the reconcile handlers for interrupted calls, and then again for
// the calls that stayed unknown.
// SEMANTICS 2.2.2, 6.7.5, 6.7.12
func TestReconcile(t *testing.T) {
	var s shared
	interrupted(t, &s, "did", "not", "open", "broken", "wrong", "none")
	var asked []*runtime.Reconcile[readInput]
	find := func(_ context.Context, r *runtime.Reconcile[readInput]) (*readOutput, error) {
		asked = append(asked, r)
		switch r.CallID {
		case "did":
			return &readOutput{Content: r.Input.Path, Size: 7}, nil
		case "not":
			return nil, engine.ErrNothingHappened
		case "broken":
			panic("no")
		case "wrong":
			return &readOutput{Size: -1}, nil
		case "none":
			return nil, nil
		}
		return nil, errors.New("the bank does not answer")
	}
	r := recovered(t, s.take(), transfer(never, find))
	require.Len(t, asked, 6)
	assert.Len(t, asked[0].Key, 64)
	assert.Equal(t, uint64(3), asked[0].Fence)
	did := r.session().Await(t.Context(), "did")
	assert.Equal(t, runtime.Completed, did.Kind)
	assert.JSONEq(t, `{"content":"did","size":7}`, string(did.Output))
	failed := r.session().Await(t.Context(), "not")
	assert.Equal(t, runtime.Failed, failed.Kind)
	assert.Equal(t, runtime.ReasonInterrupted, failed.Reason)
	assert.Equal(t, []string{"tool.orphaned", "tool.unknown", "tool.reconciled"}, r.kinds("did"))
	assert.Len(t, r.allFaults(), 4)
	for _, id := range []string{"open", "broken", "wrong", "none"} {
		assert.Equal(t, runtime.Unknown, r.session().Await(t.Context(), id).Kind, id)
		assert.NotContains(t, r.kinds(id), "tool.reconciled")
	}
	run, _ := r.session().Run("r")
	assert.Equal(t, []string{"transfer"}, run.Status().Succeeded)
	again := run.Turn(engine.TurnConfig{})
	assert.Equal(t, did, again.Execute(t.Context(), callOf("did", "transfer", strings.Replace(goodInput, "a.md", "did", 1))))
	equal := again.Execute(t.Context(), callOf("again", "transfer", strings.Replace(goodInput, "a.md", "did", 1)))
	assert.Equal(t, runtime.Duplicate, equal.Kind)
	assert.Equal(t, did.Output, equal.Output)
	require.NoError(t, r.exec.Shutdown(t.Context()))

	asked = nil
	r = recovered(t, s.take(), transfer(never, find))
	require.Len(t, asked, 4, "they are asked again, and only they")
	assert.Equal(t, did, r.session().Await(t.Context(), "did"))
	assert.Equal(t, failed, r.session().Await(t.Context(), "not"))
	run, _ = r.session().Run("r")
	assert.Equal(t, []string{"transfer"}, run.Status().Succeeded)
	require.NoError(t, r.exec.Shutdown(t.Context()))
}

// TestKeyIsThatOfTheHandler: the reconcile handler gets the key that the handler got.
// SEMANTICS 6.11.1
func TestKeyIsThatOfTheHandler(t *testing.T) {
	for _, change := range []func(*runtime.Spec){
		func(*runtime.Spec) {},
		func(s *runtime.Spec) { s.Idempotency = &runtime.Idempotency{Key: []string{"path"}, Window: time.Hour} },
	} {
		var s shared
		var key, found string
		begun := make(chan struct{})
		hang := func(ctx context.Context, _ *readInput) (*readOutput, error) {
			info, _ := runtime.FromContext(ctx)
			key = info.Key()
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}
		old := recovered(t, s.take(), transfer(hang, nil, change))
		out := told(old.turn(), callOf("c1", "transfer", goodInput))
		<-begun
		recovered(t, s.take(), transfer(never, func(_ context.Context, r *runtime.Reconcile[readInput]) (*readOutput, error) {
			found = r.Key
			return nil, engine.ErrNothingHappened
		}, change))
		assert.Equal(t, key, found)
		assert.NotEmpty(t, key)
		require.Error(t, old.exec.Shutdown(within(t, 0)))
		<-out
	}
}

// TestReconcileThatHangs: a handler that hangs must not keep an executor from starting
// for long.
func TestReconcileThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		interrupted(t, &s, "a", "b", "c")
		asked := 0
		began := time.Now()
		r := recovered(t, s.take(), transfer(never, func(ctx context.Context, _ *runtime.Reconcile[readInput]) (*readOutput, error) {
			asked++
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.Equal(t, 1, asked)
		assert.Equal(t, runtime.Unknown, r.session().Await(t.Context(), "a").Kind)
		assert.ErrorContains(t, r.allFaults()[0], "reconcile: it did not finish within 5s")
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestResolve: an operator gives calls their outcomes.
// SEMANTICS 6.7.6
func TestResolve(t *testing.T) {
	var s shared
	interrupted(t, &s, "did", "not", "undone")
	tool := transfer(never, func(context.Context, *runtime.Reconcile[readInput]) (*readOutput, error) {
		return nil, errors.New("nobody knows")
	})
	r := recovered(t, s.take(), tool)
	ses := r.session()
	assert.Equal(t, action.CodeUnknownCall, codeOf(ses.Resolve(t.Context(), "nobody", action.ResolveRequest{By: runtime.ProgramActor("ops")})))
	assert.Equal(t, action.CodeUnknownCall, codeOf(r.exec.Resolve(t.Context(), "other", "did", action.ResolveRequest{By: runtime.ProgramActor("ops")})))
	assert.NoError(t, ses.Resolve(t.Context(), "did", action.ResolveRequest{TookEffect: true, By: runtime.ProgramActor("alice"), Reason: "it is in the ledger"}))
	assert.NoError(t, r.exec.Resolve(t.Context(), "s", "not", action.ResolveRequest{By: runtime.ProgramActor("alice")}))
	assert.Equal(t, action.CodeNotUnknown, codeOf(ses.Resolve(t.Context(), "not", action.ResolveRequest{TookEffect: true, By: runtime.ProgramActor("ops")})))
	assert.Equal(t, undoOK, undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "undone", By: runtime.ProgramActor("alice")})).Kind)
	assert.Equal(t, action.CodeNotUnknown, codeOf(ses.Resolve(t.Context(), "undone", action.ResolveRequest{TookEffect: true, By: runtime.ProgramActor("ops")})))
	assert.Equal(t, action.CodeNotSuccessful, undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "not", By: runtime.ProgramActor("alice")})).Reason)
	did, not := ses.Await(t.Context(), "did"), ses.Await(t.Context(), "not")
	assert.Equal(t, runtime.Completed, did.Kind)
	assert.Contains(t, did.Message, "it is in the ledger")
	assert.Equal(t, runtime.Failed, not.Kind)
	for _, e := range r.sink.Events() {
		if e.Kind == runtime.EventReconciled {
			assert.Equal(t, "alice", e.By)
		}
	}

	r = recovered(t, s.take(), tool) // without a shutdown, because all of that is durable
	assert.Equal(t, did, r.session().Await(t.Context(), "did"))
	assert.Equal(t, not, r.session().Await(t.Context(), "not"))
	assert.Equal(t, action.CodeAlreadyUndone, undoingOf(r.session().Undo(t.Context(), action.UndoRequest{CallID: "undone", By: runtime.ProgramActor("ops")})).Reason)
	assert.Empty(t, r.allFaults(), "none of them is asked about any more")
	assert.Equal(t, undoOK, undoingOf(r.session().Undo(t.Context(), action.UndoRequest{CallID: "did", By: runtime.ProgramActor("bob")})).Kind)
	require.NoError(t, r.exec.Shutdown(t.Context()))
	assert.Equal(t, action.CodeJournalUnavailable, codeOf(r.session().Resolve(t.Context(), "did", action.ResolveRequest{By: runtime.ProgramActor("ops")})))
}

// TestReconciledOutputIsRedacted: the obligations of the policy outlive the process.
func TestReconciledOutputIsRedacted(t *testing.T) {
	var s shared
	begun := make(chan struct{})
	hang := func(ctx context.Context, _ *readInput) (*readOutput, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	policy := decide(runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{
		{Code: "redact_output", Args: []byte(`{"pointers":["/content"]}`)},
	}})
	old := newRigWith(t, policy, []*runtime.Tool{transfer(hang, nil)}, engine.WithJournal(s.take()))
	old.recover()
	out := told(old.turn(), callOf("c1", "transfer", goodInput))
	<-begun
	r := recovered(t, s.take(), transfer(never, func(context.Context, *runtime.Reconcile[readInput]) (*readOutput, error) {
		return &readOutput{Content: "secret", Size: 1}, nil
	}))
	found := r.session().Await(t.Context(), "c1")
	assert.Equal(t, runtime.Completed, found.Kind)
	assert.NotContains(t, string(found.Output), "secret")
	require.Error(t, old.exec.Shutdown(within(t, 0)))
	<-out
}

func TestDynamicReconcile(t *testing.T) {
	var s shared
	interrupted(t, &s, "c1")
	spec := &runtime.Spec{Name: "transfer", Reconcile: true}
	run := func(context.Context, wire.Value) (wire.Value, error) { panic("it ran again") }
	r := recovered(t, s.take(), runtime.NewDynamicTool(spec, anyCodec{}, run, runtime.WithDynamicReconcile(
		func(_ context.Context, call *runtime.CallInfo, input wire.Value) (wire.Value, error) {
			assert.Len(t, call.Key(), 64)
			return input, nil
		})))
	found := r.session().Await(t.Context(), "c1")
	assert.Equal(t, runtime.Completed, found.Kind)
	assert.JSONEq(t, `{"path":"c1","limit":2}`, string(found.Output))
	require.NoError(t, r.exec.Shutdown(t.Context()))
}
