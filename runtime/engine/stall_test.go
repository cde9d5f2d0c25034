package engine_test

import (
	"context"
	"errors"
	"fmt"
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
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A fullable is a journal that is full at times. It has owners.
type fullable struct {
	journal.Memory
	full  atomic.Bool
	left  atomic.Int64 // appends until it is full, if positive
	tried atomic.Int64 // appends while it was full
}

func (f *fullable) hasRoom() error {
	if f.left.Load() > 0 && f.left.Add(-1) == 0 {
		f.full.Store(true)
	}
	if f.full.Load() {
		f.tried.Add(1)
		return fmt.Errorf("%w: %w", journal.ErrUnavailable, errFull)
	}
	return nil
}

func (f *fullable) Append(ctx context.Context, entries []journal.Entry) error {
	if err := f.hasRoom(); err != nil {
		return err
	}
	return f.Memory.Append(ctx, entries)
}

func (*fullable) Epoch() uint64                         { return 1 }
func (*fullable) Claim(context.Context) (func(), error) { return func() {}, nil }
func (f *fullable) Renew(context.Context) error         { return f.hasRoom() }
func (f *fullable) size(t *testing.T) int               { return len(f.all(t)) }
func (f *fullable) all(t *testing.T) (list []journal.Entry) {
	list, err := f.Read(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	return list
}

// TestCallsRunAgainWhenThereIsRoom fills the journal at each append of a call, for
// longer than DefaultStale.
// SEMANTICS 6.6.7, 6.6.10
func TestCallsRunAgainWhenThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for left := int64(1); left <= 2; left++ {
			ran := 0
			j := new(fullable)
			tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
				ran++
				return okRead(ctx, in)
			})
			r := recovered(t, j, tool)
			session := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
			run, err := session.StartRun(t.Context(), engine.RunConfig{ID: "r"})
			require.NoError(t, err)
			turn := run.Turn(engine.TurnConfig{})
			require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c0", "file_read", goodInput)).Kind)
			j.left.Store(left)
			out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
			assert.Equal(t, runtime.ReasonJournalUnavailable, out.Reason)
			if left == 1 {
				assert.Equal(t, runtime.Denied, out.Kind)
				assert.Equal(t, 1, ran)
			} else {
				assert.Equal(t, runtime.Unknown, out.Kind, "nobody knows it after a crash")
				assert.Contains(t, out.Message, "its outcome is known when it can be written again")
				assert.Equal(t, 2, ran)
			}
			had := j.size(t)
			for i := range 100 {
				out := turn.Execute(t.Context(), callOf(fmt.Sprint("d", i), "file_read", goodInput))
				require.Equal(t, runtime.Denied, out.Kind)
				require.Equal(t, runtime.ReasonJournalUnavailable, out.Reason)
			}
			_, err = r.exec.Session(engine.SessionConfig{ID: "t"}).StartRun(t.Context(), engine.RunConfig{})
			require.ErrorIs(t, err, journal.ErrUnavailable)
			time.Sleep(10 * time.Minute)
			require.Equal(t, had, j.size(t))
			j.full.Store(false)
			time.Sleep(time.Second)
			assert.Less(t, j.size(t), had+10, "what was denied meanwhile is recorded nowhere")

			out = session.Await(t.Context(), "c1")
			want := []runtime.OutcomeKind{runtime.Denied, runtime.Completed}[left-1]
			assert.Equal(t, want, out.Kind)
			assert.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
			require.NoError(t, r.exec.Shutdown(t.Context()))

			again := recovered(t, j, tool)
			s := again.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
			assert.Equal(t, want, s.Await(t.Context(), "c1").Kind)
			assert.Equal(t, runtime.Completed, s.Await(t.Context(), "c2").Kind)
			assert.Equal(t, "there is no such call in this session", s.Await(t.Context(), "d1").Message)
			require.NoError(t, again.exec.Shutdown(t.Context()))
		}
	})
}

// TestACallThatWasNotRecordedIsMadeAgain: a call that a stalled journal kept from running is judged anew under its id once the stall is over, also
// one that the journal has nothing of. One that was decided, and whose outcome was not recorded in time, has that outcome.
// SEMANTICS 1.4.10
func TestACallThatWasNotRecordedIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran, j := map[string]int{}, new(fullable)
		tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			info, _ := runtime.FromContext(ctx)
			ran[info.ID]++
			return okRead(ctx, in)
		})
		asked := 0
		policy := runtime.PolicyFunc(func(ctx context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
			if in.CallID == "refused" {
				asked++
				return runtime.Decision{Effect: runtime.EffectDeny}, nil
			}
			return allowAll(ctx, in)
		})
		r := recoveredWith(t, j, policy, tool)
		turn := r.turnOf("s")
		do := func(id string) runtime.Outcome {
			return turn.Execute(t.Context(), callOf(id, "file_read", goodInput))
		}
		stall := func() { j.left.Store(1) }
		over := func() {
			j.full.Store(false)
			time.Sleep(time.Minute)
		}
		stall()
		for _, id := range []string{"begun", "begun", "unknown", "unknown"} { // the first finds out
			require.Equal(t, []any{runtime.Denied, runtime.ReasonJournalUnavailable}, []any{do(id).Kind, do(id).Reason}, id)
		}
		require.Empty(t, ran)
		over()
		for _, id := range []string{"begun", "unknown", "begun", "unknown"} {
			assert.Equal(t, runtime.Completed, do(id).Kind, id)
		}
		stall()
		for range 2 {
			require.Equal(t, []any{runtime.Denied, runtime.ReasonJournalUnavailable}, []any{do("refused").Kind, do("refused").Reason})
		}
		over()
		assert.Equal(t, runtime.ReasonPolicyDenied, do("refused").Reason)
		assert.Equal(t, 1, asked, "it was decided")
		require.NoError(t, r.exec.Shutdown(t.Context()))

		again := recoveredWith(t, j, policy, tool)
		run, open := again.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
		require.True(t, open)
		turn = run.Turn(engine.TurnConfig{})
		for _, id := range []string{"begun", "unknown"} {
			assert.Equal(t, runtime.Completed, do(id).Kind, id)
		}
		assert.Equal(t, runtime.ReasonPolicyDenied, do("refused").Reason)
		assert.Equal(t, []any{map[string]int{"begun": 1, "unknown": 1}, 1}, []any{ran, asked})
		require.NoError(t, again.exec.Shutdown(t.Context()))
	})
}

// TestACallThatRanIsNotMadeAgain: the journal stalls before the second attempt of a call, whose outcome is a denial therefore. Its handler has run.
// SEMANTICS 1.4.10
func TestACallThatRanIsNotMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ran, j := 0, new(fullable)
		tool := readTool(func(context.Context, *readInput) (*readOutput, error) {
			ran++
			j.full.Store(true)
			return nil, runtime.Transient(errors.New("busy"))
		}, writes, retried)
		r := recovered(t, j, tool)
		turn := r.turnOf("s")
		require.Equal(t, runtime.Unknown, turn.Execute(t.Context(), callOf("c", "file_read", goodInput)).Kind)
		j.full.Store(false)
		time.Sleep(time.Minute)
		for range 2 {
			assert.Equal(t, runtime.ReasonJournalUnavailable, turn.Execute(t.Context(), callOf("c", "file_read", goodInput)).Reason)
		}
		require.NoError(t, r.exec.Shutdown(t.Context()))
		again := recovered(t, j, tool)
		run, open := again.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
		require.True(t, open)
		assert.Equal(t, runtime.ReasonJournalUnavailable, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c", "file_read", goodInput)).Reason)
		assert.Equal(t, 1, ran)
		require.NoError(t, again.exec.Shutdown(t.Context()))
	})
}

// TestADenialThatWasUndoneIsTheAnswer: an earlier version has undone a call that was denied. The call stays what its id has, whether it is
// in memory or held by reference.
// SEMANTICS 1.4.10
func TestADenialThatWasUndoneIsTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(fullable)
		tool := readTool(okRead, writes, func(s *runtime.Spec) { s.Undo = &runtime.UndoSpec{TTL: time.Hour} })
		r := recovered(t, j, tool)
		turn := r.turnOf("s")
		j.left.Store(1)
		require.Equal(t, runtime.ReasonJournalUnavailable, turn.Execute(t.Context(), callOf("c", "file_read", goodInput)).Reason)
		j.full.Store(false)
		time.Sleep(time.Minute)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		undone := journal.Record{
			Kind: runtime.EventUndone.String(), At: time.Now(), Session: "s", Run: "r", Call: "c", Tool: "file_read", Mark: journal.MarkUndone, By: "ops",
		}
		e, err := journal.NewEntry(uint64(j.size(t)+1), &undone, nil)
		require.NoError(t, err)
		require.NoError(t, j.Append(t.Context(), []journal.Entry{e}))
		again := recovered(t, j, tool)
		run, open := again.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
		require.True(t, open, "%v", again.allFaults())
		for range 2 {
			assert.Equal(t, runtime.ReasonJournalUnavailable, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c", "file_read", goodInput)).Reason)
		}
		require.NoError(t, again.exec.Shutdown(t.Context()))
	})
}

// TestACallThatWasNotRecordedHasNothingToUndo: the start of a call comes into the journal late, and its handler has never run.
// SEMANTICS 4.20.10
func TestACallThatWasNotRecordedHasNothingToUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(fullable)
		tool := readTool(okRead, writes, func(s *runtime.Spec) { s.Undo = &runtime.UndoSpec{TTL: time.Hour} })
		r := recovered(t, j, tool)
		turn := r.turnOf("s")
		j.left.Store(1)
		out := turn.Execute(t.Context(), callOf("c", "file_read", goodInput))
		require.Equal(t, runtime.ReasonJournalUnavailable, out.Reason)
		require.Contains(t, r.kinds("c"), "tool.started")
		j.full.Store(false)
		time.Sleep(time.Minute)
		undo := func(r *rig) action.Code {
			s, known := r.exec.FindSession("s")
			require.True(t, known)
			_, err := s.Undo(t.Context(), action.UndoRequest{CallID: "c", By: runtime.ProgramActor("ops")})
			return codeOf(err)
		}
		assert.Equal(t, action.CodeNotSuccessful, undo(r))
		require.NoError(t, r.exec.Shutdown(t.Context()))
		again := recovered(t, j, tool)
		assert.Equal(t, action.CodeNotSuccessful, undo(again))
		require.NoError(t, again.exec.Shutdown(t.Context()))
	})
}

// TestAnswersWhileThereIsNoRoom: an answer that came before the stall waits, an answer
// during the stall is rejected and may be given again.
func TestAnswersWhileThereIsNoRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(fullable)
		r := recovered(t, j, readTool(okRead, asking()))
		turn := r.turn()
		first := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		second := turn.Execute(t.Context(), callOf("c2", "file_read", goodInput))
		require.Equal(t, runtime.Pending, second.Kind)
		j.full.Store(true)
		answered := make(chan action.Resolution, 1)
		go func() { answered <- r.exec.Decide(t.Context(), first.RequestID, yes("alice")) }()
		time.Sleep(time.Second)
		res := r.exec.Decide(t.Context(), second.RequestID, yes("alice"))
		assert.Equal(t, runtime.ResolutionRejected, res.Kind)
		assert.Equal(t, "journal_unavailable", res.Reason.String())
		require.Error(t, r.exec.SuspendConsent(t.Context(), time.Now().Add(time.Minute), runtime.ProgramActor("alice"), "because"))
		time.Sleep(time.Minute)
		assert.Empty(t, answered, "nobody is told what would be gone after a crash")
		j.full.Store(false)
		time.Sleep(time.Second)
		res = <-answered
		assert.Equal(t, runtime.ResolutionAccepted, res.Kind)
		assert.Equal(t, runtime.Completed, res.Outcome.Kind)
		res = r.exec.Decide(t.Context(), second.RequestID, yes("alice"))
		assert.Equal(t, runtime.Completed, res.Outcome.Kind)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestShutdownWithoutRoom: Shutdown does not wait for the end of the stall.
func TestShutdownWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(fullable)
		r := recovered(t, j, readTool(okRead, asking()))
		out := r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
		j.full.Store(true)
		answered := make(chan action.Resolution, 1)
		go func() { answered <- r.exec.Decide(t.Context(), out.RequestID, yes("alice")) }()
		time.Sleep(time.Second)
		require.ErrorIs(t, r.exec.Shutdown(t.Context()), journal.ErrUnavailable)
		assert.Equal(t, runtime.ResolutionRejected, (<-answered).Kind)
		j.full.Store(false)
		had := j.size(t)
		time.Sleep(time.Minute)
		assert.Equal(t, had, j.size(t), "nothing is written after the end")

		again := recovered(t, j, readTool(okRead, asking()))
		require.Len(t, again.exec.Requests(), 1, "the answer was not recorded, and counts for nothing")
		require.NoError(t, again.exec.Shutdown(t.Context()))

		j.full.Store(true)
		reg, err := runtime.NewRegistry(readTool(okRead))
		require.NoError(t, err)
		exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(j))
		require.NoError(t, err)
		require.ErrorIs(t, exec.Recover(t.Context()), journal.ErrUnavailable, "and nothing begins without room")
	})
}

// TestNothingContradictsTheJournal fills the journal at random, with concurrent calls:
// a call that was told completed is completed after a restart, a call that ran is
// recorded, and a call that was denied never ran.
// SEMANTICS 2.2.2
func TestNothingContradictsTheJournal(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			j := new(fullable)
			var mu sync.Mutex
			ran := map[string]bool{}
			tool := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
				info, _ := runtime.FromContext(ctx)
				mu.Lock()
				ran[info.ID] = true
				mu.Unlock()
				time.Sleep(time.Duration(len(info.ID)) * 10 * time.Millisecond)
				return okRead(ctx, in)
			})
			r := recovered(t, j, tool)
			turn := r.turn()
			rng := rand.New(rand.NewPCG(seed, 1))
			outs := map[string]runtime.Outcome{}
			var wg sync.WaitGroup
			for i := range 40 {
				id := fmt.Sprint("c", i)
				wg.Go(func() {
					out := turn.Execute(t.Context(), callOf(id, "file_read", goodInput))
					mu.Lock()
					defer mu.Unlock()
					outs[id] = out
				})
				time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
				if rng.IntN(4) == 0 {
					j.full.Store(rng.IntN(2) == 0)
				}
			}
			time.Sleep(time.Second)
			j.full.Store(false)
			wg.Wait()
			time.Sleep(time.Second)
			require.NoError(t, r.exec.Shutdown(t.Context()))
			s := recovered(t, j, tool).exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
			for id, told := range outs {
				after := s.Await(t.Context(), id)
				switch told.Kind {
				case runtime.Completed:
					require.Equal(t, runtime.Completed, after.Kind, "seed %d: %s", seed, id)
				case runtime.Unknown:
					require.True(t, ran[id], "seed %d: %s", seed, id)
					require.Equal(t, runtime.Completed, after.Kind, "seed %d: %s", seed, id)
				default:
					require.Equal(t, runtime.Denied, told.Kind, "seed %d: %s", seed, id)
					require.False(t, ran[id], "seed %d: %s", seed, id)
					require.NotEqual(t, runtime.Completed, after.Kind, "seed %d: %s", seed, id)
				}
			}
		})
	}
}

// TestCommitWaitsForRoom fills the journal before the decision to commit is recorded:
// nothing is committed before it is, and the call, whose caller was told unknown, is
// completed then.
// SEMANTICS 6.8.3
func TestCommitWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, l := new(fullable), new(ledgerOfWrites)
		r := transacting(t, j, l, writeTool(l, okRead))
		turn := r.turn()
		j.left.Store(2) // the intent, and then the decision
		out := turn.Execute(t.Context(), callOf("c1", "file_read", goodInput))
		require.Equal(t, runtime.Unknown, out.Kind)
		require.Equal(t, runtime.ReasonJournalUnavailable, out.Reason)
		require.Equal(t, []string{"begin", "seal"}, l.steps)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"begin", "seal"}, l.steps)
		j.full.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"begin", "seal", "commit"}, l.steps)
		s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		require.Equal(t, runtime.Completed, s.Await(t.Context(), "c1").Kind)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestUndoWithoutRoom: an undo is refused before its handler runs, and can be tried
// again.
func TestUndoWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, undone := new(fullable), 0
		spec := &runtime.Spec{Name: "put", Undo: &runtime.UndoSpec{TTL: 24 * time.Hour}}
		tool := runtime.NewTool(spec, &readInputRule, okRead, runtime.WithUndo(&readInputRule, &readOutputRule,
			func(_ context.Context, in *readInput) (*readInput, error) { return in, nil },
			func(context.Context, *runtime.Undo[readInput, readInput, readOutput]) error {
				undone++
				return nil
			}))
		r := recovered(t, j, tool)
		require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "put", goodInput)).Kind)
		s := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		undo := func() undoing {
			return undoingOf(s.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")}))
		}
		j.left.Store(1) // the intent
		require.Equal(t, action.CodeJournalUnavailable, undo().Reason)
		require.Equal(t, action.CodeJournalUnavailable, undo().Reason)
		require.Zero(t, undone)
		j.full.Store(false)
		time.Sleep(time.Second)
		require.Equal(t, undoOK, undo().Kind)
		require.Equal(t, 1, undone)
		require.NoError(t, r.exec.Shutdown(t.Context()))

		again := recovered(t, j, tool)
		s = again.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		require.Equal(t, action.CodeAlreadyUndone, undo().Reason)
		require.NoError(t, again.exec.Shutdown(t.Context()))
	})
}
