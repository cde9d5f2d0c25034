package engine_test

import (
	"context"
	"errors"
	"maps"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/facts"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A decisionCase is a decision of a policy and the outcome of its call.
type decisionCase struct {
	d      runtime.Decision
	reason runtime.Reason
	rule   string
	all    []runtime.Reason
}

func decisionCases() map[string]decisionCase {
	raw := func(s string) wire.Raw { return wire.Raw(s) }
	allow := runtime.EffectAllow
	return map[string]decisionCase{
		"zero":  {runtime.Decision{}, runtime.ReasonPolicyDenied, "no_allow", nil},
		"allow": {runtime.Decision{Effect: allow}, runtime.ReasonNone, "", nil},
		"ask":   {runtime.Decision{Effect: runtime.EffectAsk, Asks: []runtime.Ask{{ID: "big"}}}, runtime.ReasonConsentUnavailable, "big", nil},
		"ask beside an allow": {
			runtime.Decision{Effect: allow, Asks: []runtime.Ask{{ID: "big"}}}, runtime.ReasonConsentUnavailable, "big", nil},
		"no effect": {runtime.Decision{Effect: 7}, runtime.ReasonPolicyError, "effect", nil},
		"denial beside an allow": {
			runtime.Decision{Effect: allow, Denials: []runtime.Denial{{Code: "outside", At: "p.rego:3"}}},
			runtime.ReasonPolicyDenied, "outside", nil},
		"denials in order": {
			runtime.Decision{Denials: []runtime.Denial{{Code: "outside"}, {Code: "mode_off"}, {Code: "behavior_not_allowed"}, {Code: "late"}}},
			runtime.ReasonBehaviorNotAllowed, "",
			[]runtime.Reason{runtime.ReasonBehaviorNotAllowed, runtime.ReasonModeOff, runtime.ReasonPolicyDenied}},
		"capability": {
			runtime.Decision{Denials: []runtime.Denial{{Code: "capability_missing"}}}, runtime.ReasonCapabilityMissing, "", nil},
		"unknown obligation": {
			runtime.Decision{Effect: allow, Obligations: []runtime.Obligation{{Code: "dance"}}}, runtime.ReasonPolicyDenied, "unknown_obligation", nil},
		"redaction of nothing": {
			runtime.Decision{Effect: allow, Obligations: []runtime.Obligation{{Code: "redact_output", Args: raw(`{}`)}}},
			runtime.ReasonPolicyError, "redact_output", nil},
		"redaction with a typo": {
			runtime.Decision{Effect: allow, Obligations: []runtime.Obligation{{Code: "redact_output", Args: raw(`{"pointers":["/x"],"pointer":1}`)}}},
			runtime.ReasonPolicyError, "redact_output", nil},
		"redaction of nonsense": {
			runtime.Decision{Effect: allow, Obligations: []runtime.Obligation{{Code: "redact_output", Args: raw(`{"pointers":["x"]}`)}}},
			runtime.ReasonPolicyError, "redact_output", nil},
	}
}

func rewriteCases() map[string]decisionCase {
	rewrite := func(pointer, value string) runtime.Rewrite {
		return runtime.Rewrite{Code: "cap", Pointer: pointer, Value: wire.Raw(value), At: "p.rego:7"}
	}
	allow := runtime.EffectAllow
	return map[string]decisionCase{
		"rewrite": {runtime.Decision{Effect: allow, Rewrites: []runtime.Rewrite{rewrite("/limit", "5")}}, runtime.ReasonNone, "", nil},
		"same rewrite twice": {
			runtime.Decision{Effect: allow, Rewrites: []runtime.Rewrite{rewrite("/limit", "5"), rewrite("/limit", "5")}}, runtime.ReasonNone, "", nil},
		"conflict": {
			runtime.Decision{Effect: allow, Rewrites: []runtime.Rewrite{rewrite("/limit", "5"), rewrite("/limit", "6")}},
			runtime.ReasonPolicyError, "rewrite", nil},
		"overlap": {
			runtime.Decision{Effect: allow, Rewrites: []runtime.Rewrite{rewrite("", "{}"), rewrite("/limit", "6")}},
			runtime.ReasonPolicyError, "rewrite", nil},
		"rewrite to nonsense": {
			runtime.Decision{Effect: allow, Rewrites: []runtime.Rewrite{rewrite("/limit", "0")}}, runtime.ReasonPolicyError, "rewrite", nil},
		"rewrite without JSON": {
			runtime.Decision{Effect: allow, Rewrites: []runtime.Rewrite{rewrite("/limit", "")}}, runtime.ReasonPolicyError, "rewrite", nil},
		"rewrite of nothing": {
			runtime.Decision{Effect: allow, Rewrites: []runtime.Rewrite{rewrite("/a/b", "0")}}, runtime.ReasonPolicyError, "rewrite", nil},
		"rewrite to an unknown member": {
			runtime.Decision{Effect: allow, Rewrites: []runtime.Rewrite{rewrite("/b", "0")}}, runtime.ReasonPolicyError, "rewrite", nil},
		"rewrite and ask": {
			runtime.Decision{Effect: runtime.EffectAsk, Rewrites: []runtime.Rewrite{rewrite("/limit", "5")}}, runtime.ReasonConsentUnavailable, "", nil},
		"rewrite and denial": {
			runtime.Decision{Denials: []runtime.Denial{{Code: "x"}}, Rewrites: []runtime.Rewrite{rewrite("/q", "5")}},
			runtime.ReasonPolicyDenied, "x", nil},
	}
}

// SEMANTICS 2.3.4, 3.5.2, 3.6.1, 3.6.2
func TestDecisions(t *testing.T) {
	cases := decisionCases()
	maps.Copy(cases, rewriteCases())
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.d.Revision = "r7"
			r := newRigWith(t, decide(tc.d), []*runtime.Tool{readTool(okRead)})
			turn := r.turn()
			v := turn.WhatIf(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Empty(t, r.sink.Events(), "what-if leaves no trace")
			out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, tc.reason, out.Reason, out.Message)
			assert.Equal(t, tc.rule, out.Detail.Rule)
			if tc.all != nil {
				assert.Equal(t, tc.all, out.AllReasons)
			}
			assert.Equal(t, out.Kind == runtime.Completed, v.Runs)
			if !v.Runs {
				assert.Equal(t, out.Reason, v.Outcome.Reason)
				assert.Equal(t, out.AllReasons, v.Outcome.AllReasons)
				assert.Equal(t, out.Detail, v.Outcome.Detail)
			}
			assert.Equal(t, "r7", out.Revision)
			assert.Equal(t, out.Reason == runtime.ReasonPolicyError, len(r.allFaults()) == 2, "operators know")
		})
	}
}

// SEMANTICS 3.6.3
func TestPolicyThatFails(t *testing.T) {
	for name, policy := range map[string]runtime.PolicyFunc{
		"error": func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{Effect: runtime.EffectAllow}, errors.New("undefined function")
		},
		"panic":  func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { panic("undefined function") },
		"goexit": func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) { goruntime.Goexit(); panic("") },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)})
			turn := r.turn()
			for _, id := range []string{"c1", "c2", "c3"} {
				out := turn.Execute(t.Context(), callOf(id, "file_read", goodInput))
				assert.Equal(t, runtime.Denied, out.Kind)
				assert.Equal(t, runtime.ReasonPolicyError, out.Reason)
				assert.NotContains(t, out.Message, "undefined")
			}
			assert.Len(t, r.allFaults(), 3)
		})
	}
}

func TestPolicyInput(t *testing.T) {
	var got runtime.PolicyInput
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		got = *in
		got.SetFacts((*facts.Snapshot)(in.Facts()))
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead, named("other")), readTool(okRead)})
	modes := map[string]string{"web_mode": "off"}
	ses := r.exec.Session(engine.SessionConfig{
		ID: "s", Principal: "alice", Capabilities: []string{"fs"}, Behavior: "edit", Modes: modes,
	})
	modes["web_mode"] = "live"
	run, err := ses.StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	turn := run.Turn(engine.TurnConfig{})
	turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))

	assert.Equal(t, "file_read", got.Tool.Name)
	assert.Equal(t, 1, got.Index)
	assert.Equal(t, &readInput{Path: "a.md", Limit: 2}, got.Args)
	assert.Equal(t, []string{"c2", "s", "r", "alice", "edit"}, []string{got.CallID, got.SessionID, got.RunID, got.Principal, got.Behavior})
	assert.Equal(t, map[string]string{"web_mode": "off"}, got.Modes, "the session's own copy")
	assert.Equal(t, runtime.ToolFacts{Invocations: 1, Successes: 1}, got.Facts().Tool(1))
	assert.Zero(t, got.Facts().Tool(0))
	assert.Equal(t, 2, got.Facts().Len())
	assert.Equal(t, []string{"file_read"}, run.Status().Succeeded)
}

// TestPolicyIsAbandoned hangs the policy: the call is denied exactly at the limit, two
// evaluations that hang open the breaker, and one that ends closes it.
// SEMANTICS 3.5.6, 3.5.7, 3.6.3, 8.1.9
func TestPolicyIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := map[string]time.Duration{"c1": 10 * time.Second, "c2": 20 * time.Second}
		policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			time.Sleep(hang[in.CallID])
			return runtime.Decision{Effect: runtime.EffectAllow}, ctx.Err()
		})
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)})
		run := r.run()
		turn := run.Turn(engine.TurnConfig{})
		for _, id := range []string{"c1", "c2"} {
			start := time.Now()
			out := turn.Execute(t.Context(), callOf(id, "file_read", goodInput))
			assert.Equal(t, runtime.DefaultPolicyTimeout, time.Since(start))
			assert.Equal(t, runtime.ReasonPolicyError, out.Reason)
			assert.Equal(t, "timeout", out.Detail.Rule)
		}
		out := turn.Execute(t.Context(), callOf("c3", "file_read", goodInput))
		assert.Equal(t, "breaker_open", out.Detail.Rule)
		assert.Equal(t, runtime.ReasonPolicyError, out.Reason)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		out = turn.Execute(t.Context(), callOf("c4", "file_read", goodInput))
		assert.Equal(t, runtime.Completed, out.Kind)
		assert.Equal(t, 1, run.Status().Invocations["file_read"])
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

func TestCancelledWhileThePolicyThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		policy := runtime.PolicyFunc(func(ctx context.Context, _ *runtime.PolicyInput) (runtime.Decision, error) {
			time.Sleep(10 * time.Second)
			assert.ErrorIs(t, ctx.Err(), context.Canceled)
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)})
		turn := r.turn()
		for _, id := range []string{"c1", "c2"} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
			out := turn.Execute(ctx, callOf(id, "file_read", goodInput))
			cancel()
			assert.Equal(t, runtime.Cancelled, out.Kind)
		}
		time.Sleep(2 * time.Second)
		out := turn.Execute(t.Context(), callOf("c3", "file_read", goodInput))
		assert.Equal(t, "breaker_open", out.Detail.Rule, "evaluations that outlive a cancelled call count")
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestAdmissionIsAtomic lets a policy count: in every interleaving, no more calls are
// admitted than it allows, although it reads snapshots.
// SEMANTICS 3.5.3, 3.5.4
func TestAdmissionIsAtomic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var evaluations atomic.Int32
		policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			evaluations.Add(1)
			made := in.Facts().Tool(in.Index).Invocations
			time.Sleep(time.Millisecond)
			if made >= 3 {
				return runtime.Decision{}, nil
			}
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
		r := newRigWith(t, policy, []*runtime.Tool{sleepy(time.Second)})
		run := r.run()
		turn := run.Turn(engine.TurnConfig{})
		var completed, denied atomic.Int32
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				switch out := turn.Execute(t.Context(), callOf("", "file_read", goodInput)); {
				case out.Kind == runtime.Completed:
					completed.Add(1)
				case out.Detail.Rule == "no_allow":
					denied.Add(1)
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 3, completed.Load())
		assert.EqualValues(t, 17, denied.Load())
		assert.LessOrEqual(t, evaluations.Load(), int32(20*3))
		assert.Equal(t, 3, run.Status().Invocations["file_read"])
	})
}

// TestFactsOfAnEvaluation changes the facts during an evaluation. The facts that the
// policy has read do not change, and it is evaluated again; a policy that has read no
// facts is not.
// SEMANTICS 3.5.1, 3.5.3
func TestFactsOfAnEvaluation(t *testing.T) {
	for looks, tries := range map[bool]int32{true: 2, false: 1} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int32
			var seen []uint32
			var turn *engine.Turn
			policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
				if in.CallID != "c2" {
					return runtime.Decision{Effect: runtime.EffectAllow}, nil
				}
				look := func() {
					if looks {
						seen = append(seen, in.Facts().Tool(0).Successes)
					}
				}
				look()
				if asked.Add(1) == 1 {
					var other sync.WaitGroup
					other.Go(func() {
						assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
					})
					other.Wait()
				}
				look()
				return runtime.Decision{Effect: runtime.EffectAllow}, nil
			})
			turn = newRigWith(t, policy, []*runtime.Tool{readTool(okRead)}).turn()
			assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
			assert.Equal(t, tries, asked.Load(), looks)
			if looks {
				assert.Equal(t, []uint32{0, 0, 1, 1}, seen)
			}
		})
	}
}

// TestHeldSessionIsReleased hangs the policy while no other call of the session may be
// admitted.
// SEMANTICS 3.5.1
func TestHeldSessionIsReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int32
		var other func()
		policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			_ = in.Facts()
			if in.CallID == "slow" {
				if tries.Add(1) < 3 {
					other()
				} else {
					time.Sleep(time.Hour)
				}
			}
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		})
		r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)})
		turn := r.run().Turn(engine.TurnConfig{})
		var wg sync.WaitGroup
		call := make(chan string)
		other = func() { call <- ""; synctest.Wait() }
		go func() {
			for id := range call {
				wg.Go(func() {
					assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf(id, "file_read", goodInput)).Kind)
				})
			}
		}()
		start := time.Now()
		out := turn.Execute(t.Context(), callOf("slow", "file_read", goodInput))
		assert.Equal(t, "timeout", out.Detail.Rule)
		assert.Equal(t, runtime.DefaultPolicyTimeout, time.Since(start))
		assert.EqualValues(t, 3, tries.Load())
		call <- "after"
		close(call)
		synctest.Wait()
		wg.Wait()
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// SEMANTICS 3.7.2, 3.7.3
func TestRewriteReachesTheHandler(t *testing.T) {
	var evaluated []int64
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		args := in.Args.(*readInput)
		evaluated = append(evaluated, args.Limit)
		d := runtime.Decision{Effect: runtime.EffectAllow}
		if args.Limit > 10 {
			d.Rewrites = []runtime.Rewrite{{Pointer: "/limit", Value: wire.Raw("10")}, {Pointer: "/path", Value: wire.Raw(`"b.md"`)}}
		}
		return d, nil
	})
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)})
	turn := r.turn()
	v := turn.WhatIf(t.Context(), callOf("c1", "file_read", `{"path":"a.md","limit":200}`))
	assert.Equal(t, `{"path":"b.md","limit":10}`, string(v.Input))
	assert.Equal(t, []int64{200, 10}, evaluated)
	out := turn.Execute(t.Context(), callOf("c1", "file_read", `{"path":"a.md","limit":200}`))
	assert.Equal(t, `{"content":"b.md","size":10}`, string(out.Output))
}

// SEMANTICS 3.5.2
func TestFurtherRewriteIsAnError(t *testing.T) {
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		next := wire.Raw{byte('0' + in.Args.(*readInput).Limit + 1)}
		return runtime.Decision{Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Pointer: "/limit", Value: next}}}, nil
	})
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead)})
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonPolicyError, out.Reason)
	assert.Equal(t, "rewrite", out.Detail.Rule)
}

func TestObligations(t *testing.T) {
	redact := runtime.Obligation{Code: "redact_output", Args: wire.Raw(`{"pointers":["/content","/nothing"]}`), At: "p.rego:9"}
	notify := runtime.Obligation{Code: "notify", Args: wire.Raw(`{"who":"ops"}`)}
	var observed []runtime.Outcome
	r := newRigWith(t, decide(runtime.Decision{Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{redact, notify}}),
		[]*runtime.Tool{readTool(okRead, func(s *runtime.Spec) { s.OutputSchema = new(readOutputSchema) })},
		engine.WithObserver(func(info runtime.CallInfo, out runtime.Outcome) {
			assert.Equal(t, "c1", info.ID)
			observed = append(observed, out)
		}),
		engine.WithObserver(func(runtime.CallInfo, runtime.Outcome) { panic("an observer") }))
	out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, `{"content":"(redacted)","size":2}`, string(out.Output))
	assert.Equal(t, []runtime.Obligation{redact, notify}, out.Obligations)
	assert.Equal(t, []runtime.Outcome{out}, observed)
	require.Len(t, r.allFaults(), 1)
	assert.Contains(t, r.allFaults()[0].Error(), "an observer")
}
