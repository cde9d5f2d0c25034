package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// asking makes every call of a tool need consent.
func asking(change ...func(*runtime.Consent)) func(*runtime.Spec) {
	return func(s *runtime.Spec) {
		s.Consent = &runtime.Consent{Ask: runtime.ConsentAskAlways, AllowEdit: true, MaxCover: runtime.CoverTool}
		for _, f := range change {
			f(s.Consent)
		}
	}
}

// newInbox returns an executor that allows everything and whose requests the test
// polls.
func newInbox(t *testing.T, tools ...*runtime.Tool) *rig {
	return newRigWith(t, runtime.PolicyFunc(allowAll), tools, engine.WithPendingRequests())
}

func yes(by string) action.Answer { return action.Answer{By: runtime.ProgramActor(by), Approve: true} }

// SEMANTICS 5.5.10
func TestConsentIsGiven(t *testing.T) {
	r := newInbox(t, readTool(okRead, asking()))
	run := r.run()
	turn := run.Turn(engine.TurnConfig{Budget: time.Hour})
	out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, runtime.Pending, out.Kind)
	assert.Equal(t, runtime.ReasonConsentRequired, out.Reason)
	assert.Equal(t, runtime.LoopWait, out.Loop)
	assert.Equal(t, runtime.RunWaiting, out.Run)
	again := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
	assert.Equal(t, out.RequestID, again.RequestID, "the same call")

	requests := r.exec.Requests()
	require.Len(t, requests, 1)
	assert.JSONEq(t, goodInput, string(requests[0].Shown))
	res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
	assert.Equal(t, runtime.ResolutionAccepted, res.Kind)
	require.NotNil(t, res.Outcome)
	assert.Equal(t, runtime.Completed, res.Outcome.Kind, res.Outcome.Message)
	assert.Equal(t, out.RequestID, res.Outcome.RequestID)
	late := r.exec.Decide(t.Context(), out.RequestID, yes("bob"))
	assert.Equal(t, "already_resolved", late.Reason.String())
	assert.Equal(t, runtime.Completed, late.Outcome.Kind)
	assert.Equal(t, "unknown_request", r.exec.Decide(t.Context(), "nonsense", yes("bob")).Reason.String())
	assert.Equal(t, []string{
		"tool.invoked", "tool.validated", "approval.requested", "approval.decided", "tool.authorized", "tool.started",
		"tool.completed", "approval.decided",
	}, r.kinds("c1"))
	assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
}

// TestPatience: a caller waits for an answer as long as ConsentWait allows.
// SEMANTICS 5.4.5
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *rig
		approver := consent.ApproverFunc(func(_ context.Context, q *consent.Notice) error {
			time.Sleep(10 * time.Second)
			r.exec.Decide(context.Background(), q.ID, yes("alice"))
			return nil
		})
		r = newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead, asking())}, engine.WithApprover(approver))
		run := r.run()
		out := run.Turn(engine.TurnConfig{ConsentWait: time.Minute}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.Completed, out.Kind, out.Message)
		start := time.Now()
		out = run.Turn(engine.TurnConfig{ConsentWait: 4 * time.Second}).Execute(t.Context(), callOf("c2", "file_read", goodInput))
		assert.Equal(t, runtime.Pending, out.Kind)
		assert.Equal(t, 4*time.Second, time.Since(start))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		out = run.Turn(engine.TurnConfig{ConsentWait: time.Minute}).Execute(ctx, callOf("c3", "file_read", goodInput))
		assert.Equal(t, runtime.Pending, out.Kind, "who gives up waiting does not give up the call")
		time.Sleep(time.Minute)
		synctest.Wait()
		ses := r.exec.Session(engine.SessionConfig{})
		assert.Equal(t, runtime.Denied, ses.Await(t.Context(), "c2").Kind, "another session")
		assert.Equal(t, map[string]int{"file_read": 3}, run.Status().Invocations)
		assert.Empty(t, r.exec.Requests())
	})
}

// A waiting is a call that waits for consent, with its executor.
type waiting struct {
	*rig
	run    *engine.Run
	out    runtime.Outcome
	policy func(in *runtime.PolicyInput) runtime.Decision
}

// waysOut returns the ways in which a call can end before its handler was started.
func waysOut() map[string]func(w *waiting) {
	approve := func(w *waiting) { w.exec.Decide(context.Background(), w.out.RequestID, yes("alice")) }
	return map[string]func(w *waiting){
		"denied": func(w *waiting) {
			w.exec.Decide(context.Background(), w.out.RequestID, action.Answer{By: runtime.ProgramActor("alice")})
		},
		"expired":  func(*waiting) { time.Sleep(time.Hour) },
		"closed":   func(w *waiting) { assert.NoError(w.t, w.run.Close(context.Background())) },
		"shutdown": func(w *waiting) { assert.NoError(w.t, w.exec.Shutdown(context.Background())); approve(w) },
		"policy denies": func(w *waiting) {
			w.policy = func(*runtime.PolicyInput) runtime.Decision { return runtime.Decision{} }
			approve(w)
		},
		"policy panics": func(w *waiting) {
			w.policy = func(*runtime.PolicyInput) runtime.Decision { panic("mischief") }
			approve(w)
		},
		"policy hangs": func(w *waiting) {
			w.policy = func(*runtime.PolicyInput) runtime.Decision { time.Sleep(time.Minute); return runtime.Decision{} }
			approve(w)
		},
		"changed": func(w *waiting) {
			w.policy = func(in *runtime.PolicyInput) runtime.Decision {
				in.Args.(*readInput).Limit++
				return runtime.Decision{Effect: runtime.EffectAllow}
			}
			approve(w)
		},
	}
}

// TestReservationsAreReleased ends a call in every way before its handler was started:
// none of its reservations is left.
// SEMANTICS 4.2.4
func TestReservationsAreReleased(t *testing.T) {
	ways := waysOut()
	if *journaled {
		delete(ways, "shutdown") // the call goes on waiting until after a restart
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &waiting{policy: func(*runtime.PolicyInput) runtime.Decision { return runtime.Decision{Effect: runtime.EffectAllow} }}
				var ran atomic.Int32
				tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
					ran.Add(1)
					return okRead(ctx, in)
				}, asking(), func(s *runtime.Spec) {
					s.Rules.MaxCalls, s.Rules.ExclusiveGroups = 1, []string{"g"}
					s.Dedupe.Mode = runtime.DedupeAlways
				})
				policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
					return w.policy(in), nil
				})
				w.rig = newRigWith(t, policy, []*runtime.Tool{tool}, engine.WithPendingRequests())
				w.run = w.rig.run()
				w.out = w.run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
				require.Equal(t, runtime.Pending, w.out.Kind)
				require.Equal(t, map[string]int{"file_read": 1}, w.run.Status().Invocations)
				way(w)
				synctest.Wait()
				assert.Empty(t, w.run.Status().Invocations)
				assert.Empty(t, w.run.Status().Waiting)
				assert.Zero(t, w.run.Status().Active)
				assert.Empty(t, w.exec.Requests())
				assert.Zero(t, ran.Load())
				time.Sleep(2 * time.Minute)
			})
		})
	}
}

// TestNobodyToAsk: a call is denied when none of its approvers can be notified.
// SEMANTICS 5.1.3
func TestNobodyToAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := consent.ApproverFunc(func(context.Context, *consent.Notice) error { return errors.New("no terminal") })
		panics := consent.ApproverFunc(func(context.Context, *consent.Notice) error { panic("no terminal") })
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead, asking())},
			engine.WithApprover(broken), engine.WithApprover(panics))
		run := r.run()
		out := run.Turn(engine.TurnConfig{ConsentWait: time.Minute}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonConsentUnavailable, out.Reason)
		assert.Empty(t, run.Status().Invocations)
		assert.Len(t, r.allFaults(), 2)
	})
}

// TestOneApproverIsEnough: a call waits as long as one of its approvers could be
// notified.
// SEMANTICS 5.1.3
func TestOneApproverIsEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := consent.ApproverFunc(func(context.Context, *consent.Notice) error { return errors.New("no terminal") })
		panics := consent.ApproverFunc(func(context.Context, *consent.Notice) error { panic("no terminal") })
		told := consent.ApproverFunc(func(context.Context, *consent.Notice) error { return nil })
		r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead, asking())},
			engine.WithApprover(broken), engine.WithApprover(told), engine.WithApprover(panics))
		out := r.run().Turn(engine.TurnConfig{ConsentWait: time.Minute}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		assert.Equal(t, runtime.ReasonConsentRequired, out.Reason)
		assert.Len(t, r.allFaults(), 2)
		res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
		require.NotNil(t, res.Outcome)
		assert.Equal(t, runtime.Completed, res.Outcome.Kind)
	})
}

// TestChangedArgumentsDoNotRun changes arguments between the approval and the
// execution, in the very value that the handler would get.
// SEMANTICS 5.2.3
func TestChangedArgumentsDoNotRun(t *testing.T) {
	var ran atomic.Int32
	tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) { ran.Add(1); return okRead(ctx, in) }, asking())
	rng := rand.New(rand.NewPCG(rand.Uint64(), 1))
	var change func(*readInput)
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		change(in.Args.(*readInput))
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	r := newRigWith(t, policy, []*runtime.Tool{tool}, engine.WithPendingRequests())
	turn := r.run().Turn(engine.TurnConfig{})
	for range 1000 {
		change = func(*readInput) {}
		out := turn.Execute(t.Context(), callOf("", "file_read", goodInput))
		require.Equal(t, runtime.Pending, out.Kind)
		change = func(in *readInput) {
			switch rng.IntN(3) {
			case 0:
				in.Limit += 1 + rng.Int64N(1000)
			case 1:
				in.Path += "x"
			default:
				in.Path = "b.md"
			}
		}
		res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
		require.Equal(t, runtime.ResolutionAccepted, res.Kind)
		require.Equal(t, runtime.ReasonBindingMismatch, res.Outcome.Reason)
		require.Equal(t, []string{"args"}, res.Outcome.Detail.Changed)
	}
	assert.Zero(t, ran.Load())
}

// TestRacingAnswers gives ten answers concurrently: one is accepted.
// SEMANTICS 5.1.2
func TestRacingAnswers(t *testing.T) {
	for range 50 {
		var ran atomic.Int32
		tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) { ran.Add(1); return okRead(ctx, in) }, asking())
		r := newInbox(t, tool)
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		var accepted, approved atomic.Int32
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				a := action.Answer{By: runtime.ProgramActor(string(rune('a' + i))), Approve: i%2 == 0}
				res := r.exec.Decide(t.Context(), out.RequestID, a)
				if res.Kind == runtime.ResolutionAccepted {
					accepted.Add(1)
					if a.Approve {
						approved.Add(1)
					}
				}
			})
		}
		wg.Wait()
		assert.EqualValues(t, 1, accepted.Load())
		assert.Equal(t, approved.Load(), ran.Load())
	}
}

// TestPreviewIsBound: a call runs only when its preview is still the one that was
// approved.
// SEMANTICS 5.2.1
func TestPreviewIsBound(t *testing.T) {
	shown := "12 lines"
	var ran int
	spec := &runtime.Spec{Name: "file_read", Effect: runtime.SideEffectWrite}
	asking(func(c *runtime.Consent) { c.Preview = true })(spec)
	tool := runtime.NewTool(spec, &readInputRule,
		func(ctx context.Context, in *readInput) (*readOutput, error) { ran++; return okRead(ctx, in) },
		runtime.WithPreview(func(ctx context.Context, in *readInput) (runtime.Preview, error) {
			assert.ErrorIs(t, runtime.Commit(ctx, func() error { return nil }), runtime.ErrNoCall, "read-only")
			switch in.Path {
			case "panics":
				panic("mischief")
			case "fails":
				return runtime.Preview{}, errors.New("mischief")
			}
			return runtime.Preview{Text: shown}, nil
		}))
	r := newInbox(t, tool)
	turn := r.run().Turn(engine.TurnConfig{})
	ask := func(path string) runtime.Outcome {
		return turn.Execute(t.Context(), callOf("", "file_read", `{"path":"`+path+`","limit":1}`))
	}
	out := ask("a.md")
	q, _ := r.exec.Request(out.RequestID)
	assert.Equal(t, "12 lines", q.Preview.Text)
	assert.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), out.RequestID, yes("alice")).Outcome.Kind)
	out = ask("a.md")
	shown = "13 lines"
	res := r.exec.Decide(t.Context(), out.RequestID, yes("alice"))
	assert.Equal(t, []string{"preview"}, res.Outcome.Detail.Changed)
	assert.Equal(t, 1, ran)
	for _, path := range []string{"fails", "panics"} {
		assert.Equal(t, runtime.ReasonPreviewFailed, ask(path).Reason, path)
	}
}

// TestEditIsJudged: the tool and the policy check arguments that an approver edits, and
// the call runs with those that were approved last.
func TestEditIsJudged(t *testing.T) {
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		switch limit := in.Args.(*readInput).Limit; {
		case limit > 500:
			return runtime.Decision{Denials: []runtime.Denial{{Code: "too_much"}}}, nil
		case limit > 100:
			return runtime.Decision{Effect: runtime.EffectAllow, Rewrites: []runtime.Rewrite{{Pointer: "/limit", Value: wire.Raw("100")}}}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	r := newRigWith(t, policy, []*runtime.Tool{readTool(okRead, asking())}, engine.WithPendingRequests())
	turn := r.run().Turn(engine.TurnConfig{})
	edit := func(text string) action.Resolution {
		out := turn.Execute(t.Context(), callOf("", "file_read", goodInput))
		a := yes("alice")
		a.Edit = []byte(text)
		return r.exec.Decide(t.Context(), out.RequestID, a)
	}
	res := edit(`{"path":"b.md","limit":7}`)
	assert.Equal(t, `{"content":"b.md","size":7}`, string(res.Outcome.Output))
	assert.Equal(t, "invalid_input", edit(`{"path":"b.md"}`).Reason.String())
	res = edit(`{"path":"b.md","limit":200}`)
	assert.Equal(t, []any{runtime.ResolutionRecorded, true, runtime.Pending}, []any{res.Kind, res.Rewritten, res.Outcome.Kind})
	res = edit(`{"path":"b.md","limit":600}`)
	assert.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, "too_much", res.Outcome.Detail.Rule)
}

// SEMANTICS 5.13.2, 5.13.3
func TestConsentOff(t *testing.T) {
	r := newInbox(t, readTool(okRead, asking()))
	turn := r.run().Turn(engine.TurnConfig{})
	assert.Error(t, r.exec.SuspendConsent(t.Context(), time.Now().Add(2*time.Hour), runtime.ProgramActor("alice"), "incident"))
	assert.Error(t, r.exec.SuspendConsent(t.Context(), time.Now().Add(time.Minute), runtime.ProgramActor(""), "incident"))
	require.NoError(t, r.exec.SuspendConsent(t.Context(), time.Now().Add(time.Minute), runtime.ProgramActor("alice"), "incident"))
	assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	assert.Len(t, r.allFaults(), 1, "a warning")
}
