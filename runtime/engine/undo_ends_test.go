package engine_test

import (
	"context"
	"errors"
	"slices"
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

// TestUndoHasADeadlineAndAFence: an undo handler that runs past its deadline, or past
// the end of the context of Undo, writes nothing after that.
// SEMANTICS 6.4.1
func TestUndoHasADeadlineAndAFence(t *testing.T) {
	for name, row := range map[string]struct {
		patience time.Duration // of the caller of Undo
		reason   action.Code
		took     time.Duration
	}{
		"the deadline": {time.Minute, action.CodeTimedOut, time.Second},
		"the context":  {time.Second / 2, action.CodeCancelled, time.Second / 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal.Memory
				l := &ledgerOfWrites{}
				ended := make(chan error, 3)
				deaf := true
				r := undoRig(t, &j, l, nil, restoreTool(l, func(ctx context.Context) error {
					if !deaf {
						return nil
					}
					time.Sleep(time.Minute)
					ended <- ctx.Err()
					ended <- runtime.Commit(ctx, func() error { return nil })
					_, err := runtime.PartOf(ctx, l)
					ended <- err
					return nil
				}))
				r.puts()
				ctx, cancel := context.WithTimeout(t.Context(), row.patience)
				defer cancel()
				start := time.Now()
				res := undoingOf(r.sessionAgain().Undo(ctx, action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")}))
				assert.Equal(t, row.took, time.Since(start))
				assert.Equal(t, undoFailed, res.Kind)
				assert.Equal(t, row.reason, res.Reason)
				assert.Equal(t, []string{"a.md"}, l.stands, "it is taken back")
				time.Sleep(time.Minute)
				assert.Error(t, <-ended)
				assert.ErrorIs(t, <-ended, runtime.ErrFenced)
				assert.ErrorIs(t, <-ended, runtime.ErrFenced)
				deaf = false
				assert.Equal(t, undoOK, r.undoOf("c1").Kind)
				require.NoError(t, r.exec.Shutdown(t.Context()))
			})
		})
	}
}

// TestUndoThatFailedIsFenced: a goroutine of an undo handler that has returned an error has no
// effects any more.
func TestUndoThatFailedIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, late := &ledgerOfWrites{}, make(chan error, 1)
		r := undoRig(t, new(journal.Memory), l, nil, restoreTool(l, func(ctx context.Context) error {
			go func() {
				time.Sleep(time.Millisecond)
				late <- runtime.Commit(ctx, func() error { return nil })
			}()
			return errors.New("no")
		}))
		r.puts()
		assert.Equal(t, undoFailed, r.undoOf("c1").Kind)
		assert.ErrorIs(t, <-late, runtime.ErrFenced)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestUndoJudgesItsDeadlineByTheClock: the handler returns too late, and the timer has
// not fired. Which of the two comes first at the same instant differs from run to run.
// SEMANTICS 6.4.1
func TestUndoJudgesItsDeadlineByTheClock(t *testing.T) {
	for range 16 {
		synctest.Test(t, func(t *testing.T) {
			l := &ledgerOfWrites{}
			r := undoRig(t, new(journal.Memory), l, nil, restoreTool(l, func(ctx context.Context) error {
				due, _ := ctx.Deadline()
				time.Sleep(time.Until(due)) // both happen at the same instant
				return nil
			}))
			r.puts()
			assert.Equal(t, action.CodeTimedOut, r.undoOf("c1").Reason)
			assert.Equal(t, []string{"a.md"}, l.stands)
			require.NoError(t, r.exec.Shutdown(t.Context()))
		})
	}
}

// TestUndoThatIsNotKnownToHaveCommitted: the caller of Undo is told so, also after a
// crash.
func TestUndoThatIsNotKnownToHaveCommitted(t *testing.T) {
	var j journal.Memory
	l := &ledgerOfWrites{foreign: true}
	r := undoRig(t, &j, l, nil, restoreTool(l, nil))
	r.puts()
	l.fails = map[string]error{"commit": runtime.ErrMaybeCommitted}
	assert.Equal(t, action.CodeUnknown, r.undoOf("c1").Reason)

	decided := beforeLast(t, &j, "tool.undo_failed") // the process dies before the result is recorded
	l.fails = nil
	r = undoRig(t, decided, l, nil, restoreTool(l, nil))
	ev := r.sink.Events()[len(r.sink.Events())-1]
	assert.Equal(t, []string{"tool.undo_failed", "unknown"}, []string{ev.Kind.String(), ev.Rejection})
	assert.Contains(t, ev.Err, `it is not known whether participant "ledger" has committed`)
	assert.Equal(t, undoOK, r.undoOf("c1").Kind, "a person may have it tried again")
}

// TestUndoWhoseCommitWaitsForRoom fills the journal before the decision to commit is
// recorded. The caller leaves after the grace period, nothing is committed or recorded
// while the journal is full, and then the undo is committed.
// SEMANTICS 6.6.5
func TestUndoWhoseCommitWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, l := new(fullable), new(ledgerOfWrites)
		r := undoRig(t, j, l, nil, restoreTool(l, nil))
		r.puts()
		l.steps = nil
		j.left.Store(2) // the intent, and then the decision
		begin := time.Now()
		told := r.undoOf("c1")
		assert.Equal(t, action.CodeUnknown, told.Reason)
		assert.Contains(t, told.Err, "commit")
		assert.Less(t, time.Since(begin), time.Minute)
		time.Sleep(time.Hour)
		synctest.Wait()
		assert.Equal(t, []string{"begin", "seal"}, l.steps)
		assert.NotEqual(t, undoOK, r.undoOf("c1").Kind, "it is under way")
		j.full.Store(false)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, []string{"begin", "seal", "commit"}, l.steps)
		assert.Equal(t, action.CodeAlreadyUndone, r.undoOf("c1").Reason)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		var kinds []string
		for _, e := range j.all(t) {
			kinds = append(kinds, e.Kind)
		}
		assert.NotContains(t, kinds, "tool.undo_failed")

		again := undoRig(t, j, l, nil, restoreTool(l, nil))
		assert.Equal(t, action.CodeAlreadyUndone, again.undoOf("c1").Reason)
		require.NoError(t, again.exec.Shutdown(t.Context()))
	})
}

// TestShutdownLeavesAnUndoWithoutRoom shuts down while the decision of an undo waits
// for the journal. The executor neither waits for it nor commits later, and recovery
// rolls back what was not decided.
// SEMANTICS 6.6.5
func TestShutdownLeavesAnUndoWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, l := new(fullable), new(ledgerOfWrites)
		r := undoRig(t, j, l, nil, restoreTool(l, nil))
		r.puts()
		l.steps = nil
		j.left.Store(2)
		assert.Equal(t, action.CodeUnknown, r.undoOf("c1").Reason)
		require.ErrorIs(t, r.exec.Shutdown(t.Context()), journal.ErrUnavailable)
		j.full.Store(false)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.NotContains(t, l.steps, "commit")

		again := undoRig(t, j, l, nil, restoreTool(l, nil))
		res := again.undoOf("c1")
		assert.Equal(t, undoOK, res.Kind, "%v: %s", res.Reason, res.Err)
		require.NoError(t, again.exec.Shutdown(t.Context()))
	})
}

// beforeLast returns what a journal held before its last entry of a kind.
func beforeLast(t *testing.T, j *journal.Memory, kind string) *journal.Memory {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for i, e := range slices.Backward(entries) {
		if e.Kind == kind {
			out := new(journal.Memory)
			require.NoError(t, out.Append(t.Context(), entries[:i]))
			return out
		}
	}
	t.Fatalf("there is no entry %q", kind)
	return nil
}

// TestUndoThatIsInterrupted lets the process die after each entry of an undo: recovery
// commits the undo when that was decided, and rolls it back otherwise.
// SEMANTICS 6.6.5
func TestUndoThatIsInterrupted(t *testing.T) {
	grouped := func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"g"} }
	other := readTool(okRead, grouped)
	gone := func(s *runtime.Spec) { s.Undo = nil }
	for name, row := range map[string]struct {
		dies  string // before this entry
		done  bool
		later func(*runtime.Spec)
	}{
		"before it is decided": {journal.KindUndoDecided, false, nil},
		"after that":           {"tool.undone", true, nil},
		"after that, and undo is not declared later": {"tool.undone", true, gone},
	} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			l := &ledgerOfWrites{fails: map[string]error{}}
			r := undoRig(t, &j, l, nil, restoreTool(l, nil, grouped), other)
			r.puts()
			if row.done {
				l.fails["commit"] = errors.New("the process dies")
			} else {
				l.fails["seal"], l.fails["rollback"] = errors.New("the process dies"), errors.New("the process dies")
			}
			r.undoOf("c1")
			require.Equal(t, []string{"a.md", "not a.md"}, l.stands)
			l.fails = nil
			kind := row.dies
			if !row.done {
				kind = "tool.undo_failed"
			}
			crashed := beforeLast(t, &j, kind)
			later := row.later
			if later == nil {
				later = func(*runtime.Spec) {}
			}
			r = undoRig(t, crashed, l, nil, restoreTool(l, nil, grouped, later), other)
			ev := r.sink.Events()[len(r.sink.Events())-1]
			run, open := r.sessionAgain().Run("r")
			require.True(t, open)
			out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput))
			if row.done {
				assert.Equal(t, []string{"a.md", "not a.md"}, l.stands)
				assert.Equal(t, "tool.undone", ev.Kind.String())
				assert.Equal(t, "alice", ev.By)
				assert.Equal(t, action.CodeAlreadyUndone, r.undoOf("c1").Reason)
				assert.Equal(t, runtime.Completed, out.Kind, "its group is free: %s", out.Message)
				return
			}
			assert.Equal(t, []string{"a.md"}, l.stands)
			assert.Equal(t, []string{"tool.undo_failed", "failed", "interrupted"}, []string{ev.Kind.String(), ev.Resolution, ev.Rejection})
			assert.Equal(t, runtime.ReasonExclusiveGroup, out.Reason)
			assert.Equal(t, undoOK, r.undoOf("c1").Kind)
		})
	}
}

// TestUndoIntentIsDurable: an undo handler does not start before its intent is durable.
// An undo that cannot be recorded is reported as attempted at most.
// SEMANTICS 6.6.5
func TestUndoIntentIsDurable(t *testing.T) {
	for left := range 3 { // entries of an undo: started, decided, undone
		j := &broken{left: 1000}
		l := &ledgerOfWrites{}
		ran := false
		r := undoRig(t, j, l, nil, restoreTool(l, func(context.Context) error {
			ran = true
			return nil
		}))
		r.puts()
		j.left = left
		res := r.undoOf("c1")
		assert.Equal(t, undoFailed, res.Kind)
		assert.Equal(t, action.CodeJournalUnavailable, res.Reason)
		assert.Equal(t, left > 0, ran)
		assert.Equal(t, left == 2, slices.Contains(l.steps[3:], "commit"), "nothing is committed that was not decided")

		r = undoRig(t, &j.Memory, l, nil, restoreTool(l, nil))
		want, stands := undoOK, []string{"a.md"}
		if left == 2 {
			want, stands = undoRejected, []string{"a.md", "not a.md"}
		}
		assert.Equal(t, stands, l.stands)
		assert.Equal(t, want, r.undoOf("c1").Kind)
	}
}

// TestUndoEndsWithTheExecutor: an undo handler that does not stop is abandoned, and
// recovery settles it.
func TestUndoEndsWithTheExecutor(t *testing.T) {
	for name, deaf := range map[string]bool{"it listens": false, "it is deaf": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var j journal.Memory
				l := &ledgerOfWrites{}
				patient := func(s *runtime.Spec) { s.Deadline = time.Hour }
				r := undoRig(t, &j, l, nil, restoreTool(l, func(ctx context.Context) error {
					if deaf {
						time.Sleep(time.Minute)
						return nil
					}
					<-ctx.Done()
					return ctx.Err()
				}, patient))
				r.puts()
				results := make(chan undoing, 1)
				go func() { results <- r.undoOf("c1") }()
				synctest.Wait()
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err := r.exec.Shutdown(ctx)
				res := <-results
				assert.Equal(t, undoFailed, res.Kind)
				if !deaf {
					require.NoError(t, err)
					assert.Equal(t, action.CodeCancelled, res.Reason)
					assert.Equal(t, []string{"a.md"}, l.stands)
				} else {
					assert.Equal(t, action.CodeJournalUnavailable, res.Reason)
				}
				time.Sleep(time.Minute)
				r = undoRig(t, &j, l, nil, restoreTool(l, nil))
				assert.Equal(t, []string{"a.md"}, l.stands)
				assert.Equal(t, undoOK, r.undoOf("c1").Kind)
				require.NoError(t, r.exec.Shutdown(t.Context()))
			})
		})
	}
}
