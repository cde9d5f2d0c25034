package stream

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
	"github.com/ambit-tools/ambit/runtime/host/metrics"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// rawCodec decodes any JSON.
type rawCodec struct{}

func (rawCodec) Decode(text []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	v, bad := wire.ParseRaw(text, l)
	return v, bad
}

// A measured executor makes durable calls, with signals or without.
type measured struct {
	exec *engine.Executor
	turn *engine.Turn
	feed *feed.Feed // nil: without
	url  string     // of its stream
}

func newMeasured(b *testing.B, signals bool) *measured {
	store, err := sqlite.Open(filepath.Join(b.TempDir(), "store"))
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, store.Close()) })
	registry, err := runtime.NewRegistry(runtime.NewDynamicTool(&runtime.Spec{Name: "note", Effect: runtime.SideEffectWrite}, rawCodec{},
		func(_ context.Context, in wire.Value) (wire.Value, error) { return in, nil }))
	require.NoError(b, err)
	m := &measured{}
	options := []engine.Option{engine.WithJournal(store)}
	if signals {
		m.feed = feed.New(store, store.Health().Head)
		options = []engine.Option{engine.WithJournal(m.feed.Journal()), engine.WithCounter(metrics.New(registry)), engine.WithOperators(allowed{})}
	}
	m.exec, err = engine.NewExecutor(registry, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}), options...)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, m.exec.Shutdown(context.Background())) })
	require.NoError(b, m.exec.Recover(b.Context()))
	run, err := m.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(b.Context(), engine.RunConfig{})
	require.NoError(b, err)
	m.turn = run.Turn(engine.TurnConfig{})
	if signals {
		guard := &httpguard.Guard{Auth: allowed{}, Hosts: []string{"127.0.0.1"}}
		server := httptest.NewServer(guard.Anyone(guard.Known(New(m.exec, m.feed).Events())))
		b.Cleanup(server.Close)
		m.url = server.URL
	}
	return m
}

// call makes a call, and returns what it took.
func (m *measured) call(b *testing.B) float64 {
	start := time.Now()
	out := m.turn.Execute(b.Context(), runtime.Call{Tool: "note", Input: []byte(`{"text":"a note of some words"}`)})
	took := time.Since(start)
	require.Equal(b, runtime.Completed, out.Kind, out.Message)
	return float64(took)
}

// read reads the stream in a goroutine of its own. The position is that of the last event.
func (m *measured) read(b *testing.B) *atomic.Uint64 {
	ctx, stop := context.WithCancel(b.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.url, nil)
	require.NoError(b, err)
	res, err := http.DefaultClient.Do(r)
	require.NoError(b, err)
	require.Equal(b, http.StatusOK, res.StatusCode)
	position, done := new(atomic.Uint64), make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = res.Body.Close() }()
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
				var at uint64
				_, _ = fmt.Sscan(text, &at)
				position.Store(at)
			}
		}
	}()
	b.Cleanup(func() { stop(); <-done })
	return position
}

// BenchmarkSignals measures a durable call with a feed, metrics and readers of the stream, who get every
// event, beside a call without all of that, in turns. Ratio is the median of the ratios.
func BenchmarkSignals(b *testing.B) {
	for _, readers := range []int{0, 1, 10} {
		b.Run(fmt.Sprint("readers=", readers), func(b *testing.B) {
			plain, signals := newMeasured(b, false), newMeasured(b, true)
			positions := make([]*atomic.Uint64, readers)
			for i := range positions {
				positions[i] = signals.read(b)
			}
			var without, with []float64
			for b.Loop() {
				without, with = append(without, plain.call(b)), append(with, signals.call(b))
				for _, at := range positions { // what readers still do does not slow the next call without them
					for at.Load() < signals.feed.Head() {
						time.Sleep(50 * time.Microsecond)
					}
				}
			}
			slices.Sort(without)
			slices.Sort(with)
			b.ReportMetric(with[len(with)/2]/without[len(without)/2], "ratio")
			b.ReportMetric(without[len(without)/2]/1e3, "plain-us")
		})
	}
}
