package interop

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	otelprometheus "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/metrics"
	"github.com/ambit-tools/ambit/runtime/host/otel"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const secret = "hunter2-hunter2"

// A message is the input and the output of the tools.
type message struct{ Text string }

var (
	rule     = wire.ObjectRule{Names: []string{"text"}, Required: 1}
	textRule = wire.StringRule{}
)

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

// A rig is an executor with spans and metrics of both packages.
type rig struct {
	exec    *engine.Executor
	spans   *tracetest.SpanRecorder
	otel    *prometheus.Registry
	metrics *metrics.Metrics
	turn    *engine.Turn
}

func open(t *testing.T) *rig {
	t.Helper()
	r := &rig{spans: tracetest.NewSpanRecorder(), otel: prometheus.NewRegistry()}
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(r.spans))
	tracer := provider.Tracer("application")
	tries := 0
	reg, err := runtime.NewRegistry(
		runtime.NewTool(&runtime.Spec{Name: "read", Version: "1.0.0", Effect: runtime.SideEffectRead, Idempotent: true, Retry: &runtime.Retry{Max: 1, Initial: 1, Cap: 1}}, &rule,
			func(ctx context.Context, in *message) (*message, error) {
				_, inner := tracer.Start(ctx, "inner")
				defer inner.End()
				if tries++; in.Text == "retry" && tries == 1 {
					return nil, runtime.Transient(errors.New(secret))
				}
				if in.Text == "fail" {
					return nil, errors.New(secret)
				}
				return in, nil
			}),
		runtime.NewTool(&runtime.Spec{Name: "send", Version: "1.0.0", Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways}}, &rule,
			func(_ context.Context, in *message) (*message, error) { return in, nil }),
	)
	require.NoError(t, err)
	exporter, err := otelprometheus.New(otelprometheus.WithRegisterer(r.otel))
	require.NoError(t, err)
	counter, err := otel.NewCounter(sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter)), reg)
	require.NoError(t, err)
	r.metrics = metrics.New(reg)
	policy := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow, Revision: "r1"}, nil
	})
	r.exec, err = engine.NewExecutor(reg, policy, engine.WithTracer(otel.NewTracer(provider, reg)), engine.WithCounter(both{counter, r.metrics}), engine.WithPendingRequests())
	require.NoError(t, err)
	run, err := r.exec.Session(engine.SessionConfig{ID: "s1"}).StartRun(t.Context(), engine.RunConfig{ID: "r1", Metadata: map[string]string{"request_id": "web-1"}})
	require.NoError(t, err)
	r.turn = run.Turn(engine.TurnConfig{Budget: time.Hour})
	return r
}

// both counts twice.
type both [2]runtime.Counter

func (b both) Count(t runtime.Transition) {
	b[0].Count(t)
	b[1].Count(t)
}

func (r *rig) call(t *testing.T, id, tool, text string) runtime.Outcome {
	return r.turn.Execute(t.Context(), runtime.Call{ID: id, Tool: tool, Input: fmt.Appendf(nil, `{"text":%q}`, text)})
}

// tree returns the ended spans, each indented below its parent, in the order of their starts.
func (r *rig) tree() string {
	list := r.spans.Ended()
	slices.SortStableFunc(list, func(a, b sdktrace.ReadOnlySpan) int { return a.StartTime().Compare(b.StartTime()) })
	var b strings.Builder
	var print func(parent trace.SpanID, indent string)
	print = func(parent trace.SpanID, indent string) {
		for _, s := range list {
			if s.Parent().SpanID() == parent {
				fmt.Fprintf(&b, "%s%s\n", indent, s.Name())
				print(s.SpanContext().SpanID(), indent+"  ")
			}
		}
	}
	print(trace.SpanID{}, "")
	return b.String()
}

// attributes returns those of the span with a name.
func (r *rig) attributes(t *testing.T, name string) map[string]string {
	t.Helper()
	for _, s := range r.spans.Ended() {
		if s.Name() == name {
			all := map[string]string{}
			for _, a := range s.Attributes() {
				all[string(a.Key)] = a.Value.Emit()
			}
			return all
		}
	}
	t.Fatalf("there is no span %q", name)
	return nil
}

// TestSpansOfACall: a call with a retry, in a batch.
func TestSpansOfACall(t *testing.T) {
	r := open(t)
	out := r.turn.ExecuteBatch(t.Context(), []runtime.Call{{ID: "c1", Tool: "read", Input: []byte(`{"text":"retry"}`)}}, engine.Parallel)
	require.Equal(t, runtime.Completed, out[0].Kind, out[0].Message)
	assert.Equal(t, "execute_tool read\n  ambit.policy\n  ambit.handler\n    inner\n  ambit.handler\n    inner\n", r.tree())
	assert.Equal(t, map[string]string{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "read", "gen_ai.tool.type": "function", "gen_ai.tool.call.id": "c1",
		"ambit.session.id": "s1", "ambit.run.id": "r1", "ambit.turn": "1", "ambit.request_id": "web-1", "ambit.outcome": "completed", "ambit.policy.revision": "r1",
	}, r.attributes(t, "execute_tool read"))
}

// TestSpanOfConsent: the wait for consent is a child, and the second evaluation follows it.
func TestSpanOfConsent(t *testing.T) {
	r := open(t)
	require.Equal(t, runtime.Pending, r.call(t, "c1", "send", "x").Kind)
	assert.Empty(t, r.tree(), "the span of the call goes on")
	requests := r.exec.Requests()
	require.Len(t, requests, 1)
	res := r.exec.Decide(t.Context(), requests[0].ID, action.Answer{By: runtime.ProgramActor("alice"), Approve: true})
	require.NotNil(t, res.Outcome)
	require.Equal(t, runtime.Completed, res.Outcome.Kind, res.Outcome.Message)
	assert.Equal(t, "execute_tool send\n  ambit.policy\n  ambit.consent\n  ambit.policy\n  ambit.handler\n", r.tree())
	assert.Equal(t, requests[0].ID, r.attributes(t, "execute_tool send")["ambit.consent.request.id"])
}

// TestNothingSecretIsInASpan: failures, refusals and names that a model invents.
func TestNothingSecretIsInASpan(t *testing.T) {
	r := open(t)
	r.call(t, "c1", "read", "fail")
	r.call(t, "c2", "read", secret)
	r.call(t, "c3", secret, "")
	assert.Equal(t, "handler_error", r.attributes(t, "execute_tool read")["error.type"])
	assert.Equal(t, "unknown_tool", r.attributes(t, "execute_tool _unknown")["error.type"])
	for _, s := range r.spans.Ended() {
		assert.NotContains(t, fmt.Sprint(s.Name(), s.Attributes(), s.Events(), s.Status()), secret)
	}
	assert.NotContains(t, served(t, r.otel), secret)
}

// served returns what the exporter of OpenTelemetry serves.
func served(t *testing.T, reg *prometheus.Registry) string {
	t.Helper()
	w := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, w.Code, w.Body.String())
	return w.Body.String()
}

// TestPageOfMetrics: the parser of Prometheus reads the page, and the counts are those that
// OpenTelemetry has counted.
func TestPageOfMetrics(t *testing.T) {
	r := open(t)
	for i := range 20 {
		r.call(t, fmt.Sprint("c", i), []string{"read", "read", "send", "no_such"}[i%4], []string{"x", "fail"}[i%2])
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	own := prometheus.NewRegistry()
	require.NoError(t, own.Register(r.metrics.Collector(r.exec)))
	families, err := parser.TextToMetricFamilies(strings.NewReader(served(t, own)))
	require.NoError(t, err)
	theirs, err := parser.TextToMetricFamilies(strings.NewReader(served(t, r.otel)))
	require.NoError(t, err)
	for ours, other := range map[string]string{"ambit_call_duration_seconds": "gen_ai_execute_tool_duration_seconds", "ambit_handler_duration_seconds": "ambit_handler_duration_seconds"} {
		want, got := counts(families[ours], "tool"), counts(theirs[other], "gen_ai_tool_name")
		assert.NotEmpty(t, want, ours)
		assert.Equal(t, want, got, ours)
	}
	assert.Equal(t, dto.MetricType_HISTOGRAM, families["ambit_call_duration_seconds"].GetType())
	assert.Len(t, families["ambit_call_duration_seconds"].GetMetric()[0].GetHistogram().GetBucket(), 15)
	assert.Equal(t, 5.0, families["ambit_calls_waiting"].GetMetric()[0].GetGauge().GetValue())
}

// counts returns how many durations a family has by tool.
func counts(f *dto.MetricFamily, label string) map[string]uint64 {
	by := map[string]uint64{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			if l.GetName() == label {
				by[l.GetValue()] += m.GetHistogram().GetSampleCount()
			}
		}
	}
	return by
}
