package engine_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestCancel cancels calls in every state.
func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		judging := make(chan struct{})
		policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if in.CallID == "judged" {
				close(judging)
				<-ctx.Done()
			}
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
		begun := make(chan string, 2)
		r := newRigWith(t, policy, []*runtime.Tool{
			obedient(begun, func(s *runtime.Spec) { s.Limits.Concurrency = 1 }), readTool(okRead, named("ask"), asking()), readTool(okRead, named("ok")),
		}, engine.WithPendingRequests(), engine.WithJournal(&j), engine.WithPolicyTimeout(time.Hour))
		r.recover()
		turn := r.turn()
		running := told(turn, callOf("running", "file_read", goodInput))
		<-begun
		judged, queued := told(turn, callOf("judged", "ok", goodInput)), told(turn, callOf("queued", "file_read", goodInput))
		waiting := turn.Execute(t.Context(), callOf("waiting", "ask", goodInput))
		<-judging
		synctest.Wait()

		ses := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		for id, out := range map[string]<-chan runtime.Outcome{"judged": judged, "queued": queued, "running": running, "waiting": nil} {
			assert.NoError(t, r.exec.Cancel(t.Context(), "s", id, runtime.ProgramActor("alice"), "not needed"), id)
			entries, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: id})
			require.NoError(t, err)
			by := map[string]string{}
			for _, e := range entries {
				rec, err := journal.Decode(e.Leaf)
				require.NoError(t, err)
				by[rec.Kind] = rec.By
			}
			assert.Equal(t, "alice", by["tool.aborted"], "durable by then")
			got := ses.Await(t.Context(), id)
			if out != nil {
				assert.Equal(t, <-out, got)
			}
			assert.Equal(t, runtime.Cancelled, got.Kind, id)
			assert.Equal(t, runtime.ReasonCancelled, got.Reason, id)
			assert.Contains(t, got.Message, "the call was cancelled: not needed")
			assert.Equal(t, action.CodeAlreadyEnded, codeOf(ses.Cancel(t.Context(), id, runtime.ProgramActor("bob"), "")))
		}
		assert.Empty(t, r.exec.Requests())
		assert.Equal(t, "already_resolved", r.exec.Decide(t.Context(), waiting.RequestID, yes("alice")).Reason.String())
		assert.Equal(t, action.CodeUnknownCall, codeOf(ses.Cancel(t.Context(), "nobody", runtime.ProgramActor("alice"), "")))
		assert.Equal(t, action.CodeUnknownCall, codeOf(r.exec.Cancel(t.Context(), "other", "judged", runtime.ProgramActor("alice"), "")))
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

func TestCancelCannotBeRecorded(t *testing.T) {
	begun := make(chan string, 1)
	j := &broken{left: 2}
	r := recovered(t, j, obedient(begun))
	out := told(r.turn(), callOf("c1", "file_read", goodInput))
	<-begun
	assert.Equal(t, action.CodeJournalUnavailable, codeOf(r.exec.Cancel(t.Context(), "s", "c1", runtime.ProgramActor("alice"), "")))
	assert.Equal(t, runtime.Unknown, (<-out).Kind)
}

// TestTrigger starts calls without waiting for them.
func TestTrigger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		var mu sync.Mutex
		observe := engine.WithObserver(func(info runtime.CallInfo, out runtime.Outcome) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, info.ID+" "+out.Kind.String())
		})
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{
			sleepy(time.Second), sleepy(time.Hour, named("long"), func(s *runtime.Spec) { s.Deadline = 2 * time.Hour }),
			readTool(okRead, named("ask"), asking()),
		}, observe, engine.WithPendingRequests())
		ses := r.exec.Session(engine.SessionConfig{ID: "t", Principal: "agent"})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		turn := run.Turn(engine.TurnConfig{Budget: time.Minute})
		began := time.Now()
		for _, c := range []runtime.Call{
			callOf("a", "file_read", goodInput), callOf("a", "file_read", goodInput), callOf("b", "nothing", goodInput),
			callOf("c", "long", goodInput), callOf("d", "ask", goodInput),
		} {
			id, err := turn.StartCall(c)
			require.NoError(t, err)
			assert.Equal(t, c.ID, id)
		}
		assert.Equal(t, began, time.Now())
		_, err = turn.StartCall(callOf("a", "file_read", `{"path":"other","limit":1}`))
		assert.ErrorContains(t, err, `the call id "a" was used for another call`)
		_, err = new(engine.Turn).StartCall(runtime.Call{})
		assert.ErrorContains(t, err, "there is none")

		assert.Equal(t, runtime.Completed, ses.Await(t.Context(), "a").Kind)
		assert.Equal(t, runtime.ReasonUnknownTool, ses.Await(t.Context(), "b").Reason)
		requests := r.exec.Requests()
		require.Len(t, requests, 1)
		r.exec.Decide(t.Context(), requests[0].ID, yes("alice"))
		assert.Equal(t, runtime.Completed, ses.Await(t.Context(), "d").Kind)
		assert.Equal(t, runtime.TimedOut, ses.Await(t.Context(), "c").Kind, "the turn's budget is its own, too")
		assert.Equal(t, time.Minute, time.Since(began))
		require.NoError(t, r.exec.Flush(t.Context()))
		assert.Contains(t, seen, "a completed")
		assert.Contains(t, seen, "d completed")
		assert.Contains(t, seen, "c timed_out")
		assert.Len(t, seen, 5, "each once: %v", seen)
		id, err := turn.StartCall(runtime.Call{Tool: "file_read", Input: []byte(goodInput)})
		require.NoError(t, err)
		assert.NotEmpty(t, id)
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}
