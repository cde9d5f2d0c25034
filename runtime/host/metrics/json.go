package metrics

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ambit-tools/ambit/runtime"
)

// A Source is an executor, as far as metrics are concerned.
type Source interface{ Stats() runtime.Stats }

// Handler serves the metrics of an executor: as JSON to a request that accepts application/json, and to
// all other requests in the format of Prometheus that they accept, by default text. It has no authentication.
func (m *Metrics) Handler(of Source) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.Collector(of))
	page := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "metrics are read with GET", http.StatusMethodNotAllowed)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Vary", "Accept, Accept-Encoding")
		if !strings.Contains(r.Header.Get("Accept"), "application/json") {
			page.ServeHTTP(w, r)
			return
		}
		text, err := m.JSON(of.Stats())
		if err != nil {
			http.Error(w, "the metrics cannot be encoded", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
}

// documentJSON is the JSON form of metrics.
type documentJSON struct {
	Executor map[string]uint64 `json:"executor"`
	Tools    []toolJSON        `json:"tools"`
}

type toolJSON struct {
	Tool          string                `json:"tool"`
	Deprecated    bool                  `json:"deprecated,omitempty"`
	Calls         []callsJSON           `json:"calls,omitempty"`
	Events        map[string]uint64     `json:"events,omitempty"`
	Answers       map[string]uint64     `json:"answers,omitempty"`
	InputBytes    uint64                `json:"input_bytes,omitempty"`
	OutputBytes   uint64                `json:"output_bytes,omitempty"`
	ArtifactBytes uint64                `json:"artifact_bytes,omitempty"`
	LiveBytes     uint64                `json:"live_bytes,omitempty"`
	LiveDropped   uint64                `json:"live_dropped_bytes,omitempty"`
	Seconds       map[string]periodJSON `json:"seconds,omitempty"`
	Processes     *usageJSON            `json:"processes,omitempty"`
}

// usageJSON says what processes of commands have used; Memory and Tasks, what those that run use.
type usageJSON struct {
	User       float64 `json:"cpu_user_seconds"`
	System     float64 `json:"cpu_system_seconds"`
	PeakMemory int64   `json:"peak_memory_bytes"`
	Memory     int64   `json:"memory_bytes"`
	Tasks      int     `json:"tasks"`
	Read       int64   `json:"read_bytes"`
	Written    int64   `json:"written_bytes"`
}

type callsJSON struct {
	Outcome string `json:"outcome"`
	Reason  string `json:"reason,omitempty"`
	Count   uint64 `json:"count"`
}

// periodJSON says how long something took, in seconds.
type periodJSON struct {
	Count uint64  `json:"count"`
	Sum   float64 `json:"sum"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
}

// JSON returns all metrics as a JSON object. Tools that have counted nothing are left out.
func (m *Metrics) JSON(stats runtime.Stats) ([]byte, error) {
	doc := documentJSON{Executor: map[string]uint64{}, Tools: []toolJSON{}}
	for _, g := range gauges {
		doc.Executor[g.json] = g.of(&stats)
	}
	for i := range m.tools {
		if t, counted := m.tools[i].document(m.names[i]); counted {
			t.Deprecated = slices.Contains(m.old, i)
			if u, used := stats.Usage[t.Tool]; used {
				t.Processes = &usageJSON{u.User.Seconds(), u.System.Seconds(), u.PeakMemory, u.Memory, u.Processes, u.ReadBytes, u.WriteBytes}
			}
			doc.Tools = append(doc.Tools, t)
		}
	}
	return json.Marshal(doc)
}

// document returns the counts of a tool, and whether there are any.
func (of *tool) document(name string) (t toolJSON, counted bool) {
	t = toolJSON{Tool: name, InputBytes: of.input.Load(), OutputBytes: of.output.Load(), ArtifactBytes: of.artifact.Load(), LiveBytes: of.live.Load(), LiveDropped: of.dropped.Load()}
	for kind := range of.events {
		add(&t.Events, kindNames[kind], of.events[kind].Load())
	}
	for a := range of.answers {
		add(&t.Answers, answerNames[a], of.answers[a].Load())
	}
	for outcome := range of.calls {
		counts := of.calls[outcome].Load()
		if counts == nil {
			continue
		}
		for reason := range counts {
			if n := counts[reason].Load(); n > 0 {
				t.Calls = append(t.Calls, callsJSON{outcomeNames[outcome], reasonNames[reason], n})
			}
		}
	}
	var s summary
	for i := range of.times {
		h := of.times[i].Load()
		if h == nil {
			continue
		}
		if h.summarize(&s); s.count == 0 {
			continue
		}
		if t.Seconds == nil {
			t.Seconds = map[string]periodJSON{}
		}
		sum := s.sum.Seconds()
		t.Seconds[periods[i].json] = periodJSON{s.count, sum, sum / float64(s.count), s.quantile(0.5, scales[i]), s.quantile(0.95, scales[i]), s.quantile(0.99, scales[i])}
	}
	return t, t.Events != nil
}

// add sets a member, unless it is zero.
func add(to *map[string]uint64, name string, n uint64) {
	if n == 0 {
		return
	}
	if *to == nil {
		*to = map[string]uint64{}
	}
	(*to)[name] = n
}
