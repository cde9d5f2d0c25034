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
	"github.com/ambit-tools/ambit/runtime/journal"
)

// spanOf is what a tracer is told of a call that completes, without its policy.
func spanOf(id string) []string {
	return []string{"start " + id + " file_read", "policy in call", "end policy", "attempt 1 in call", "handler in attempt 1", "end attempt 1", "end " + id + " completed"}
}

// lines returns what the tracer was told since it was asked last.
func (r *tracer) lines() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, r.log = r.log, nil
	return list
}

// TestTracerOfCallsWithoutACaller: calls that are triggered, periodic, or run again after a restart have
// spans like the others, with their parts in them.
func TestTracerOfCallsWithoutACaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &tracer{}
		handle := func(ctx context.Context, in *readInput) (*readOutput, error) {
			tr.add("handler in %v", ctx.Value(traced{}))
			return okRead(ctx, in)
		}
		periodic := readTool(handle, func(s *runtime.Spec) { s.Every, s.Args = time.Hour, goodInput })
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{periodic}, engine.WithTracer(tr))
		run := r.run()
		_, err := run.Turn(engine.TurnConfig{}).StartCall(callOf("triggered", "file_read", goodInput))
		require.NoError(t, err)
		synctest.Wait()
		assert.Equal(t, spanOf("triggered"), tr.lines())
		done := make(chan error)
		go func() { done <- run.Periodic(t.Context()) }()
		time.Sleep(time.Hour + 1)
		synctest.Wait()
		seen := tr.lines()
		require.NotEmpty(t, seen)
		assert.Equal(t, spanOf(strings.Fields(seen[0])[1]), seen)
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, <-done)

		var j journal.Memory
		never := make(chan struct{})
		change := func(s *runtime.Spec) { reads(s); retried(s) }
		turn := recovered(t, &j, readTool(func(context.Context, *readInput) (*readOutput, error) {
			<-never
			return nil, context.Canceled
		}, change)).turn()
		go turn.Execute(context.Background(), callOf("rerun", "file_read", goodInput))
		synctest.Wait()
		again := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(handle, change)}, engine.WithTracer(tr), engine.WithJournal(&j))
		again.recover()
		assert.Equal(t, runtime.Completed, again.exec.Await(t.Context(), "s", "rerun").Kind)
		synctest.Wait()
		seen = tr.lines()
		require.NotEmpty(t, seen)
		assert.Equal(t, []string{"start rerun file_read", "end rerun completed"}, []string{seen[0], seen[len(seen)-1]})
		assert.Contains(t, strings.Join(seen, "\n"), "attempt 2 in call\nhandler in attempt 2\nend attempt 2")
		close(never)
		synctest.Wait()
	})
}

// TestTracerOfAPreview: the preview of a call runs in the context of its span.
func TestTracerOfAPreview(t *testing.T) {
	tr := &tracer{}
	tool := shownTool(t, func(ctx context.Context, _ *readInput) (runtime.Preview, error) {
		tr.add("preview in %v", ctx.Value(traced{}))
		return runtime.Preview{Text: "pays"}, nil
	})
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{tool}, engine.WithTracer(tr), engine.WithPendingRequests())
	require.Equal(t, runtime.Pending, r.turn().Execute(t.Context(), callOf("c", "pay", goodInput)).Kind)
	assert.Equal(t, []string{"start c pay", "policy in call", "end policy", "preview in call", "consent"}, tr.lines())
}

// TestCountersAreToldOfTheEvents: what a counter is told of is every event of calls and nothing else, in
// their order.
// SEMANTICS 2.1.4
func TestCountersAreToldOfTheEvents(t *testing.T) {
	k := &counter{}
	fails := readTool(func(context.Context, *readInput) (*readOutput, error) { return nil, errors.New("no") }, named("fails"))
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead), readTool(okRead, named("send"), asking()), fails},
		engine.WithCounter(k), engine.WithPendingRequests())
	turn := r.turn()
	turn.Execute(t.Context(), callOf("a", "file_read", goodInput))
	turn.Execute(t.Context(), callOf("b", "no_such", goodInput))
	turn.Execute(t.Context(), callOf("c", "fails", goodInput))
	out := turn.Execute(t.Context(), callOf("d", "send", goodInput))
	require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), out.RequestID, yes("alice")).Outcome.Kind)
	out = turn.Execute(t.Context(), callOf("e", "send", goodInput))
	require.NotNil(t, r.exec.Decide(t.Context(), out.RequestID, action.Answer{By: yes("alice").By}).Outcome)
	require.NoError(t, r.exec.Flush(t.Context()))
	var events, counted []runtime.EventKind
	for _, e := range r.sink.Events() {
		events = append(events, e.Kind)
	}
	for _, tr := range k.list {
		counted = append(counted, tr.Kind)
	}
	assert.Greater(t, len(events), 20)
	assert.Equal(t, events, counted)
}

// TestUnsetHooksAllocateNothing: without a tracer, the span of a call costs no allocation.
func TestUnsetHooksAllocateNothing(t *testing.T) {
	r := newRig(t, readTool(okRead))
	assert.Zero(t, r.exec.AllocsOfUnsetHooks())
}
