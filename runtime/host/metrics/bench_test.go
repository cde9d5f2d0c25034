package metrics_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	goruntime "runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/metrics"
)

// BenchmarkPage renders the metrics of 1,000 tools, each with calls of several outcomes.
func BenchmarkPage(b *testing.B) {
	const n = 1000
	tools := make([]*runtime.Tool, n)
	for i := range tools {
		tools[i] = runtime.NewTool(&runtime.Spec{Name: fmt.Sprint("tool_", i), Version: "1.0.0"}, &rule, handle)
	}
	reg, err := runtime.NewRegistry(tools...)
	if err != nil {
		b.Fatal(err)
	}
	m := metrics.New(reg)
	for i := range n {
		for kind := range runtime.EventSinkDropped {
			m.Count(runtime.Transition{Kind: kind, Tool: i})
		}
		for outcome := range runtime.Unknown {
			for j := range 20 {
				took := time.Millisecond << j
				m.Count(runtime.Transition{
					Kind: runtime.EventCompleted, Tool: i, Ended: true, Outcome: outcome, Reason: runtime.Reason(outcome), Attempts: 1,
					Duration: took, Times: runtime.Times{Policy: took, Consent: took, Queue: took, Handler: took}, Output: 100,
				})
			}
		}
	}
	for _, form := range []struct {
		name string
		of   func() int
	}{
		{"text", func() int { return served(m) }},
		{"json", func() int { text, _ := m.JSON(runtime.Stats{}); return len(text) }},
	} {
		b.Run(form.name, func(b *testing.B) {
			for b.Loop() {
				b.ReportMetric(float64(form.of()), "bytes")
			}
		})
	}
}

// served returns the size of the text that the handler serves.
func served(m *metrics.Metrics) int {
	w := httptest.NewRecorder()
	m.Handler(figures{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.Len()
}

// BenchmarkCount counts one transition.
func BenchmarkCount(b *testing.B) {
	reg, err := runtime.NewRegistry(runtime.NewTool(&runtime.Spec{Name: "read", Version: "1.0.0"}, &rule, handle))
	if err != nil {
		b.Fatal(err)
	}
	m := metrics.New(reg)
	b.ReportAllocs()
	for b.Loop() {
		m.Count(runtime.Transition{Kind: runtime.EventCompleted, Ended: true, Outcome: runtime.Completed, Attempts: 1, Duration: 1234, Times: runtime.Times{Policy: 100, Handler: 1000}})
	}
}

// BenchmarkCall measures calls in memory with metrics and without in turn, many times, so that the
// load of the machine affects both, and reports the median of the ratios.
func BenchmarkCall(b *testing.B) {
	keep := make([]byte, 32<<20) // with an almost empty heap the collector runs after every thousand calls
	defer goruntime.KeepAlive(keep)
	reg, err := runtime.NewRegistry(runtime.NewTool(&runtime.Spec{Name: "read", Version: "1.0.0", Effect: runtime.SideEffectRead}, &rule, handle))
	if err != nil {
		b.Fatal(err)
	}
	const round = 500
	caller := func(opts ...engine.Option) func() float64 {
		allow := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
			return runtime.Decision{Effect: runtime.EffectAllow}, nil
		}
		exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allow), opts...)
		if err != nil {
			b.Fatal(err)
		}
		return func() float64 {
			run, err := exec.Session(engine.SessionConfig{ID: "s"}).StartRun(b.Context(), engine.RunConfig{})
			if err != nil {
				b.Fatal(err)
			}
			turn := run.Turn(engine.TurnConfig{Budget: time.Hour})
			start := time.Now()
			for i := range round {
				out := turn.Execute(b.Context(), runtime.Call{ID: strconv.Itoa(i), Tool: "read", Input: []byte(`{"text":"docs/guide/getting-started.md"}`)})
				if out.Kind != runtime.Completed {
					b.Fatal(out)
				}
			}
			took := float64(time.Since(start)) / round
			run.Close(b.Context())
			return took
		}
	}
	plain, counted := caller(), caller(engine.WithCounter(metrics.New(reg)))
	var ratios, alone []float64
	for b.Loop() {
		p, c := plain(), counted()
		ratios, alone = append(ratios, c/p), append(alone, p)
	}
	slices.Sort(ratios)
	slices.Sort(alone)
	b.ReportMetric(ratios[len(ratios)/2], "ratio")
	b.ReportMetric(alone[len(alone)/2], "ns/call")
}
