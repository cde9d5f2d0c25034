package otel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/ambit-tools/ambit/runtime"
)

// boundaries are the buckets that the semantic conventions advise for durations, in seconds.
var boundaries = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}

// A Counter records the metrics of one executor. It is a runtime.Counter: the executor calls it in
// every transition, so the provider must record without waiting, as the SDK of OpenTelemetry does. A
// program that needs no OpenTelemetry for its metrics counts faster with package metrics.
type Counter struct {
	tools    []attribute.KeyValue // by position in the registry
	events   metric.Int64Counter
	duration metric.Float64Histogram
	handler  metric.Float64Histogram
	policy   metric.Float64Histogram
	queue    metric.Float64Histogram
	consent  metric.Float64Histogram
}

// NewCounter returns a counter that records with a provider. reg is that of the executor.
func NewCounter(to metric.MeterProvider, reg *runtime.Registry) (*Counter, error) {
	c := &Counter{}
	for _, name := range append(reg.Names(), unknownTool) {
		c.tools = append(c.tools, attribute.String(keyTool, name))
	}
	meter := to.Meter(scope)
	var errs []error
	for _, h := range []struct {
		to         *metric.Float64Histogram
		name, text string
	}{
		{&c.duration, metricDuration, "Time from a call to its outcome."},
		{&c.handler, metricHandler, "Time in the handlers of a call, of all attempts."},
		{&c.policy, metricPolicy, "Time in the policy of calls that it evaluated."},
		{&c.queue, metricQueue, "Time that calls waited for a slot of their tool."},
		{&c.consent, metricConsent, "Time that calls waited for consent."},
	} {
		var err error
		*h.to, err = meter.Float64Histogram(h.name, metric.WithUnit("s"), metric.WithDescription(h.text), metric.WithExplicitBucketBoundaries(boundaries...))
		errs = append(errs, err)
	}
	var err error
	c.events, err = meter.Int64Counter(metricEvents, metric.WithDescription("Transitions of calls, by the kind of their event."))
	return c, errors.Join(append(errs, err)...)
}

// Count implements runtime.Counter.
func (c *Counter) Count(t runtime.Transition) {
	tool := c.tools[len(c.tools)-1]
	if t.Tool >= 0 && t.Tool < len(c.tools)-1 {
		tool = c.tools[t.Tool]
	}
	ctx := context.Background()
	c.events.Add(ctx, 1, metric.WithAttributes(tool, attribute.String(keyEvent, t.Kind.String())))
	if !t.Ended {
		return
	}
	ended := []attribute.KeyValue{tool, attribute.String(keyOperation, operation), attribute.String(keyOutcome, t.Outcome.String())}
	if t.Outcome != runtime.Completed && t.Outcome != runtime.Duplicate {
		ended = append(ended, attribute.String(keyError, t.Reason.String()))
	}
	c.duration.Record(ctx, t.Duration.Seconds(), metric.WithAttributes(ended...))
	if t.Attempts > 0 {
		c.handler.Record(ctx, t.Times.Handler.Seconds(), metric.WithAttributes(tool))
	}
	for _, part := range [...]struct {
		to   metric.Float64Histogram
		took time.Duration
	}{{c.policy, t.Times.Policy}, {c.queue, t.Times.Queue}, {c.consent, t.Times.Consent}} {
		if part.took > 0 {
			part.to.Record(ctx, part.took.Seconds(), metric.WithAttributes(tool))
		}
	}
}
