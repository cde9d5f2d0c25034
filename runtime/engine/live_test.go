package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A livePieces collects live output.
type livePieces struct {
	mu     sync.Mutex
	pieces []journal.Live
}

func (o *livePieces) add(p journal.Live) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pieces = append(o.pieces, p)
}

// all returns the pieces so far.
func (o *livePieces) all() []journal.Live {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.pieces)
}

// text returns the texts of all pieces, after it has checked that their offsets have no gap.
func (o *livePieces) text(t *testing.T) string {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	var all strings.Builder
	for _, p := range o.pieces {
		assert.EqualValues(t, all.Len(), p.Offset)
		all.WriteString(p.Text)
	}
	return all.String()
}

// reporting returns a rig whose live output is collected.
func reporting(t *testing.T, j journal.Journal, policy runtime.Policy, tools ...*runtime.Tool) (*rig, *livePieces) {
	t.Helper()
	var o livePieces
	r := newRigWith(t, policy, tools, engine.WithPendingRequests(), engine.WithJournal(j), engine.WithLive(o.add))
	r.recover()
	return r, &o
}

// liveCounts returns the counts of the entries of tool.output.
func liveCounts(t *testing.T, j journal.Journal) (list []runtime.LiveCounts) {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for i := range entries {
		r, err := journal.Decode(entries[i].Leaf)
		require.NoError(t, err)
		if r.Kind == "tool.output" {
			list = append(list, *r.Live)
		}
	}
	return list
}

// TestReport: 10 pieces a second, 64 KiB a call, an entry with counts a second, and no text in the
// journal and the sinks.
// SEMANTICS 2.5.2, 2.5.3, 2.5.5
func TestReport(t *testing.T) {
	const reports = 295 // the attempt ends between two seconds, so that only its end tells the last entry
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		r, o := reporting(t, &j, runtime.PolicyFunc(allowAll), readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
			for i := range reports {
				assert.NoError(t, runtime.Report(ctx, runtime.Progress{Done: int64(i + 1), Total: reports, Text: strings.Repeat("v", 1<<8)}))
				time.Sleep(10 * time.Millisecond)
			}
			return okRead(ctx, in)
		}))
		run := r.startRun("r", map[string]string{"request_id": "web-1"})
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c1", "file_read", goodInput))
		require.Equal(t, runtime.Completed, out.Kind, out.Message)
		assert.Equal(t, strings.Repeat("v", 64<<10), o.text(t))
		assert.InDelta(t, 31, len(o.pieces), 1, "10 a second, and the rest")
		last := o.pieces[len(o.pieces)-1]
		assert.EqualValues(t, []int64{reports, reports, reports<<8 - 64<<10}, []int64{last.Done, last.Total, last.Dropped})
		assert.Equal(t, []any{"s", "r", "c1", "file_read", "agent", 1, "web-1", 1, false},
			[]any{last.Session, last.Run, last.Call, last.Tool, last.Principal, last.Turn, last.RequestID, last.Attempt, last.Undo})
		counts := liveCounts(t, &j)
		require.Len(t, counts, 4)
		assert.EqualValues(t, 1<<8, counts[0].Bytes)
		assert.Equal(t, runtime.LiveCounts{Bytes: 64 << 10, Dropped: reports<<8 - 64<<10, Pieces: int64(len(o.pieces)), Done: reports, Total: reports}, counts[3])

		entries, err := j.Read(t.Context(), 0, 1000)
		require.NoError(t, err)
		kinds := map[uint64]string{}
		for _, e := range entries {
			kinds[e.Seq] = e.Kind
			assert.NotContains(t, string(e.Leaf)+string(e.Private), "vv")
		}
		assert.Equal(t, "tool.started", kinds[o.pieces[0].After])
		for _, p := range o.pieces[1:] {
			assert.Equal(t, "tool.output", kinds[p.After])
		}
		for _, e := range r.sink.Events() {
			text, err := json.Marshal(e)
			require.NoError(t, err)
			assert.NotContains(t, string(text), "vv")
			assert.Equal(t, e.Kind == runtime.EventOutput, e.Live != nil)
		}
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestReportIsFenced: after the outcome, after the deadline, in an earlier attempt, and where there is
// no handler.
// SEMANTICS 2.5.1
func TestReportIsFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		var late []context.Context
		handler := func(ctx context.Context, in *readInput) (*readOutput, error) {
			late = append(late, ctx)
			assert.NoError(t, runtime.Report(ctx, runtime.Progress{Text: in.Path}))
			switch {
			case in.Path == "hang":
				time.Sleep(time.Hour)
			case in.Path == "again" && len(late) == 1:
				return nil, runtime.Transient(errors.New("again"))
			case in.Path == "again":
				assert.ErrorIs(t, runtime.Report(late[0], runtime.Progress{Text: "earlier"}), runtime.ErrFenced)
			}
			return okRead(ctx, in)
		}
		retried := func(s *runtime.Spec) { s.Idempotent, s.Retry = true, &runtime.Retry{Max: 1} }
		preview := shownTool(t, func(ctx context.Context, _ *readInput) (runtime.Preview, error) {
			assert.ErrorIs(t, runtime.Report(ctx, runtime.Progress{Text: "preview"}), runtime.ErrNoCall)
			return runtime.Preview{}, errors.New("enough")
		})
		r, o := reporting(t, &j, runtime.PolicyFunc(allowAll), readTool(handler, retried), preview)
		run := r.run()
		for path, kind := range map[string]runtime.OutcomeKind{"done": runtime.Completed, "hang": runtime.TimedOut, "again": runtime.Completed} {
			late = nil
			out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf(path, "file_read", `{"path":"`+path+`","limit":1}`))
			require.Equal(t, kind, out.Kind, out.Message)
			for _, ctx := range late {
				assert.ErrorIs(t, runtime.Report(ctx, runtime.Progress{Text: "late"}), runtime.ErrFenced)
			}
		}
		require.Equal(t, runtime.Failed, run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("p", "pay", goodInput)).Kind)
		assert.ErrorIs(t, runtime.Report(t.Context(), runtime.Progress{}), runtime.ErrNoCall)
		//lint:ignore SA1012 a nil context is the point
		assert.ErrorIs(t, runtime.Report(nil, runtime.Progress{}), runtime.ErrNoCall)
		texts := map[string]string{}
		attempts := map[string][]int{}
		for _, p := range o.pieces {
			texts[p.Call] += p.Text
			attempts[p.Call] = append(attempts[p.Call], p.Attempt)
		}
		assert.Equal(t, map[string]string{"done": "done", "hang": "hang", "again": "againagain"}, texts)
		assert.Equal(t, []int{1, 2}, attempts["again"])
		time.Sleep(time.Hour)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestReportHoldsNoSecrets: a sensitive value of the arguments or of the prepared state is in no piece,
// whole, quoted or split over two reports.
// SEMANTICS 2.5.4
func TestReportHoldsNoSecrets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		l := loginTool{run: func(ctx context.Context, in *loginInput) (*loginInput, error) {
			for _, text := range []string{"to " + in.Password, " and hun", "ter2 and hun", fmt.Sprintf("t %q", "before "+in.Password), " end"} {
				assert.NoError(t, runtime.Report(ctx, runtime.Progress{Text: text}))
				time.Sleep(200 * time.Millisecond)
			}
			return in, nil
		}}
		r, o := reporting(t, &j, runtime.PolicyFunc(allowAll), l.tool(func(s *runtime.Spec) { s.Deadline = time.Minute }))
		require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn)).Kind)
		assert.Equal(t, `to (sensitive) and (sensitive) and hunt "(sensitive)" end`, o.text(t))
		assert.Greater(t, len(o.pieces), 2)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

// TestReportOfMaskedOutput: when the policy has the output masked, no text is told.
// SEMANTICS 2.5.4
func TestReportOfMaskedOutput(t *testing.T) {
	var j journal.Memory
	policy := decide(runtime.Decision{
		Effect: runtime.EffectAllow, Obligations: []runtime.Obligation{{Code: "redact_output", Args: wire.Raw(`{"pointers":["/text"]}`)}},
	})
	r, o := reporting(t, &j, policy, readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		assert.NoError(t, runtime.Report(ctx, runtime.Progress{Done: 1, Text: "masked"}))
		return okRead(ctx, in)
	}))
	require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	require.Len(t, o.pieces, 1)
	assert.Empty(t, o.pieces[0].Text)
	assert.EqualValues(t, 6, o.pieces[0].Dropped)
	assert.Equal(t, []runtime.LiveCounts{{Dropped: 6, Pieces: 1, Done: 1}}, liveCounts(t, &j))
}

// TestReportOfAnUndo: an undo handler is told of likewise, and nothing of it is recorded.
// SEMANTICS 2.5.1, 2.5.5
func TestReportOfAnUndo(t *testing.T) {
	var j journal.Memory
	var late context.Context
	spec := &runtime.Spec{Name: "login", Deadline: time.Minute, Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{}}
	same := func(_ context.Context, in *loginInput) (*loginInput, error) { return in, nil }
	tool := runtime.NewTool(spec, &loginInputRule, same,
		runtime.WithUndo(&loginInputRule, &loginInputRule, same, func(ctx context.Context, u *undid) error {
			late = ctx
			return runtime.Report(ctx, runtime.Progress{Done: 1, Total: 1, Text: "took back " + u.Input.Password})
		}))
	r, o := reporting(t, &j, runtime.PolicyFunc(allowAll), tool)
	require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn)).Kind)
	_, err := r.sessionAgain().Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("alice")})
	require.NoError(t, err)
	assert.ErrorIs(t, runtime.Report(late, runtime.Progress{Text: "late"}), runtime.ErrFenced)
	assert.Equal(t, "took back (sensitive)", o.text(t))
	kinds := kindsAt(t, &j)
	for _, p := range o.pieces {
		assert.True(t, p.Undo)
		assert.Equal(t, journal.KindUndoStarted, kinds[p.After])
	}
	assert.Empty(t, liveCounts(t, &j))
}

// TestReportFromGoroutines of a handler, which go on after its outcome.
func TestReportFromGoroutines(t *testing.T) {
	var j journal.Memory
	var all sync.WaitGroup
	r, o := reporting(t, &j, runtime.PolicyFunc(allowAll), readTool(func(ctx context.Context, in *readInput) (*readOutput, error) {
		started := make(chan struct{}, 4)
		for range 4 {
			all.Go(func() {
				for i := 0; runtime.Report(ctx, runtime.Progress{Done: 1, Text: "x"}) == nil; i++ {
					if i == 0 {
						started <- struct{}{}
					}
				}
			})
		}
		for range 4 {
			<-started
		}
		return okRead(ctx, in)
	}))
	require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput)).Kind)
	all.Wait()
	counts := liveCounts(t, &j)
	assert.EqualValues(t, len(o.text(t)), counts[len(counts)-1].Bytes)

	recovered(t, &j, readTool(okRead)) // its entries are read
}
