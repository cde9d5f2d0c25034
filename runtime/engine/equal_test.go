package engine_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

// once lets a tool remember its calls.
func once(s *runtime.Spec) { s.Dedupe.Mode = runtime.DedupeAlways }

// An equals is two equal calls, first and second, of a tool whose only slot another call has.
type equals struct {
	*rig
	t             *testing.T
	free          chan struct{} // closed: handlers return
	session       *engine.Session
	run           *engine.Run
	turn          *engine.Turn // of the other call
	made          time.Time    // the second one
	first, second <-chan runtime.Outcome
	ran           []string
	mu            sync.Mutex
}

// kept returns the outcome of a call that has ended, the zero value for another one.
func kept(of <-chan runtime.Outcome) runtime.Outcome {
	synctest.Wait()
	select {
	case out := <-of:
		return out
	default:
		return runtime.Outcome{}
	}
}

// newEquals returns two equal calls. The first one waits for a slot in a turn of an hour, unless its turn is given.
func newEquals(t *testing.T, change func(*runtime.Spec), policy runtime.PolicyFunc, turns ...engine.TurnConfig) *equals {
	e := &equals{t: t, free: make(chan struct{})}
	tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		e.mu.Lock()
		e.ran = append(e.ran, info.ID)
		e.mu.Unlock()
		<-e.free
		return okRead(ctx, in)
	}, func(s *runtime.Spec) { s.Limits.Concurrency = 1 }, change)
	e.rig = newRigWith(t, policy, []*runtime.Tool{tool})
	e.session = e.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	var err error
	e.run, err = e.session.StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	e.turn = e.run.Turn(engine.TurnConfig{})
	told(e.turn, callOf("busy", "file_read", `{"path":"busy","limit":1}`))
	synctest.Wait()
	cfg := append(turns, engine.TurnConfig{Budget: time.Hour}, engine.TurnConfig{})
	if len(turns) > 0 {
		cfg = slices.Delete(cfg, len(turns), len(turns)+1)
	}
	e.first = told(e.run.Turn(cfg[0]), callOf("first", "file_read", goodInput))
	time.Sleep(100 * time.Millisecond)
	e.made = time.Now()
	e.second = told(e.run.Turn(cfg[1]), callOf("second", "file_read", goodInput))
	synctest.Wait()
	return e
}

// end ends what still runs.
func (e *equals) end() {
	select {
	case <-e.free:
	default:
		close(e.free)
	}
	require.NoError(e.t, e.exec.Shutdown(context.Background()))
	synctest.Wait()
}

func denying(id string) runtime.PolicyFunc {
	return func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if in.CallID == id {
			return runtime.Decision{Effect: runtime.EffectDeny}, nil
		}
		return allowAll(ctx, in)
	}
}

// TestAnEqualCallWaits until the one that it is equal to runs, or has ended without that.
// SEMANTICS 4.8.11, 4.9.8
func TestAnEqualCallWaits(t *testing.T) {
	keyed := func(s *runtime.Spec) {
		s.Idempotency = &runtime.Idempotency{Key: []string{"path"}, Window: time.Hour}
	}
	for name, tool := range map[string]func(*runtime.Spec){"dedupe": once, "idempotency": keyed} {
		t.Run(name+" until it runs", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEquals(t, tool, allowAll)
				require.Empty(t, kept(e.second))
				assert.Equal(t, 1, e.exec.Stats().Queued, "it waits for no slot")
				close(e.free)
				require.Equal(t, runtime.Completed, (<-e.first).Kind)
				out := <-e.second
				assert.Equal(t, []any{runtime.Duplicate, "first"}, []any{out.Kind, out.Of})
				assert.Equal(t, []string{"busy", "first"}, e.ran)
				e.end()
			})
		})
		t.Run(name+" and runs where that was cancelled", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEquals(t, tool, allowAll)
				e.session.Cancel(t.Context(), "first", runtime.ProgramActor("bob"), "")
				require.Equal(t, runtime.Cancelled, (<-e.first).Kind)
				close(e.free)
				assert.Equal(t, runtime.Completed, (<-e.second).Kind)
				assert.Equal(t, []string{"busy", "second"}, e.ran)
				e.end()
			})
		})
	}
	t.Run("and is judged again where that got no slot", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, allowAll, engine.TurnConfig{})
			require.Equal(t, runtime.ReasonAtCapacity, (<-e.first).Reason)
			out := <-e.second
			assert.Equal(t, []any{runtime.Denied, runtime.ReasonAtCapacity, ""}, []any{out.Kind, out.Reason, out.Of})
			assert.LessOrEqual(t, time.Since(e.made), 10*time.Second)
			assert.Equal(t, []string{"busy"}, e.ran)
			e.end()
		})
	})
	t.Run("for its own deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, allowAll)
			out := <-e.second
			assert.Equal(t, 5*time.Second, time.Since(e.made))
			assert.Equal(t, []any{runtime.Denied, runtime.ReasonAtCapacity, "first"}, []any{out.Kind, out.Reason, out.Of})
			assert.Equal(t, `the equal call "first" of "file_read" has not begun, and may still be refused: this one was not carried out`, out.Message)
			assert.Equal(t, 5*time.Second, out.Times.Queue)
			close(e.free)
			require.Equal(t, runtime.Completed, (<-e.first).Kind)
			again := e.run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("second", "file_read", goodInput))
			assert.Equal(t, []any{runtime.Duplicate, "first"}, []any{again.Kind, again.Of}, "its id was not used up")
			e.end()
		})
	})
	t.Run("for its turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, allowAll, engine.TurnConfig{Budget: time.Hour}, engine.TurnConfig{Budget: 7 * time.Second})
			out := <-e.second
			assert.Equal(t, 7*time.Second, time.Since(e.made))
			assert.Equal(t, []any{runtime.ReasonAtCapacity, "first"}, []any{out.Reason, out.Of})
			e.end()
		})
	})
	t.Run("for its caller, its run and its executor", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, allowAll)
			ctx, cancel := context.WithCancel(t.Context())
			third := make(chan runtime.Outcome)
			go func() {
				third <- e.run.Turn(engine.TurnConfig{}).Execute(ctx, callOf("third", "file_read", goodInput))
			}()
			synctest.Wait()
			cancel()
			assert.Equal(t, runtime.ReasonCancelled, (<-third).Reason)
			e.session.Cancel(t.Context(), "second", runtime.ProgramActor("bob"), "")
			assert.Equal(t, runtime.ReasonCancelled, (<-e.second).Reason)
			fourth := told(e.run.Turn(engine.TurnConfig{}), callOf("fourth", "file_read", goodInput))
			synctest.Wait()
			go e.run.Close(t.Context())
			assert.Equal(t, runtime.ReasonRunClosed, (<-fourth).Reason)
			e.end()
		})
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, allowAll)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			go func() { _ = e.exec.Shutdown(ctx) }()
			for _, of := range []<-chan runtime.Outcome{e.first, e.second} {
				assert.Equal(t, runtime.ReasonShuttingDown, (<-of).Reason)
			}
			close(e.free)
			require.NoError(t, e.exec.Shutdown(t.Context()))
		})
	})
	t.Run("also where the policy denies it", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, denying("second"))
			close(e.free)
			assert.Equal(t, runtime.Duplicate, (<-e.second).Kind)
			e.end()
		})
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, denying("second"))
			e.session.Cancel(t.Context(), "first", runtime.ProgramActor("bob"), "")
			assert.Equal(t, runtime.ReasonPolicyDenied, (<-e.second).Reason)
			e.end()
		})
	})
	t.Run("but not where the policy does not answer", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
				if in.CallID == "second" {
					<-ctx.Done()
				}
				return allowAll(ctx, in)
			})
			assert.Equal(t, runtime.ReasonPolicyError, (<-e.second).Reason)
			e.end()
		})
	})
	t.Run("nor where its tool is blocked in its turn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := newEquals(t, once, allowAll)
			time.Sleep(5 * time.Second)
			late := callOf("late", "file_read", goodInput)
			require.Equal(t, runtime.ReasonBlockedAfterTimeout, e.turn.Execute(t.Context(), late).Reason)
			close(e.free)
			require.Equal(t, runtime.Completed, (<-e.first).Kind)
			late.ID = "later"
			assert.Equal(t, runtime.Duplicate, e.turn.Execute(t.Context(), late).Kind)
			e.end()
		})
	})
}

// TestManyEqualCallsEnd: that a call waits for an equal one, and that for another one, adds up to no more than two deadlines. One waits for
// no call that was made after it.
// SEMANTICS 4.8.11
func TestManyEqualCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEquals(t, once, allowAll, engine.TurnConfig{})
		var all []<-chan runtime.Outcome
		for i := range 30 {
			all = append(all, told(e.run.Turn(engine.TurnConfig{}), callOf(fmt.Sprint("c", i), "file_read", goodInput)))
			time.Sleep(10 * time.Millisecond)
		}
		for _, of := range append(all, e.first, e.second) {
			assert.Equal(t, runtime.ReasonAtCapacity, (<-of).Reason)
		}
		assert.LessOrEqual(t, time.Since(e.made), 11*time.Second)
		e.end()
	})
}

// TestPairsOfEqualCalls makes pairs of equal calls in one message, some of which get no slot in time, or are refused at once: none is told
// to be a duplicate of a call that did not run, and nothing runs twice.
// SEMANTICS 4.8.11
func TestPairsOfEqualCalls(t *testing.T) {
	seen := map[string]int{}
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			ran := map[string]int{}
			tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
				mu.Lock()
				ran[in.Path]++
				mu.Unlock()
				time.Sleep(time.Duration(100+rand.IntN(900)) * time.Millisecond)
				return okRead(ctx, in)
			}, once, func(s *runtime.Spec) {
				s.Deadline, s.Limits.Concurrency, s.Limits.Queue = 2*time.Second, 3, 30
			})
			r := newRig(t, tool)
			var calls []runtime.Call
			for i := range 20 {
				for _, which := range []string{"a", "b"} {
					calls = append(calls, callOf(fmt.Sprint(i, which), "file_read", fmt.Sprintf(`{"path":"p%d","limit":1}`, i)))
				}
			}
			if rand.IntN(2) == 0 {
				rand.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
			}
			outs := r.run().Turn(engine.TurnConfig{}).ExecuteBatch(t.Context(), calls, engine.Parallel)
			by := map[string]runtime.Outcome{}
			for i, c := range calls {
				by[c.ID] = outs[i]
			}
			for i := range 20 {
				a, b := by[fmt.Sprint(i, "a")], by[fmt.Sprint(i, "b")]
				if b.Of == a.CallID || a.Kind == runtime.Completed {
					a, b = b, a
				}
				// b, if one of them did, has run
				switch times := ran[fmt.Sprint("p", i)]; {
				case a.Kind == runtime.Duplicate:
					assert.Equal(t, []any{b.CallID, 1, runtime.Completed}, []any{a.Of, times, b.Kind})
				case b.Kind == runtime.Duplicate:
					assert.Equal(t, []any{a.CallID, 1, runtime.Completed}, []any{b.Of, times, a.Kind})
				default:
					assert.True(t, a.Kind == runtime.Denied || b.Kind == runtime.Denied)
				}
				kinds := []string{a.Kind.String(), b.Kind.String()}
				slices.Sort(kinds)
				seen[fmt.Sprint(kinds)]++
			}
			require.NoError(t, r.exec.Shutdown(t.Context()))
		})
	}
	assert.Positive(t, seen["[completed duplicate]"])
	assert.Positive(t, seen["[denied denied]"])
}

// A slowJournal answers an append when it is told to.
type slowJournal struct {
	journal.Memory
	answers chan error // nil: at once
}

func (j *slowJournal) Append(ctx context.Context, entries []journal.Entry) error {
	if j.answers != nil {
		if err := <-j.answers; err != nil {
			return err
		}
	}
	return j.Memory.Append(ctx, entries)
}

// TestAnEqualCallWaitsForTheJournal: a call whose start cannot be recorded does not run. An equal call that was made meanwhile is no
// duplicate of that.
// SEMANTICS 4.8.11
func TestAnEqualCallWaitsForTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, ran := new(slowJournal), 0
		r := recovered(t, j, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			ran++
			return okRead(ctx, in)
		}, once))
		turn := r.turnOf("s")
		require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c0", "file_read", `{"path":"b","limit":1}`)).Kind)
		j.answers = make(chan error)
		first := told(turn, callOf("first", "file_read", goodInput))
		synctest.Wait()
		second := told(turn, callOf("second", "file_read", goodInput))
		synctest.Wait()
		require.Empty(t, kept(first))
		require.Empty(t, kept(second))
		j.answers <- errFull
		close(j.answers)
		assert.Equal(t, runtime.ReasonJournalUnavailable, (<-first).Reason)
		assert.Equal(t, runtime.ReasonJournalUnavailable, (<-second).Reason)
		assert.Equal(t, 1, ran)
		_ = r.exec.Shutdown(t.Context())
	})
}

// TestAnEqualCommandWaitsForItsProgram: a command that finds no room for its program is denied although its attempt had begun. A call with the
// same idempotency key is no duplicate of that.
// SEMANTICS 4.8.11, 4.9.8
func TestAnEqualCommandWaitsForItsProgram(t *testing.T) {
	w := prepareWorkshop(t, nil)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w.runner.Script = func(*process.Job) runtimetest.Act {
			if time.Since(began) < 30*time.Second {
				return runtimetest.Act{Fail: &process.LackError{What: runtime.LimitMemory}}
			}
			return runtimetest.Act{}
		}
		w.open(t, runtime.PolicyFunc(allowAll))
		turn := w.run().Turn(engine.TurnConfig{})
		first := told(turn, callOf("first", "make", `{}`))
		time.Sleep(time.Second)
		second := told(turn, callOf("second", "make", `{}`))
		require.Empty(t, kept(second))
		assert.Equal(t, runtime.ReasonAtCapacity, (<-first).Reason)
		out := <-second
		assert.Equal(t, runtime.Completed, out.Kind, out.Message)
		assert.Len(t, w.runner.Started(), 1)
		require.NoError(t, w.exec.Shutdown(t.Context()))
	})
}

// TestAnEqualCallOfOneThatWaitsForConsent is denied, and says for what to wait.
// SEMANTICS 4.8.12, 4.18.4
func TestAnEqualCallOfOneThatWaitsForConsent(t *testing.T) {
	r := newRigWith(t, runtime.PolicyFunc(allowAll), []*runtime.Tool{readTool(okRead, asking(), once)}, engine.WithPendingRequests())
	turn := r.turn()
	first := turn.Execute(t.Context(), callOf("first", "file_read", goodInput))
	require.Equal(t, runtime.Pending, first.Kind)
	out := turn.Execute(t.Context(), callOf("second", "file_read", goodInput))
	assert.Equal(t, []any{runtime.Denied, runtime.ReasonDuplicatePending, "first"}, []any{out.Kind, out.Reason, out.Of})
	assert.Equal(t, []string{"first"}, out.Detail.Waiting)
	assert.Equal(t, []runtime.Step{{Kind: runtime.StepWait, Tool: "file_read", Call: "first"}}, out.Steps)
	assert.Equal(t, runtime.LoopWait, out.Loop)
	assert.Equal(t, `the equal call "first" waits for consent and may be denied: this one was not carried out; what would help: wait until first (file_read) is answered`, out.Message)
	require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), first.RequestID, yes("alice")).Outcome.Kind)
	out = turn.Execute(t.Context(), callOf("third", "file_read", goodInput))
	assert.Equal(t, []any{runtime.Duplicate, "first"}, []any{out.Kind, out.Of})
	out = turn.Execute(t.Context(), callOf("second", "file_read", goodInput))
	assert.Equal(t, runtime.ReasonDuplicatePending, out.Reason, "it was decided: its id has that outcome")
}
