package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"

	"golang.org/x/mod/sumdb/note"
)

// A message is the input and the output of the tool that is measured.
type message struct{ Text string }

func (v *message) ReadMember(r *wire.Reader, _ string) {
	wire.ReadString(r, &v.Text, &wire.StringRule{})
}

func (v *message) Walk(w wire.Visitor) {
	w.Visit(wire.Token{Kind: wire.KindObject})
	w.Visit(wire.Token{Kind: wire.KindName, Str: "text"})
	w.Visit(wire.Token{Kind: wire.KindString, Str: v.Text})
	w.Visit(wire.Token{Kind: wire.KindEnd})
}

// A bench is an executor of one tool whose handler does nothing.
type bench struct {
	exec  *engine.Executor
	turns []*engine.Turn
	made  atomic.Int64
}

func noteTool() *runtime.Tool {
	return runtime.NewTool(&runtime.Spec{Name: "note", Version: "1.0.0", Effect: runtime.SideEffectWrite},
		&wire.ObjectRule{Names: []string{"text"}, Required: 1},
		func(_ context.Context, in *message) (*message, error) { return in, nil })
}

func allowAll(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// newBench returns a bench with a session per caller that writes to j.
func newBench(b testing.TB, j journal.Journal, callers int) *bench {
	reg, err := runtime.NewRegistry(noteTool())
	require.NoError(b, err)
	e := &bench{}
	e.exec, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(j), engine.WithPolicyTimeout(time.Minute))
	require.NoError(b, err)
	require.NoError(b, e.exec.Recover(b.Context()))
	b.Cleanup(func() { require.NoError(b, e.exec.Shutdown(context.Background())) })
	for i := range callers {
		run, err := e.exec.Session(engine.SessionConfig{ID: fmt.Sprint("s", i), Principal: "agent"}).StartRun(b.Context(), engine.RunConfig{})
		require.NoError(b, err)
		e.turns = append(e.turns, run.Turn(engine.TurnConfig{}))
	}
	return e
}

func (e *bench) call(caller int) error {
	id := fmt.Sprintf("call-%08x", uint32(e.made.Add(1)*2654435761))
	out := e.turns[caller].Execute(context.Background(), runtime.Call{ID: id, Tool: "note", Input: []byte(`{"text":"a note of some words"}`)})
	if out.Kind != runtime.Completed {
		return fmt.Errorf("%v %v: %s", out.Kind, out.Reason, out.Message)
	}
	return nil
}

// openAudited returns a store with a tree of its entries.
func openAudited(b *testing.B) journal.Journal {
	return audited(b, open(b, filepath.Join(b.TempDir(), "audited")))
}

// audited returns a store with a tree of its entries.
func audited(b testing.TB, store *sqlite.Store) journal.Journal {
	secret, _, err := audit.GenerateKey("bench")
	require.NoError(b, err)
	signer, err := note.NewSigner(secret)
	require.NoError(b, err)
	log, err := audit.New(b.Context(), store, audit.NewCheckpoints(store), signer)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, log.Close(context.Background())) })
	return log.Journal()
}

// BenchmarkDurableCall measures a call through an executor, with every event of
// its life written, beside the two rows that it would have to write at least;
// and once more with the audit's tree.
func BenchmarkDurableCall(b *testing.B) {
	plain := newBench(b, open(b, filepath.Join(b.TempDir(), "store")), 1)
	withTree := newBench(b, openAudited(b), 1)
	r := openRaw(b)
	var ours, trees, raws []time.Duration
	timed := func(to *[]time.Duration, call func() error) {
		start := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		*to = append(*to, time.Since(start))
	}
	for b.Loop() {
		timed(&ours, func() error { return plain.call(0) })
		timed(&raws, func() error { r.call(b); return nil })
		timed(&trees, func() error { return withTree.call(0) })
	}
	b.ReportMetric(median(ours)/median(raws), "x-raw")
	b.ReportMetric(median(trees)/median(ours), "x-with-tree")
	b.ReportMetric(median(raws)/1e3, "raw-us")
}

// BenchmarkDurableCalls measures calls of 32 callers beside a raw writer that
// groups the same rows, and beside one raw caller.
func BenchmarkDurableCalls(b *testing.B) {
	e := newBench(b, open(b, filepath.Join(b.TempDir(), "store")), callers)
	r, alone := openRaw(b), openRaw(b)
	rows := &flusher[int]{write: func(list []int) error { return r.group(len(list)) }}
	var ours, grouped, single []time.Duration
	for b.Loop() {
		ours = append(ours, many(b, 8, func(c, _ int) error { return e.call(c) }))
		grouped = append(grouped, many(b, 8, func(int, int) error {
			if err := rows.add(1); err != nil {
				return err
			}
			return rows.add(1)
		}))
		start := time.Now()
		for range 8 {
			alone.call(b)
		}
		single = append(single, time.Since(start)/8)
	}
	b.ReportMetric(median(grouped)/median(ours), "x-grouped-rate")
	b.ReportMetric(median(single)/median(ours), "x-one-raw-caller-rate")
}
