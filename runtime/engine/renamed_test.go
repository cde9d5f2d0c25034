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
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A renaming is a tool before and after it was renamed from send to post, over a restart, beside one that stays.
type renaming struct {
	*testing.T
	j      *journal.Memory
	policy runtime.Policy
	of     func(*runtime.Spec) // of both
	other  func(*runtime.Spec) // of the other tool, which may name the one that is renamed
	name   string              // of the tool now
	keys   []string            // that its handler was told
}

// start returns an executor in which the tool has a name.
func (r *renaming) start(name string, former ...string) *rig {
	r.Helper()
	r.name = name
	tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		r.keys = append(r.keys, info.Key())
		return okRead(ctx, in)
	}, writes, r.of, func(s *runtime.Spec) { s.Name, s.RenamedFrom = name, former })
	other := readTool(okRead, named("other"), func(s *runtime.Spec) {
		if r.other(s); len(s.Rules.RequiresPreceding) > 0 {
			s.Rules.RequiresPreceding = []string{name}
		}
	})
	return recoveredWith(r.T, r.j, r.policy, tool, other)
}

// run returns the run that goes on, or a new one.
func (r *renaming) run(x *rig) *engine.Run {
	r.Helper()
	s := x.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	run, open := s.Run("r")
	if !open {
		var err error
		run, err = s.StartRun(r.Context(), engine.RunConfig{ID: "r"})
		require.NoError(r, err)
	}
	return run
}

func (r *renaming) turn(x *rig) *engine.Turn { return r.run(x).Turn(engine.TurnConfig{}) }

// TestRenamedToolOverARestart: what a tool did under its former name counts for it, whichever of its names a call has.
//
// SEMANTICS 1.5.3
func TestRenamedToolOverARestart(t *testing.T) {
	none := func(*runtime.Spec) {}
	hour := runtime.Idempotency{Key: []string{"path"}, Window: time.Hour}
	group := func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"g"} }
	var seen []runtime.ToolFacts
	for name, c := range map[string]struct {
		of, other func(*runtime.Spec)
		policy    runtime.PolicyFunc
		after     func(r *renaming, was, out runtime.Outcome, turn *engine.Turn, run *engine.Run)
	}{
		"idempotency key": {
			of: func(s *runtime.Spec) { s.Idempotency = &hour },
			after: func(r *renaming, was, out runtime.Outcome, turn *engine.Turn, _ *engine.Run) {
				assert.Equal(r, runtime.Duplicate, out.Kind)
				assert.Equal(r, was.Output, out.Output)
				conflict := turn.Execute(r.Context(), callOf("conflict", r.name, `{"path":"a.md","limit":3}`))
				assert.Equal(r, runtime.ReasonIdempotencyConflict, conflict.Reason)
			},
		},
		"dedupe": {
			of: func(s *runtime.Spec) { s.Dedupe = runtime.Dedupe{Mode: runtime.DedupeWindow, Window: time.Hour} },
			after: func(r *renaming, was, out runtime.Outcome, _ *engine.Turn, _ *engine.Run) {
				assert.Equal(r, runtime.Duplicate, out.Kind)
				assert.Equal(r, was.CallID, out.Of)
			},
		},
		"count": {
			of: func(s *runtime.Spec) { s.Rules.MaxCalls = 1 },
			after: func(r *renaming, _, out runtime.Outcome, _ *engine.Turn, run *engine.Run) {
				assert.Equal(r, runtime.ReasonMaxCalls, out.Reason)
				assert.Equal(r, map[string]int{r.name: 1}, run.Status().Invocations)
				assert.Equal(r, []string{r.name}, run.Status().Succeeded)
			},
		},
		"cooldown": {
			of: func(s *runtime.Spec) { s.Rules.Cooldown = time.Hour },
			after: func(r *renaming, _, out runtime.Outcome, _ *engine.Turn, _ *engine.Run) {
				assert.Equal(r, runtime.ReasonCooldown, out.Reason)
			},
		},
		"group": {
			of: group, other: group,
			after: func(r *renaming, _, out runtime.Outcome, turn *engine.Turn, _ *engine.Run) {
				assert.Equal(r, runtime.Completed, out.Kind)
				held := turn.Execute(r.Context(), callOf("held", "other", goodInput))
				assert.Equal(r, runtime.ReasonExclusiveGroup, held.Reason)
				assert.Equal(r, r.name, held.Detail.HeldBy)
			},
		},
		"prerequisite": {
			other: func(s *runtime.Spec) { s.Rules.RequiresPreceding = []string{"send"} },
			after: func(r *renaming, _, _ runtime.Outcome, turn *engine.Turn, _ *engine.Run) {
				needs := turn.Execute(r.Context(), callOf("needs", "other", goodInput))
				assert.Equal(r, runtime.Completed, needs.Kind, needs.Message)
			},
		},
		"facts of a policy": {
			policy: func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
				seen = append(seen, in.Facts().Tool(0))
				return runtime.Decision{Effect: runtime.EffectAllow}, nil
			},
			after: func(r *renaming, _, _ runtime.Outcome, _ *engine.Turn, _ *engine.Run) {
				assert.Equal(r, []runtime.ToolFacts{{}, {Invocations: 1, Successes: 1}}, seen[len(seen)-2:])
			},
		},
	} {
		for _, by := range []string{"post", "send"} {
			t.Run(name, func(t *testing.T) {
				r := &renaming{T: t, j: new(journal.Memory), of: c.of, other: c.other, policy: runtime.PolicyFunc(allowAll)}
				if r.of == nil {
					r.of = none
				}
				if r.other == nil {
					r.other = none
				}
				if c.policy != nil {
					r.policy = c.policy
				}
				x := r.start("send")
				was := r.turn(x).Execute(t.Context(), callOf("c1", "send", goodInput))
				require.Equal(t, runtime.Completed, was.Kind, was.Message)
				require.NoError(t, x.exec.Shutdown(t.Context()))

				x = r.start("post", "send")
				turn := r.turn(x)
				out := turn.Execute(t.Context(), callOf("c2", by, goodInput))
				c.after(r, was, out, turn, r.run(x))
				require.NoError(t, x.exec.Shutdown(t.Context()))
			})
		}
	}
}

// TestKeyOutlastsRenames: the key that a handler is told is that of the first name, also when further names are added. A call
// that was recorded under another name's digests keeps its own, and is the duplicate of later ones.
//
// SEMANTICS 1.5.4
func TestKeyOutlastsRenames(t *testing.T) {
	r := &renaming{
		T: t, j: new(journal.Memory), policy: runtime.PolicyFunc(allowAll), other: func(*runtime.Spec) {},
		of: func(s *runtime.Spec) { s.Idempotency = &runtime.Idempotency{Key: []string{"path"}, Window: time.Hour} },
	}
	for i, names := range [][]string{{"send"}, {"mail", "send"}, {"post", "send", "mail"}} {
		x := r.start(names[0], names[1:]...)
		s := x.exec.Session(engine.SessionConfig{ID: string(rune('a' + i)), Principal: "agent"})
		run, err := s.StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "send", goodInput))
		require.Equal(t, runtime.Completed, out.Kind, out.Message)
		require.NoError(t, x.exec.Shutdown(t.Context()))
	}
	require.Len(t, r.keys, 3, "the sessions differ")
	assert.Equal(t, []string{r.keys[0], r.keys[0]}, r.keys[1:])

	// Up to 89cfa63 the digests were those of the name at the time, as of a tool that was never renamed.
	x := r.start("mail")
	was := r.turn(x).Execute(t.Context(), callOf("c1", "mail", goodInput))
	require.Equal(t, runtime.Completed, was.Kind)
	require.NotEqual(t, r.keys[0], r.keys[3])
	require.NoError(t, x.exec.Shutdown(t.Context()))
	x = r.start("post", "send", "mail")
	out := r.turn(x).Execute(t.Context(), callOf("c2", "post", goodInput))
	assert.Equal(t, runtime.Duplicate, out.Kind, out.Message)
	assert.Len(t, r.keys, 4)
	require.NoError(t, x.exec.Shutdown(t.Context()))
}

// TestKeyOfARecordedCall: the reconcile handler is told the key that the handler was told, whatever the tool is called now.
//
// SEMANTICS 1.5.4
func TestKeyOfARecordedCall(t *testing.T) {
	for _, names := range [][]string{{"post", "transfer"}, {"post", "pay", "transfer"}} {
		var s shared
		var key, found string
		begun := make(chan struct{})
		keyed := func(s *runtime.Spec) { s.Idempotency = &runtime.Idempotency{Key: []string{"path"}, Window: time.Hour} }
		old := recovered(t, s.take(), transfer(func(ctx context.Context, _ *readInput) (*readOutput, error) {
			info, _ := runtime.FromContext(ctx)
			key = info.Key()
			close(begun)
			<-ctx.Done()
			return nil, ctx.Err()
		}, nil, keyed))
		out := told(old.turn(), callOf("c1", "transfer", goodInput))
		<-begun
		recovered(t, s.take(), transfer(never, func(_ context.Context, r *runtime.Reconcile[readInput]) (*readOutput, error) {
			found = r.Key
			return nil, engine.ErrNothingHappened
		}, func(s *runtime.Spec) { keyed(s); s.Name, s.RenamedFrom = names[0], names[1:] }))
		assert.Equal(t, key, found)
		assert.NotEmpty(t, key)
		require.Error(t, old.exec.Shutdown(within(t, 0)))
		<-out
	}
}

// TestBlockedUnderAnotherName: a tool that timed out in a turn is blocked in it under all its names.
//
// SEMANTICS 1.5.3
func TestBlockedUnderAnotherName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, named("post"), writes, aliased("Post", "send")))
		turn := r.turn()
		require.Equal(t, runtime.TimedOut, turn.Execute(t.Context(), callOf("c1", "send", goodInput)).Kind)
		for _, name := range []string{"post", "Post", "send"} {
			assert.Equal(t, runtime.ReasonBlockedAfterTimeout, turn.Execute(t.Context(), callOf(name, name, goodInput)).Reason)
		}
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestCallOfAnEarlierName: the same call id with the same arguments is answered with the recorded outcome, also from the
// entries of a call that memory has by reference, and a request is answered under another name too.
//
// SEMANTICS 1.4.2, 1.5.3
func TestCallOfAnEarlierName(t *testing.T) {
	r := &renaming{T: t, j: new(journal.Memory), policy: runtime.PolicyFunc(allowAll), of: func(*runtime.Spec) {}, other: asking()}
	x := r.start("send")
	turn := r.turn(x)
	was := turn.Execute(t.Context(), callOf("c1", "send", goodInput))
	waits := turn.Execute(t.Context(), callOf("c2", "other", goodInput))
	require.NoError(t, x.exec.Shutdown(t.Context()))
	for range 2 {
		x = r.start("post", "send")
		for _, by := range []string{"send", "post"} {
			out := r.turn(x).Execute(t.Context(), callOf("c1", by, goodInput))
			assert.Equal(t, was.Output, out.Output, out.Message)
			assert.Equal(t, runtime.ReasonCallIDReused, r.turn(x).Execute(t.Context(), callOf("c1", by, `{"path":"b.md"}`)).Reason)
		}
		assert.Equal(t, runtime.ReasonCallIDReused, r.turn(x).Execute(t.Context(), callOf("c1", "other", goodInput)).Reason)
		require.NoError(t, x.exec.Shutdown(t.Context()))
	}
	assert.Len(t, r.keys, 1)
	x = r.start("post", "send")
	res := x.exec.Decide(t.Context(), waits.RequestID, yes("alice"))
	assert.Equal(t, runtime.ResolutionAccepted, res.Kind)
	assert.Equal(t, runtime.Completed, res.Outcome.Kind)
	require.NoError(t, x.exec.Shutdown(t.Context()))
}

// TestWindowOfARenamedTool: what the owner records for an archive is the window of the tool under its present name.
//
// SEMANTICS 1.5.3, 6.14.2
func TestWindowOfARenamedTool(t *testing.T) {
	r := &renaming{
		T: t, j: new(journal.Memory), policy: runtime.PolicyFunc(allowAll), other: func(*runtime.Spec) {},
		of: func(s *runtime.Spec) { s.Idempotency = &runtime.Idempotency{Key: []string{"path"}, Window: time.Hour} },
	}
	for _, names := range [][]string{{"send"}, {"post", "send"}} {
		require.NoError(t, r.start(names[0], names[1:]...).exec.Shutdown(t.Context()))
	}
	var windows []string
	entries, err := r.j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for _, e := range entries {
		if rec, err := journal.Decode(e.Leaf); err == nil && rec.Kind == journal.KindOwner {
			windows = append(windows, rec.Settings.Window.Of+" "+rec.Settings.Window.Longest.String())
		}
	}
	assert.Equal(t, []string{`the window of the idempotency key of tool "send" 1h0m0s`, `the window of the idempotency key of tool "post" 1h0m0s`}, windows)
}

// TestBatchByOtherNames: a call by an alias or an earlier name waits for the calls before it where its tool is tied to them.
//
// SEMANTICS 1.5.1, 4.3.6
func TestBatchByOtherNames(t *testing.T) {
	r := newRig(t, readTool(okRead), readTool(okRead, named("post"), aliased("Post", "send"), func(s *runtime.Spec) { s.Rules.RequiresPreceding = []string{"file_read"} }))
	for _, name := range []string{"post", "Post", "send"} {
		run, err := r.exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		out := run.Turn(engine.TurnConfig{}).ExecuteBatch(t.Context(), []runtime.Call{callOf("a", "file_read", goodInput), callOf("b", name, goodInput)}, engine.Parallel)
		assert.Equal(t, runtime.Completed, out[1].Kind, out[1].Message)
	}
}
