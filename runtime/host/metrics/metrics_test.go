package metrics_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/metrics"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// secret is in arguments, in ids and in errors.
const secret = "hunter2-hunter2"

// A message is the input and the output of the tools.
type message struct{ Text string }

func (m *message) Walk(w wire.Visitor) {
	wire.BeginObject(w, &rule)
	wire.Member(w, "text", &m.Text, wire.WalkString, &textRule)
	wire.End(w)
}

func (m *message) ReadMember(r *wire.Reader, name string) {
	if name == "text" {
		wire.ReadString(r, &m.Text, &textRule)
	}
}

var (
	rule     = wire.ObjectRule{Names: []string{"text"}, Required: 1}
	textRule = wire.StringRule{}
)

// handle fails when the text says so. It reports a text that is the secret, and now and then too much.
func handle(ctx context.Context, in *message) (*message, error) {
	switch in.Text {
	case "fail":
		return nil, errors.New(secret)
	case secret:
		n := reports.Add(1)
		if err := runtime.Report(ctx, runtime.Progress{Text: strings.Repeat(secret, int(1+n%5))}); err != nil {
			return nil, err
		}
		if n%10 == 0 {
			return in, runtime.Report(ctx, runtime.Progress{Text: strings.Repeat(secret, 20_000)})
		}
	}
	return in, nil
}

// reports counts the reports of handle.
var reports atomic.Int64

// A blocked sink takes no event before it is released.
type blocked struct{ released chan struct{} }

func (s blocked) Emit(*runtime.Event) error {
	<-s.released
	return nil
}

// policy denies calls with an odd size of the name of their principal.
func policy(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
	if len(in.Principal)%2 == 1 {
		return runtime.Decision{Denials: []runtime.Denial{{Code: "odd", Message: secret}}}, nil
	}
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// open returns an executor of three tools with metrics, and its journal.
func open(t testing.TB, opts ...engine.Option) (*engine.Executor, *metrics.Metrics, *journal.Memory) {
	t.Helper()
	tools := []*runtime.Tool{
		runtime.NewTool(&runtime.Spec{Name: "read", Version: "1.0.0", Effect: runtime.SideEffectRead}, &rule, handle),
		runtime.NewTool(&runtime.Spec{Name: "write", Version: "1.0.0", Effect: runtime.SideEffectWrite}, &rule, handle),
		runtime.NewTool(&runtime.Spec{Name: "limited", Version: "1.0.0", Effect: runtime.SideEffectRead, Rules: runtime.Rules{MaxCalls: 3}}, &rule, handle),
	}
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	m, j := metrics.New(reg), new(journal.Memory)
	opts = append([]engine.Option{engine.WithCounter(m), engine.WithJournal(j), engine.WithMaxInFlight(1 << 20)}, opts...)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(policy), opts...)
	require.NoError(t, err)
	require.NoError(t, exec.Recover(t.Context()))
	return exec, m, j
}

// work makes n calls in several goroutines.
func work(t testing.TB, exec *engine.Executor, n int) {
	t.Helper()
	const workers = 4
	var all sync.WaitGroup
	for w := range workers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(w), 7))
			for i := 0; i < n/workers; {
				s := exec.Session(engine.SessionConfig{ID: fmt.Sprint(secret, w, "-", i), Principal: strings.Repeat("p", rng.IntN(3))})
				run, err := s.StartRun(t.Context(), engine.RunConfig{Metadata: map[string]string{"request_id": secret}})
				if !assert.NoError(t, err) {
					return
				}
				turn := run.Turn(engine.TurnConfig{})
				for range min(100, n/workers-i) {
					tool := []string{"read", "write", "limited", "no_such", secret}[rng.IntN(5)]
					input := []string{`{"text":"` + secret + `"}`, `{"text":"fail"}`, `{}`}[rng.IntN(3)]
					turn.Execute(t.Context(), runtime.Call{Tool: tool, Input: []byte(input)})
					i++
				}
				run.Close(t.Context())
			}
		})
	}
	all.Wait()
}

// A document is what the test reads of the JSON form.
type document struct {
	Tools []struct {
		Tool  string
		Calls []struct {
			Outcome, Reason string
			Count           int
		}
		Events map[string]int

		LiveBytes   int64 `json:"live_bytes"`
		LiveDropped int64 `json:"live_dropped_bytes"`

		Seconds map[string]struct{ Count, Sum, P99 float64 }
	}
}

func read(t testing.TB, m *metrics.Metrics, of metrics.Source) (d document) {
	t.Helper()
	text, err := m.JSON(of.Stats())
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

// sameLive compares the last counts of live output of each call with what was counted.
func sameLive(t *testing.T, recorded map[string]runtime.LiveCounts, counted document) {
	t.Helper()
	var bytes, dropped int64
	for _, c := range recorded {
		bytes, dropped = bytes+c.Bytes, dropped+c.Dropped
	}
	assert.NotZero(t, bytes)
	assert.NotZero(t, dropped)
	for _, tool := range counted.Tools {
		bytes, dropped = bytes-tool.LiveBytes, dropped-tool.LiveDropped
	}
	assert.Zero(t, bytes)
	assert.Zero(t, dropped)
}

// TestCountsAreThoseOfTheJournal makes calls while a sink takes no event, and compares the counts
// with the entries of the journal.
// SEMANTICS 2.1.4, 2.5.5
func TestCountsAreThoseOfTheJournal(t *testing.T) {
	sink := blocked{make(chan struct{})}
	exec, m, j := open(t, engine.WithSink(sink))
	n := battery.Count(t, 2000, 100_000)
	work(t, exec, n)

	events, calls := map[string]int{}, map[string]int{}
	live := map[string]runtime.LiveCounts{} // the last of each call
	for after := uint64(0); ; {
		entries, err := j.Read(t.Context(), after, 1000)
		require.NoError(t, err)
		if len(entries) == 0 {
			break
		}
		after = entries[len(entries)-1].Seq
		for _, e := range entries {
			if e.Call == "" {
				continue
			}
			r, err := journal.Decode(e.Leaf)
			require.NoError(t, err)
			tool := r.Tool
			if tool != "read" && tool != "write" && tool != "limited" {
				tool = metrics.Unknown
			}
			events[tool+" "+r.Kind]++
			if r.Live != nil {
				live[r.Session+" "+r.Call] = *r.Live
			}
			if r.Mark == journal.MarkEnded {
				var out struct{ Outcome, Reason string }
				require.NoError(t, json.Unmarshal(r.Outcome, &out))
				calls[tool+" "+out.Outcome+" "+out.Reason]++
			}
		}
	}
	gotEvents, gotCalls, ended := map[string]int{}, map[string]int{}, 0
	for _, tool := range read(t, m, exec).Tools {
		for kind, count := range tool.Events {
			gotEvents[tool.Tool+" "+kind] = count
		}
		for _, c := range tool.Calls {
			gotCalls[tool.Tool+" "+c.Outcome+" "+c.Reason] = c.Count
			ended += c.Count
		}
	}
	assert.Equal(t, events, gotEvents)
	assert.Equal(t, calls, gotCalls)
	assert.Equal(t, n, ended)
	sameLive(t, live, read(t, m, exec))
	if n > 2*8192 {
		assert.NotZero(t, exec.Stats().Dropped, "the sink has missed events")
	}
	close(sink.released)
	require.NoError(t, exec.Shutdown(t.Context()))
}

// TestNothingOfACallIsAMetric looks for what the calls hold in both forms.
func TestNothingOfACallIsAMetric(t *testing.T) {
	exec, m, _ := open(t)
	work(t, exec, 400)
	doc, err := m.JSON(exec.Stats())
	require.NoError(t, err)
	assert.NotContains(t, string(doc), secret)
	assert.NotContains(t, text(t, m, exec), secret)
}

// TestUnknownToolsAreOneLabel makes calls of tools with names that a model invents.
func TestUnknownToolsAreOneLabel(t *testing.T) {
	exec, m, _ := open(t)
	n := battery.Count(t, 2000, 100_000)
	var turn *engine.Turn
	series := 0
	for i := range n {
		if i%500 == 0 {
			run, err := exec.Session(engine.SessionConfig{ID: fmt.Sprint("s", i)}).StartRun(t.Context(), engine.RunConfig{})
			require.NoError(t, err)
			turn = run.Turn(engine.TurnConfig{})
		}
		turn.Execute(t.Context(), runtime.Call{Tool: fmt.Sprintf("x\"}\n%d", i), Input: []byte(`{}`)})
		if i == 0 {
			series = strings.Count(text(t, m, exec), "\n")
		}
	}
	page := text(t, m, exec)
	assert.Equal(t, series, strings.Count(page, "\n"))
	assert.Contains(t, page, fmt.Sprintf("ambit_calls_total{outcome=\"denied\",reason=\"unknown_tool\",tool=\"_unknown\"} %d\n", n))
}

// TestTimesAreToldApart sums the parts of calls by hand.
func TestTimesAreToldApart(t *testing.T) {
	reg, err := runtime.NewRegistry(runtime.NewTool(&runtime.Spec{Name: "read", Version: "1.0.0"}, &rule, handle))
	require.NoError(t, err)
	m := metrics.New(reg)
	for range 4 {
		m.Count(runtime.Transition{
			Kind: runtime.EventCompleted, Ended: true, Outcome: runtime.Completed, Attempts: 1, Duration: 10 * time.Second,
			Times: runtime.Times{Policy: time.Second, Consent: 2 * time.Second, Queue: 3 * time.Second, Handler: 4 * time.Second},
		})
	}
	m.Count(runtime.Transition{Kind: runtime.EventDenied, Ended: true, Duration: time.Second})
	m.Count(runtime.Transition{Kind: runtime.EventUndone, Duration: 5 * time.Second})
	seconds := read(t, m, figures{}).Tools[0].Seconds
	for name, want := range map[string]struct{ count, sum float64 }{
		"call": {5, 41}, "policy": {4, 4}, "consent": {4, 8}, "queue": {4, 12}, "handler": {4, 16}, "undo": {1, 5},
	} {
		assert.Equal(t, want.count, seconds[name].Count, name)
		assert.InDelta(t, want.sum, seconds[name].Sum, 1e-9, name)
	}
}
