package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	"github.com/ambit-tools/ambit/runtime/rules"
)

// A shared is a journal with one owner at a time: the latest.
type shared struct {
	journal.Memory
	mu    sync.Mutex
	epoch uint64
}

// take returns the journal for its next owner.
func (s *shared) take() *owned {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.epoch++
	return &owned{shared: s, epoch: s.epoch}
}

// An owned is a shared journal as one owner sees it.
type owned struct {
	*shared
	epoch uint64
	beats []time.Time
	beat  func(ctx context.Context) error // nil: every renewal succeeds
}

func (o *owned) Epoch() uint64 { return o.epoch }

func (o *owned) Claim(context.Context) (func(), error) { return func() {}, nil }

func (o *owned) Renew(ctx context.Context) error {
	o.mu.Lock()
	o.beats = append(o.beats, time.Now())
	lost, beat := o.shared.epoch != o.epoch, o.beat
	o.mu.Unlock()
	switch {
	case lost:
		return fmt.Errorf("epoch %d: %w", o.epoch, journal.ErrLost)
	case beat != nil:
		return beat(ctx)
	}
	return nil
}

// renewals returns when the ownership was renewed.
func (o *owned) renewals() []time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.beats)
}

func (o *owned) Append(ctx context.Context, entries []journal.Entry) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shared.epoch != o.epoch {
		return fmt.Errorf("epoch %d: %w", o.epoch, journal.ErrLost)
	}
	return o.Memory.Append(ctx, entries)
}

// obedient is a tool that stops when its context is canceled, and reports that it has
// begun.
func obedient(begun chan<- string, change ...func(*runtime.Spec)) *runtime.Tool {
	return readTool(func(ctx context.Context, _ *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		begun <- info.ID
		<-ctx.Done()
		return nil, ctx.Err()
	}, append(change, func(s *runtime.Spec) { s.Effect, s.Deadline = runtime.SideEffectWrite, time.Hour })...)
}

// told waits in the background for the outcome of a call.
func told(turn *engine.Turn, c runtime.Call) <-chan runtime.Outcome {
	ended := make(chan runtime.Outcome, 1)
	go func() { ended <- turn.Execute(context.Background(), c) }()
	return ended
}

// SEMANTICS 6.9.5, 8.1.16
func TestLeaseIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := new(shared).take()
		r := recovered(t, j, readTool(okRead))
		began := time.Now()
		time.Sleep(35 * time.Second)
		assert.Equal(t, []time.Time{began.Add(10 * time.Second), began.Add(20 * time.Second), began.Add(30 * time.Second)}, j.renewals())
		require.NoError(t, r.exec.Shutdown(t.Context()))
		time.Sleep(time.Hour)
		assert.Len(t, j.renewals(), 3, "who was shut down owns nothing")
		assert.Empty(t, r.allFaults())
	})
}

// TestLeaseLost: another process takes the journal over while a handler runs.
// SEMANTICS 6.9.1, 6.9.3, 6.9.4
func TestLeaseLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		begun := make(chan string, 1)
		r := recovered(t, s.take(), obedient(begun), readTool(okRead, named("ask"), asking()))
		turn := r.turn()
		out := told(turn, callOf("c1", "file_read", goodInput))
		<-begun
		pending := turn.Execute(t.Context(), callOf("c2", "ask", goodInput))
		require.Equal(t, runtime.Pending, pending.Kind)

		next := recovered(t, s.take(), readTool(okRead), readTool(okRead, named("ask"), asking()))
		lost := <-out
		assert.Equal(t, runtime.Cancelled, lost.Kind)
		assert.Equal(t, runtime.ReasonLeaseLost, lost.Reason)
		assert.Contains(t, lost.Message, "the next owner will say; it may still have taken effect")
		synctest.Wait()
		assert.Contains(t, r.kinds("c1"), "tool.late_result", "as evidence")
		require.NotEmpty(t, r.allFaults())
		assert.ErrorIs(t, r.allFaults()[0], journal.ErrLost)

		assert.Equal(t, runtime.ReasonJournalUnavailable, turn.Execute(t.Context(), callOf("c3", "file_read", goodInput)).Reason)
		res := r.exec.Decide(t.Context(), pending.RequestID, yes("alice"))
		assert.Equal(t, "journal_unavailable", res.Reason.String())
		assert.Equal(t, runtime.Pending, res.Outcome.Kind, "that is for the next owner")
		ses := next.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		assert.Equal(t, runtime.Unknown, ses.Await(t.Context(), "c1").Kind)
		res = next.exec.Decide(t.Context(), pending.RequestID, yes("alice"))
		assert.Equal(t, runtime.Completed, res.Outcome.Kind)
		assert.ErrorIs(t, r.exec.Shutdown(t.Context()), journal.ErrLost)
		require.NoError(t, next.exec.Shutdown(t.Context()))
	})
}

// TestLostByWriting: a write fails before a heartbeat does.
// SEMANTICS 6.9.3
func TestLostByWriting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		begun := make(chan string, 1)
		r := recovered(t, s.take(), obedient(begun), readTool(okRead, named("other")))
		turn := r.turn()
		out := told(turn, callOf("c1", "file_read", goodInput))
		<-begun
		began := time.Now()
		s.take()
		second := turn.Execute(t.Context(), callOf("c2", "other", goodInput))
		assert.Equal(t, runtime.Denied, second.Kind)
		assert.Equal(t, runtime.ReasonJournalUnavailable, second.Reason)
		assert.Equal(t, runtime.ReasonLeaseLost, (<-out).Reason)
		assert.Equal(t, began, time.Now())
		assert.ErrorIs(t, r.exec.Shutdown(t.Context()), journal.ErrLost)
	})
}

// TestNobodyRunsTwice: no handler of the old owner runs at the same time as those of
// the new owner.
func TestNobodyRunsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared
		ran := 0
		count := readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			ran++
			return okRead(ctx, in)
		}, func(s *runtime.Spec) { s.Undo = &runtime.UndoSpec{} })
		old := recovered(t, s.take(), count)
		turn := old.turn()
		require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		next := recovered(t, s.take(), count)
		assert.Equal(t, runtime.ReasonJournalUnavailable, turn.Execute(t.Context(), callOf("c2", "file_read", goodInput)).Reason)
		assert.Equal(t, 1, ran)
		ses := old.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
		undone := undoingOf(ses.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")}))
		assert.Equal(t, action.CodeJournalUnavailable, undone.Reason)
		assert.NotContains(t, old.kinds("c1"), "tool.undone")
		run, _ := next.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
		assert.Equal(t, runtime.Completed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
		assert.Equal(t, 2, ran)
		require.Error(t, old.exec.Shutdown(t.Context()))
		require.NoError(t, next.exec.Shutdown(t.Context()))
	})
}

// TestBeatThatFails: a failed renewal is tried again, and the ownership is given up
// after DefaultStale.
func TestBeatThatFails(t *testing.T) {
	for name, beat := range map[string]func(context.Context) error{
		"fails":  func(context.Context) error { return errors.New("disk is slow") },
		"panics": func(context.Context) error { panic("disk is slow") },
		"hangs":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := make(chan string, 1)
				j := new(shared).take()
				r := recovered(t, j, obedient(begun))
				out := told(r.turn(), callOf("c1", "file_read", goodInput))
				<-begun
				began := time.Now()
				time.Sleep(15 * time.Second)
				j.mu.Lock()
				j.beat = beat
				j.mu.Unlock()
				assert.Equal(t, runtime.ReasonLeaseLost, (<-out).Reason)
				assert.Equal(t, 70*time.Second, time.Since(began), "a minute after the last one that succeeded")
				if name != "hangs" {
					assert.ErrorContains(t, r.allFaults()[0], "is tried again: ")
				}
				assert.ErrorIs(t, r.exec.Shutdown(t.Context()), journal.ErrLost)
			})
		})
	}
}

// SEMANTICS 6.11.1, 6.11.2
func TestFenceAndKey(t *testing.T) {
	var s shared
	j := s.take()
	infos := map[string]runtime.CallInfo{}
	note := func(ctx context.Context, in *readInput) (*readOutput, error) {
		info, _ := runtime.FromContext(ctx)
		infos[info.ID+info.Session] = info
		return okRead(ctx, in)
	}
	keyed := func(s *runtime.Spec) { s.Idempotency = &runtime.Idempotency{Key: []string{"path"}, Window: time.Hour} }
	tools := func() []*runtime.Tool {
		return []*runtime.Tool{readTool(note), readTool(note, named("keyed"), keyed), readTool(note, named("ask"), asking())}
	}
	r := recovered(t, j, tools()...)
	turn := r.turn()
	turn.Execute(t.Context(), callOf("a", "file_read", goodInput))
	turn.Execute(t.Context(), callOf("b", "file_read", goodInput))
	turn.Execute(t.Context(), callOf("k1", "keyed", `{"path":"x","limit":2}`))
	turn.Execute(t.Context(), callOf("k2", "keyed", `{"path":"y","limit":2}`))
	other, err := r.exec.Session(engine.SessionConfig{ID: "t", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	other.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("a", "file_read", goodInput))
	other.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("k1", "keyed", `{"limit":3,"path":"x"}`))
	keys := map[string]int{}
	for _, info := range infos {
		assert.Len(t, info.Key(), 64)
		assert.Equal(t, uint64(1), info.Fence)
		keys[info.Key()]++
	}
	assert.Len(t, keys, 5, "k1 of both sessions has the same effect")
	assert.Equal(t, infos["k1s"].Key(), infos["k1t"].Key())

	out := turn.Execute(t.Context(), callOf("p", "ask", goodInput))
	require.NoError(t, r.exec.Shutdown(t.Context()))
	r = recovered(t, s.take(), tools()...)
	require.Equal(t, runtime.Completed, r.exec.Decide(t.Context(), out.RequestID, yes("alice")).Outcome.Kind)
	assert.Equal(t, uint64(2), infos["ps"].Fence)
	assert.Len(t, infos["ps"].Key(), 64)
	require.NoError(t, r.exec.Shutdown(t.Context()))
}

// TestStale: the calls that the former owner ran are orphaned, and before that stale
// when it had written nothing for long. Both events name that owner.
// SEMANTICS 6.10.1, 8.1.17
func TestStale(t *testing.T) {
	for _, silence := range []time.Duration{time.Minute, time.Minute + 1} {
		synctest.Test(t, func(t *testing.T) {
			var s shared
			begun := make(chan string, 1)
			r := recovered(t, s.take(), obedient(begun))
			out := told(r.turn(), callOf("c1", "file_read", goodInput))
			<-begun
			time.Sleep(silence)
			next := recovered(t, s.take(), readTool(okRead))
			want := []string{"tool.orphaned", "tool.unknown"}
			if silence > time.Minute {
				want = append([]string{"tool.stale"}, want...)
			}
			assert.Equal(t, want, next.kinds("c1"))
			entries, err := s.Call(t.Context(), journal.CallKey{Session: "s", Call: "c1"})
			require.NoError(t, err)
			for _, e := range entries {
				rec, err := journal.Decode(e.Leaf)
				require.NoError(t, err)
				if rec.Kind == "tool.stale" || rec.Kind == "tool.orphaned" {
					assert.Equal(t, uint64(1), rec.Epoch, rec.Kind)
				}
			}
			assert.Equal(t, runtime.ReasonLeaseLost, (<-out).Reason)
			require.Error(t, r.exec.Shutdown(t.Context()))
			require.NoError(t, next.exec.Shutdown(t.Context()))
		})
	}
}

// TestNoBeatEverSucceeds: DefaultStale runs from recovery.
// SEMANTICS 6.9.3
func TestNoBeatEverSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := make(chan string, 1)
		j := new(shared).take()
		j.beat = func(context.Context) error { return errors.New("disk is slow") }
		r := recovered(t, j, obedient(begun))
		began := time.Now()
		out := told(r.turn(), callOf("c1", "file_read", goodInput))
		<-begun
		assert.Equal(t, runtime.ReasonLeaseLost, (<-out).Reason)
		assert.Equal(t, time.Minute, time.Since(began))
		assert.ErrorIs(t, r.exec.Shutdown(t.Context()), journal.ErrLost)
	})
}

// TestDigestsOfArgumentsAreKeyed: the digests of arguments in the rule state are in the
// leaves, which cannot be erased, and tell a reader without the key of the journal
// nothing. The key that a handler gets is the same with every journal.
func TestDigestsOfArgumentsAreKeyed(t *testing.T) {
	keys, digests := map[string]int{}, map[string]int{}
	tool := func() *runtime.Tool {
		return readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			info, _ := runtime.FromContext(ctx)
			keys[info.Key()]++
			return okRead(ctx, in)
		}, func(s *runtime.Spec) {
			s.Dedupe.Mode = runtime.DedupeAlways
			s.Idempotency = &runtime.Idempotency{Key: []string{"path"}, Window: time.Hour}
		})
	}
	for range 2 {
		j := new(journal.Memory)
		r := recovered(t, j, tool())
		require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		r = recovered(t, j, tool())
		run, _ := r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).Run("r")
		require.Equal(t, runtime.Duplicate, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput)).Kind)
		require.NoError(t, r.exec.Shutdown(t.Context()))
		for _, rec := range records(t, j) {
			for _, ev := range rec.Rules {
				if ev.Kind == rules.EventAdmitted {
					digests[fmt.Sprintf("%x", ev.Args)]++
					digests[fmt.Sprintf("%x", ev.Key)]++
				}
			}
		}
	}
	assert.Len(t, digests, 4, "each of its own")
	assert.Len(t, keys, 1)
}
