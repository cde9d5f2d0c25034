package engine_test

import (
	"context"
	"fmt"
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

// blocked returns a tool whose handlers return when free is closed.
func blocked(free <-chan struct{}, change ...func(*runtime.Spec)) *runtime.Tool {
	return readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		<-free
		return okRead(ctx, in)
	}, append([]func(*runtime.Spec){func(s *runtime.Spec) { s.Deadline = time.Hour }}, change...)...)
}

// recordsOf returns what a journal holds.
func recordsOf(t *testing.T, j *journal.Memory) (records []*journal.Record) {
	entries, err := j.Read(t.Context(), 0, 10_000)
	require.NoError(t, err)
	for _, e := range entries {
		r, err := journal.Decode(e.Leaf)
		require.NoError(t, err)
		records = append(records, r)
	}
	return records
}

// A queueRig is an executor with a journal, with one tool whose handlers wait and one
// other tool. It records what policy and observers were told.
type queueRig struct {
	exec    *engine.Executor
	turn    *engine.Turn
	journal journal.Memory
	free    chan struct{}

	mu           sync.Mutex
	judged, told []string
}

func newQueueRig(t *testing.T, concurrency, queue int) *queueRig {
	r := &queueRig{free: make(chan struct{})}
	note := func(list *[]string, id string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		*list = append(*list, id)
	}
	policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		note(&r.judged, in.CallID)
		return allowAll(ctx, in)
	})
	tool := blocked(r.free, func(s *runtime.Spec) { s.Limits.Concurrency, s.Limits.Queue = concurrency, queue })
	reg, err := runtime.NewRegistry(tool, readTool(okRead, named("other")))
	require.NoError(t, err)
	r.exec, err = engine.NewExecutor(reg, policy, engine.WithJournal(&r.journal),
		engine.WithObserver(func(info runtime.CallInfo, _ runtime.Outcome) { note(&r.told, info.ID) }))
	require.NoError(t, err)
	require.NoError(t, r.exec.Recover(t.Context()))
	run, err := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	r.turn = run.Turn(engine.TurnConfig{})
	return r
}

// TestQueueIsBounded fills the slots and the queue of a tool: one more call is
// refused at once, before the policy and the journal, and its id is not used up.
// SEMANTICS 6.3.4, 6.3.5, 6.3.6, 8.1.11
func TestQueueIsBounded(t *testing.T) {
	for name, tc := range map[string]struct{ concurrency, queue, room int }{
		"default":  {2, 0, 10},
		"declared": {2, 3, 5},
		"none":     {2, runtime.NoQueue, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newQueueRig(t, tc.concurrency, tc.queue)
				var wg sync.WaitGroup
				for i := range tc.room {
					wg.Go(func() {
						out := r.turn.Execute(t.Context(), callOf(fmt.Sprint("c", i), "file_read", goodInput))
						assert.Equal(t, runtime.Completed, out.Kind, out.Message)
					})
				}
				synctest.Wait()
				time.Sleep(time.Second) // until all entries are written
				synctest.Wait()
				before := len(recordsOf(t, &r.journal))
				r.refuse(t, tc.room)
				close(r.free)
				wg.Wait()
				synctest.Wait() // until their workers have released them
				out := r.turn.Execute(t.Context(), callOf("late", "file_read", goodInput))
				assert.Equal(t, runtime.Completed, out.Kind, "the id was not used up")
				synctest.Wait()
				assert.Zero(t, r.exec.Stats().InFlight)
				require.NoError(t, r.exec.Shutdown(t.Context()))
				for _, r := range recordsOf(t, &r.journal)[before:] {
					assert.NotEqual(t, "b1", r.Call)
				}
			})
		})
	}
}

// refuse makes calls that exceed the capacity, in every way.
func (r *queueRig) refuse(t *testing.T, room int) {
	out := r.turn.Execute(t.Context(), callOf("late", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonAtCapacity, out.Reason)
	assert.Equal(t, time.Second, out.Detail.RetryAfter)
	assert.Equal(t, runtime.LoopContinue, out.Loop)
	assert.Contains(t, out.Message, "make the call again in 1s")
	verdict := r.turn.WhatIf(t.Context(), callOf("", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonAtCapacity, verdict.Outcome.Reason)
	_, err := r.turn.StartCall(callOf("trigger", "file_read", goodInput))
	assert.ErrorContains(t, err, "is busy")
	outs := r.turn.ExecuteBatch(t.Context(), []runtime.Call{
		callOf("b1", "file_read", goodInput), callOf("b2", "other", goodInput)}, engine.Parallel)
	assert.Equal(t, runtime.ReasonAtCapacity, outs[0].Reason)
	assert.Equal(t, runtime.Completed, outs[1].Kind, "another tool has room")
	synctest.Wait() // a call is in flight until its worker has released it
	assert.EqualValues(t, 4, r.exec.Stats().AtCapacity)
	assert.Equal(t, room, r.exec.Stats().InFlight)
	r.mu.Lock()
	defer r.mu.Unlock()
	assert.NotContains(t, r.judged, "late", "the policy was not asked")
	assert.NotContains(t, r.judged, "b1")
	assert.Contains(t, r.told, "late", "observers know")
}

// TestCallsInFlightAreBounded fills an executor with calls whose handlers run and with
// one whose handler runs on after its call has ended. A call that waits for consent, a
// repeated call and the answer to a request do not count.
// SEMANTICS 6.3.4, 6.3.5
func TestCallsInFlightAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		free := make(chan struct{})
		policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if in.Tool.Name == "asked" {
				return runtime.Decision{Effect: runtime.EffectAsk}, nil
			}
			return allowAll(ctx, in)
		})
		r := newRigWith(t, policy, []*runtime.Tool{blocked(free), blocked(free, named("deaf"), func(s *runtime.Spec) { s.Deadline = time.Second }),
			readTool(okRead, named("asked"))}, engine.WithMaxInFlight(3), engine.WithPendingRequests())
		turn := r.run().Turn(engine.TurnConfig{})
		pending := turn.Execute(t.Context(), callOf("asked", "asked", goodInput))
		require.Equal(t, runtime.Pending, pending.Kind)
		synctest.Wait() // until its worker has released it
		var wg sync.WaitGroup
		for _, id := range []string{"c1", "c2"} {
			wg.Go(func() { turn.Execute(t.Context(), callOf(id, "file_read", goodInput)) })
		}
		assert.Equal(t, runtime.TimedOut, turn.Execute(t.Context(), callOf("deaf", "deaf", goodInput)).Kind)
		assert.Equal(t, 3, r.exec.Stats().InFlight)

		out := turn.Execute(t.Context(), callOf("c4", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonAtCapacity, out.Reason)
		assert.Contains(t, out.Message, "3 calls are in flight")
		assert.Equal(t, runtime.ReasonAtCapacity, turn.Execute(t.Context(), callOf("c5", "nothing", goodInput)).Reason)
		assert.Equal(t, runtime.TimedOut, turn.Execute(t.Context(), callOf("deaf", "deaf", goodInput)).Kind, "a repeated call")
		res := r.exec.Decide(t.Context(), pending.RequestID, action.Answer{By: runtime.ProgramActor("ada"), Approve: true})
		require.NotNil(t, res.Outcome)
		assert.Equal(t, runtime.Completed, res.Outcome.Kind)
		close(free)
		wg.Wait()
		synctest.Wait()
		assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c4", "file_read", goodInput)).Kind)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestRetryAfterIsAnEstimate: a place becomes free when a handler has returned.
// SEMANTICS 6.3.6
func TestRetryAfterIsAnEstimate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, sleepy(90*time.Second, func(s *runtime.Spec) {
			s.Limits.Concurrency, s.Limits.Queue, s.Deadline = 2, runtime.NoQueue, time.Hour
		}))
		turn := r.run().Turn(engine.TurnConfig{})
		var wg sync.WaitGroup
		both := func() {
			for range 2 {
				wg.Go(func() { turn.Execute(t.Context(), callOf("", "file_read", goodInput)) })
			}
			synctest.Wait()
		}
		both()
		wg.Wait()
		synctest.Wait() // until their workers have released them
		both()
		out := turn.Execute(t.Context(), callOf("", "file_read", goodInput))
		assert.Equal(t, 45*time.Second, out.Detail.RetryAfter)
		wg.Wait()
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

func TestCapacityOptions(t *testing.T) {
	reg, err := runtime.NewRegistry(readTool(okRead))
	require.NoError(t, err)
	_, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithMaxInFlight(0))
	assert.ErrorContains(t, err, "works on one at least")
	_, err = runtime.NewRegistry(readTool(okRead, func(s *runtime.Spec) { s.Limits.Queue = 3 }))
	assert.ErrorContains(t, err, "limits.queue without limits.concurrency")
}
