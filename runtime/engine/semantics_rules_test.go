package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// SEMANTICS 4.3.5
func TestBatchesAreParallelByDefault(t *testing.T) {
	var mode engine.BatchMode
	assert.Equal(t, engine.Parallel, mode)
}

// SEMANTICS 3.1.1, 3.1.2
func TestFirstOfTheFirstReasonsIsTheOnlyAnswer(t *testing.T) {
	r := newRigWith(t, decide(runtime.Decision{Denials: []runtime.Denial{{Code: "never"}}}), []*runtime.Tool{readTool(okRead)})
	run := r.run()
	run.ModelStopped(t.Context())
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, []runtime.Reason{runtime.ReasonRunFinished}, out.AllReasons)
}

// SEMANTICS 4.8.5, 4.9.1, 4.9.3
func TestDuplicateHasTheEarlierOutcomeInTheDeclaredWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t,
			readTool(okRead, named("mail"), func(s *runtime.Spec) {
				s.Dedupe = runtime.Dedupe{Mode: runtime.DedupeWindow, Window: time.Minute}
			}),
			readTool(okRead, named("pay"), func(s *runtime.Spec) {
				s.Idempotency = &runtime.Idempotency{Key: []string{"path", "limit"}, Window: time.Minute}
			}))
		turn := r.run().Turn(engine.TurnConfig{})
		for _, tool := range []string{"mail", "pay"} {
			first := turn.Execute(t.Context(), callOf("", tool, goodInput))
			require.Equal(t, runtime.Completed, first.Kind)
			time.Sleep(time.Minute - 1)
			out := turn.Execute(t.Context(), callOf("", tool, ` {"limit":2.0, "path":"a.md"}`))
			assert.Equal(t, runtime.Duplicate, out.Kind, "written otherwise")
			assert.Equal(t, first.CallID, out.Of)
			assert.Equal(t, runtime.ReasonNone, out.Reason)
			assert.Equal(t, string(first.Output), string(out.Output))
			assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("", tool, `{"path":"a.md","limit":3}`)).Kind, "every field counts")
			time.Sleep(time.Nanosecond)
			assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("", tool, goodInput)).Kind)
		}
	})
}

// SEMANTICS 4.11.2, 4.14.8
func TestEngineNeverInventsArguments(t *testing.T) {
	r := newRig(t, readTool(okRead, named("init"), ruled(func(rs *runtime.Rules) { rs.StartConstraint = true })),
		readTool(okRead, named("save"), ruled(func(rs *runtime.Rules) { rs.RequiredBeforeExit = true })))
	run := r.run()
	run.ModelStopped(t.Context())
	assert.Empty(t, run.Turn(engine.TurnConfig{}).ExecuteRequired(t.Context()))
}

// SEMANTICS 4.21.1
func TestSubAgentsInheritDenialsAndQuestions(t *testing.T) {
	var answer runtime.Decision
	policy := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { return answer, nil })
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead), readTool(okRead, named("wire"), asking())}, engine.WithPendingRequests())
	child := r.run().Child(engine.RunConfig{ID: "helper"}).Turn(engine.TurnConfig{})
	do := func(tool string, d runtime.Decision) runtime.Reason {
		answer = d
		return child.Execute(t.Context(), callOf("", tool, goodInput)).Reason
	}
	denial := []runtime.Denial{{Code: "mode_off"}}
	assert.Equal(t, runtime.ReasonModeOff, do("file_read", runtime.Decision{Effect: runtime.EffectAllow, Denials: denial}))
	assert.Equal(t, runtime.ReasonConsentRequired, do("file_read", runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{ID: "big"}}}))
	assert.Equal(t, runtime.ReasonConsentRequired, do("file_read", runtime.Decision{Effect: runtime.EffectAsk}))
	assert.Equal(t, runtime.ReasonConsentRequired, do("wire", runtime.Decision{Effect: runtime.EffectAllow}))
}

// SEMANTICS 3.5.1
func TestWaitingCallIsJudgedWithoutItsOwnSlot(t *testing.T) {
	var seen []uint32
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		seen = append(seen, in.Facts().Tool(in.Index).Invocations)
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead, asking())}, engine.WithPendingRequests())
	out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
	require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), out.RequestID, yes("alice")).Outcome.Kind)
	assert.Equal(t, []uint32{0, 0}, seen)
}

// SEMANTICS 3.7.1
func TestOperationIsJudgedAsRewritten(t *testing.T) {
	allowed := ruled(func(rs *runtime.Rules) {
		rs.AllowedOperations = &runtime.AllowedOperations{Arg: "path", Values: []string{"a.md"}}
	})
	for to, want := range map[string]runtime.Reason{"a.md": runtime.ReasonNone, "b.md": runtime.ReasonOperationNotAllowed} {
		r := newRigWith(t, decide(runtime.Decision{
			Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Code: "safe", Pointer: "/path", Value: wire.Raw(`"` + to + `"`)}},
		}), []*runtime.Tool{readTool(okRead, allowed)})
		turn := r.turn()
		for _, from := range []string{"a.md", "b.md"} {
			out := turn.Execute(t.Context(), callOf("", "file_read", `{"path":"`+from+`","limit":2}`))
			assert.Equal(t, want, out.Reason, "%s becomes %s", from, to)
		}
	}
}

// SEMANTICS 3.7.2
func TestRewriteIsShownToTheApprover(t *testing.T) {
	spec := &runtime.Spec{Name: "put", Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways, Preview: true}}
	tool := runtime.NewTool(spec, &readInputRule, okRead, runtime.WithPreview(func(_ context.Context, in *readInput) (runtime.Preview, error) {
		return runtime.Preview{Text: "put " + in.Path}, nil
	}))
	policy := decide(runtime.Decision{
		Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Code: "safe", Pointer: "/path", Value: wire.Raw(`"b.md"`)}},
	})
	r := newRigWith(t, policy, []*runtime.Tool{tool}, engine.WithPendingRequests())
	out := r.run().Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "put", goodInput))
	require.Equal(t, runtime.Pending, out.Kind, out.Message)
	q, _ := r.exec.Request(out.RequestID)
	assert.Equal(t, "put b.md", q.Preview.Text)
	assert.JSONEq(t, `{"path":"b.md","limit":2}`, string(q.Shown))
	done := r.exec.Decide(t.Context(), out.RequestID, yes("alice")).Outcome
	assert.Contains(t, string(done.Output), "b.md")
}
