package metrics_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host/metrics"
)

// everything returns metrics in which every family has series, and a source whose figures differ.
func everything(t *testing.T) (*metrics.Metrics, metrics.Source) {
	t.Helper()
	reg, err := runtime.NewRegistry(
		runtime.NewTool(&runtime.Spec{Name: "fetch", Version: "1.0.0"}, &rule, handle),
		runtime.NewTool(&runtime.Spec{Name: "read", Version: "1.2.0", Deprecated: &runtime.Deprecation{Since: "1.1.0", Use: "fetch"}}, &rule, handle),
		runtime.NewTool(&runtime.Spec{Name: "unused", Version: "1.0.0"}, &rule, handle),
	)
	require.NoError(t, err)
	m := metrics.New(reg)
	for tool := range 3 {
		tool -= 1 // the first: of no tool of the registry
		for i, kind := range []runtime.EventKind{runtime.EventInvoked, runtime.EventOutput, runtime.EventRetrying, runtime.EventUndone, runtime.EventUndoFailed, runtime.EventSinkDropped} {
			m.Count(runtime.Transition{Kind: kind, Tool: tool, Input: 7, Output: 30, Dropped: 4, Duration: time.Duration(i+1) * 37 * time.Millisecond})
		}
		for i, reason := range []runtime.Reason{
			runtime.ReasonNone, runtime.ReasonUnknownTool, runtime.ReasonDeadline, runtime.ReasonMaxCalls, runtime.ReasonCooldown, runtime.ReasonAtCapacity,
			runtime.ReasonTooManyPending, runtime.ReasonHandlerError, runtime.ReasonOutputTooLarge, runtime.ReasonRunClosed,
		} {
			took := time.Microsecond << (3 * i)
			m.Count(runtime.Transition{
				Kind: runtime.EventCompleted, Tool: tool, Ended: true, Outcome: runtime.OutcomeKind(i) % (runtime.Unknown + 1), Reason: reason, Attempts: tool,
				Duration: took, Output: 100, Artifact: 9,
				Times: runtime.Times{Policy: took / 2, Consent: took * 64, Queue: took / 3, Handler: took / 5},
			})
		}
		for _, resolution := range []runtime.Resolution{runtime.ResolutionRecorded, runtime.ResolutionRejected} {
			for _, approved := range []bool{false, true} {
				m.Count(runtime.Transition{Kind: runtime.EventApprovalDecided, Tool: tool, Resolution: resolution, Approved: approved})
			}
		}
	}
	return m, figures{
		InFlight: 11, Running: 12, Queued: 13, Waiting: 14, Lingering: 15, Abandoned: 16, LateResults: 17, AtCapacity: 1 << 40, Dropped: 19,
		Processes: make([]runtime.RunningProcess, 2), Journal: errors.New(secret),
		Usage: map[string]runtime.ProcessUsage{
			"read":   {User: 1500 * time.Millisecond, System: 250 * time.Millisecond, PeakMemory: 3 << 30, Memory: 1 << 20, Processes: 3, ReadBytes: 512, WriteBytes: 1024},
			"unused": {User: time.Nanosecond}, "gone": {User: time.Hour},
		},
	}
}

// figures are those of an executor at one moment.
type figures runtime.Stats

func (f figures) Stats() runtime.Stats { return runtime.Stats(f) }

// TestPageIsThatOfOwnWriter compares the page with a page of version 0.1.0, which wrote the text itself: the same families with the
// same kinds and help, the same labels, buckets and values. The JSON form is the same text.
func TestPageIsThatOfOwnWriter(t *testing.T) {
	m, of := everything(t)
	recorded, err := os.ReadFile("testdata/page.txt")
	require.NoError(t, err)
	want, got := parsed(t, string(recorded)), parsed(t, text(t, m, of))
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name, family := range want {
		assert.Equal(t, family.String(), got[name].String())
	}
	doc, err := m.JSON(of.Stats())
	require.NoError(t, err)
	recorded, err = os.ReadFile("testdata/page.json")
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSuffix(string(recorded), "\n"), string(doc))
}

// TestCollectorBesideOthers: an application serves the metrics of Ambit in a registry of its own, and
// none of them is wrong by the rules for names.
func TestCollectorBesideOthers(t *testing.T) {
	m, of := everything(t)
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(m.Collector(of)))
	own := prometheus.NewGauge(prometheus.GaugeOpts{Name: "own", Help: "Of the application."})
	require.NoError(t, registry.Register(own))
	families, err := registry.Gather()
	require.NoError(t, err)
	assert.Len(t, families, len(parsed(t, text(t, m, of)))+1)
}

// text returns the page that the handler serves.
func text(t testing.TB, m *metrics.Metrics, of metrics.Source) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler(of).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.Regexp(t, `^text/plain; version=0\.0\.4; charset=utf-8`, w.Header().Get("Content-Type"))
	return w.Body.String()
}

// parsed returns the families of a page, in an order that depends on names and labels only.
func parsed(t testing.TB, page string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(page))
	require.NoError(t, err)
	for name, family := range families {
		if len(family.GetMetric()) == 0 {
			delete(families, name) // a heading without series
		}
		key := func(m *dto.Metric) string { return fmt.Sprint(m.GetLabel()) }
		for _, one := range family.GetMetric() {
			slices.SortFunc(one.Label, func(a, b *dto.LabelPair) int { return strings.Compare(a.GetName(), b.GetName()) })
		}
		slices.SortFunc(family.Metric, func(a, b *dto.Metric) int { return strings.Compare(key(a), key(b)) })
	}
	return families
}
