package engine_test

import (
	"context"
	"errors"
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
)

// oneSecond returns a tool whose handler and undo handler take a second, with one slot.
func oneSecond(change ...func(*runtime.Spec)) *runtime.Tool {
	spec := &runtime.Spec{
		Name: "file_read", Version: "1.0.0", Effect: runtime.SideEffectWrite, Deadline: time.Hour, Undo: &runtime.UndoSpec{},
		Limits: runtime.Limits{Concurrency: 1},
	}
	for _, f := range change {
		f(spec)
	}
	return runtime.NewTool(spec, &readInputRule,
		func(ctx context.Context, in *readInput) (*readOutput, error) {
			time.Sleep(time.Second)
			return okRead(ctx, in)
		},
		runtime.WithUndo(&readInputRule, &readOutputRule,
			func(context.Context, *readInput) (*readInput, error) { return nil, nil },
			func(context.Context, *runtime.Undo[readInput, readInput, readOutput]) error {
				time.Sleep(7 * time.Second)
				return nil
			}))
}

// slowly takes 10 ms to allow a call.
func slowly(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	time.Sleep(10 * time.Millisecond)
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

func asks(s *runtime.Spec) { s.Consent = &runtime.Consent{Ask: runtime.ConsentAskAlways} }

// counter keeps the transitions that it is told of.
type counter struct {
	mu   sync.Mutex
	list []runtime.Transition
}

func (c *counter) Count(t runtime.Transition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, t)
}

// TestTimesOfACall: what the parts took is in the outcome, in its event, in its entry and in its count.
func TestTimesOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &counter{}
		r := newRigWith(t, runtime.PolicyFunc(slowly), []*runtime.Tool{oneSecond(asks)}, engine.WithCounter(k), engine.WithPendingRequests())
		ses := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		run, err := ses.StartRun(t.Context(), engine.RunConfig{ID: "r"})
		require.NoError(t, err)
		turn := run.Turn(engine.TurnConfig{Budget: time.Hour, ConsentWait: time.Hour})
		results := make(chan runtime.Outcome, 2)
		approve := func(after time.Duration) {
			time.Sleep(after)
			requests := r.exec.Requests()
			require.Len(t, requests, 1)
			r.exec.Decide(t.Context(), requests[0].ID, action.Answer{By: runtime.ProgramActor("alice"), Approve: true, NoWait: true})
		}
		for _, id := range []string{"c1", "c2"} {
			go func() { results <- turn.Execute(t.Context(), callOf(id, "file_read", goodInput)) }()
			synctest.Wait()
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			approve(100 * time.Millisecond)
		}
		want := runtime.Times{Policy: 20 * time.Millisecond, Consent: 100 * time.Millisecond, Handler: time.Second}
		first := <-results
		assert.Equal(t, want, first.Times)
		assert.Equal(t, 1120*time.Millisecond, first.Duration)
		second := <-results
		want.Queue = 890 * time.Millisecond // its second evaluation ended 110 ms after the first call had started
		assert.Equal(t, want, second.Times)

		_, err = ses.Undo(t.Context(), action.UndoRequest{CallID: "c2", By: runtime.ProgramActor("alice")})
		require.NoError(t, err)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		seen := map[runtime.EventKind]runtime.Event{}
		for _, e := range r.sink.Events() {
			if e.CallID == "c2" {
				seen[e.Kind] = e
			}
		}
		assert.Equal(t, second.Times, seen[runtime.EventCompleted].Times)
		assert.Equal(t, 7010*time.Millisecond, seen[runtime.EventUndone].Duration, "the policy and the handler of the undo")
		last := map[runtime.EventKind]runtime.Transition{}
		for _, tr := range k.list {
			last[tr.Kind] = tr
		}
		assert.Equal(t, runtime.Transition{
			Kind: runtime.EventCompleted, Ended: true, Outcome: runtime.Completed, Duration: second.Duration, Times: second.Times, Attempts: 1, Output: len(second.Output),
		}, last[runtime.EventCompleted])
		assert.Equal(t, 7010*time.Millisecond, last[runtime.EventUndone].Duration)
		assert.Len(t, k.list, len(r.sink.Events()))
	})
}

// TestStats follows calls through the figures.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if in.CallID == "hangs" {
				<-hang
			}
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
		deadline := func(s *runtime.Spec) { s.Deadline = 500 * time.Millisecond }
		r := newRigWith(t, policy, []*runtime.Tool{
			oneSecond(deadline), oneSecond(asks, func(s *runtime.Spec) { s.Name = "asks" }),
			readTool(okRead, named("plain")),
		}, engine.WithPendingRequests(), engine.WithPolicyTimeout(time.Second))
		turn := r.run().Turn(engine.TurnConfig{})
		var all sync.WaitGroup
		call := func(id, tool string) {
			all.Go(func() { turn.Execute(t.Context(), callOf(id, tool, goodInput)) })
			synctest.Wait()
		}
		call("c1", "file_read")
		call("c2", "file_read")
		call("c3", "asks")
		call("hangs", "plain")
		assert.Equal(t, runtime.Stats{InFlight: 3, Running: 1, Queued: 1, Queues: map[string]int{"file_read": 1}, Waiting: 1}, r.exec.Stats())
		time.Sleep(600 * time.Millisecond) // c1 is over, and its handler holds the slot
		synctest.Wait()
		assert.Equal(t, runtime.Stats{InFlight: 2, Running: 1, Waiting: 1, Lingering: 1}, r.exec.Stats(), "c2 was refused")
		time.Sleep(600 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, runtime.Stats{InFlight: 1, Waiting: 1, Abandoned: 1, LateResults: 1}, r.exec.Stats())
		close(hang)
		r.exec.Decide(t.Context(), r.exec.Requests()[0].ID, action.Answer{By: runtime.ProgramActor("alice")})
		synctest.Wait()
		assert.Equal(t, runtime.Stats{LateResults: 1}, r.exec.Stats())
		all.Wait()
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
	assert.Zero(t, (*engine.Executor)(nil).Stats())
}

type panickingCounter struct{ calls int }

func (c *panickingCounter) Count(runtime.Transition) { c.calls++; panic("no counter") }

// TestAPanickingCounterFailsNoCall: the panic is reported once, and the counter is left alone.
func TestAPanickingCounterFailsNoCall(t *testing.T) {
	k := &panickingCounter{}
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, engine.WithCounter(k))
	turn := r.turn()
	for _, id := range []string{"c1", "c2"} {
		assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(id, "file_read", goodInput)).Kind)
	}
	faults := r.allFaults()
	require.Len(t, faults, 1)
	assert.ErrorContains(t, faults[0], "no counter")
	assert.Equal(t, 1, k.calls)
}

// A tracer writes down what it is told.
type tracer struct {
	mu  sync.Mutex
	log []string
}

type traced struct{}

func (r *tracer) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.log = append(r.log, fmt.Sprintf(format, args...))
}

func (r *tracer) Start(ctx context.Context, call runtime.CallInfo) (context.Context, runtime.Span) {
	r.add("start %s %s", call.ID, call.Tool)
	return context.WithValue(ctx, traced{}, "call"), (*tracedSpan)(r)
}

// A tracedSpan is the span of a tracer.
type tracedSpan tracer

func (s *tracedSpan) part(ctx context.Context, name string) (context.Context, func()) {
	(*tracer)(s).add("%s in %v", name, ctx.Value(traced{}))
	return context.WithValue(ctx, traced{}, name), func() { (*tracer)(s).add("end %s", name) }
}
func (s *tracedSpan) Policy(ctx context.Context) (context.Context, func()) {
	return s.part(ctx, "policy")
}
func (s *tracedSpan) Attempt(ctx context.Context, n int) (context.Context, func()) {
	return s.part(ctx, fmt.Sprint("attempt ", n))
}
func (s *tracedSpan) Consent() func() {
	(*tracer)(s).add("consent")
	return func() { (*tracer)(s).add("end consent") }
}
func (s *tracedSpan) End(out *runtime.Outcome) { (*tracer)(s).add("end %s %v", out.CallID, out.Kind) }

// TestTracer: the parts of calls that were made in every way, each in its context.
// SEMANTICS 2.1.4
func TestTracer(t *testing.T) {
	tr := &tracer{}
	tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		tr.add("handler in %v", ctx.Value(traced{}))
		if info, _ := runtime.FromContext(ctx); info.Attempt == 1 && info.ID == "again" {
			return nil, runtime.Transient(errors.New("once more"))
		}
		return okRead(ctx, in)
	}, func(s *runtime.Spec) { s.Idempotent, s.Retry = true, &runtime.Retry{Max: 1, Initial: 1, Cap: 1} })
	sends := readTool(okRead, named("send"), asks)
	policy := runtime.PolicyFunc(func(ctx context.Context, _ *runtime.PolicyInput) (runtime.Decision, error) {
		tr.add("decides in %v", ctx.Value(traced{}))
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	r := newRigWith(t, policy, []*runtime.Tool{tool, sends}, engine.WithTracer(tr), engine.WithPendingRequests())
	turn := r.turn()
	evaluated := []string{"policy in call", "decides in policy", "end policy"}
	ran := func(n int) []string {
		part := fmt.Sprint("attempt ", n)
		return []string{part + " in call", "handler in " + part, "end " + part}
	}
	expect := func(what string, parts ...[]string) {
		t.Helper()
		var want []string
		for _, p := range parts {
			want = append(want, p...)
		}
		tr.mu.Lock()
		defer tr.mu.Unlock()
		assert.Equal(t, want, tr.log, what)
		tr.log = nil
	}
	turn.Execute(t.Context(), callOf("again", "file_read", goodInput))
	expect("a retry", []string{"start again file_read"}, evaluated, ran(1), ran(2), []string{"end again completed"})
	turn.Execute(t.Context(), callOf("again", "file_read", goodInput))
	expect("a call that repeats another one")
	turn.ExecuteBatch(t.Context(), []runtime.Call{callOf("b", "file_read", goodInput)}, engine.Parallel)
	expect("a batch", []string{"start b file_read"}, evaluated, ran(1), []string{"end b completed"})
	turn.Execute(t.Context(), callOf("b", "file_read", `{"path":"other","limit":2}`))
	expect("an id that was used", []string{"start b file_read", "end b denied"})
	turn.Execute(t.Context(), callOf("u", "no_such", `{}`))
	expect("an unknown tool", []string{"start u no_such", "end u denied"})
	turn.WhatIf(t.Context(), callOf("w", "file_read", goodInput))
	expect("a question", []string{"decides in <nil>"})

	require.Equal(t, runtime.Pending, turn.Execute(t.Context(), callOf("c", "send", goodInput)).Kind)
	expect("consent", []string{"start c send"}, evaluated, []string{"consent"})
	r.exec.Decide(t.Context(), r.exec.Requests()[0].ID, action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
	expect("an approval", []string{"end consent"}, evaluated, []string{"attempt 1 in call", "end attempt 1", "end c completed"})
	turn.Execute(t.Context(), callOf("d", "send", goodInput))
	tr.log = nil
	r.exec.Decide(t.Context(), r.exec.Requests()[0].ID, action.Answer{By: runtime.ProgramActor("alice")})
	expect("a denial", []string{"end consent", "end d denied"})
	require.NoError(t, r.exec.Shutdown(t.Context()))
}

// TestTracerOfAHangingHandler: the span ends with the call, and the attempt with the handler.
func TestTracerOfAHangingHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr, free := &tracer{}, make(chan struct{})
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{blocked(free, func(s *runtime.Spec) { s.Deadline = time.Second })}, engine.WithTracer(tr))
		assert.Equal(t, runtime.TimedOut, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		close(free)
		synctest.Wait()
		assert.Equal(t, []string{"start c1 file_read", "policy in call", "end policy", "attempt 1 in call", "end c1 timed_out", "end attempt 1"}, tr.log)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

type brokenTracer struct{ spans bool }

func (b brokenTracer) Start(context.Context, runtime.CallInfo) (context.Context, runtime.Span) {
	if b.spans {
		return nil, brokenSpan{}
	}
	panic("no tracer")
}

type brokenSpan struct{}

func (brokenSpan) Policy(context.Context) (context.Context, func())       { panic("no policy") }
func (brokenSpan) Attempt(context.Context, int) (context.Context, func()) { return nil, nil }
func (brokenSpan) Consent() func()                                        { panic("no consent") }
func (brokenSpan) End(*runtime.Outcome)                                   { panic("no end") }

// TestABrokenTracerFailsNoCall: its panics are reported.
func TestABrokenTracerFailsNoCall(t *testing.T) {
	for _, tc := range []struct {
		tracer brokenTracer
		faults int
	}{{brokenTracer{}, 1}, {brokenTracer{spans: true}, 2}} {
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead)}, engine.WithTracer(tc.tracer))
		assert.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		assert.Len(t, r.allFaults(), tc.faults)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	}
}
