package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// scope is the instrumentation scope.
const scope = "github.com/ambit-tools/ambit/runtime/host/otel"

// A Tracer makes the spans of one executor. It is a runtime.Tracer.
type Tracer struct {
	tracer trace.Tracer
	known  map[string]struct{} // names of the tools
}

// NewTracer returns a tracer whose spans go to a provider. reg is that of the executor.
func NewTracer(to trace.TracerProvider, reg *runtime.Registry) *Tracer {
	t := &Tracer{tracer: to.Tracer(scope), known: map[string]struct{}{}}
	for _, name := range reg.Names() {
		t.known[name] = struct{}{}
	}
	return t
}

// Start implements runtime.Tracer.
func (t *Tracer) Start(ctx context.Context, call runtime.CallInfo) (context.Context, runtime.Span) {
	name := call.Tool
	if _, known := t.known[name]; !known {
		name = unknownTool
	}
	attributes := []attribute.KeyValue{
		attribute.String(keyOperation, operation), attribute.String(keyTool, name), attribute.String(keyToolType, function),
		attribute.String(keyCall, call.ID), attribute.String(keySession, call.Session), attribute.String(keyRun, call.Run),
	}
	if call.Turn > 0 {
		attributes = append(attributes, attribute.Int(keyTurn, call.Turn))
	}
	if call.ClientRequest != "" {
		attributes = append(attributes, attribute.String(keyClient, call.ClientRequest))
	}
	if call.Agent != "" {
		attributes = append(attributes, attribute.String(keyAgent, call.Agent))
	}
	ctx, own := t.tracer.Start(ctx, operation+" "+name, trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(attributes...))
	return ctx, &span{tracer: t.tracer, ctx: ctx, own: own}
}

// A span is that of one call.
type span struct {
	tracer trace.Tracer
	ctx    context.Context // of the call
	own    trace.Span
}

// Policy implements runtime.Span.
func (s *span) Policy(ctx context.Context) (context.Context, func()) {
	ctx, part := s.tracer.Start(ctx, spanPolicy)
	return ctx, func() { part.End() }
}

// Attempt implements runtime.Span.
func (s *span) Attempt(ctx context.Context, number int) (context.Context, func()) {
	ctx, part := s.tracer.Start(ctx, spanAttempt, trace.WithAttributes(attribute.Int(keyAttempt, number)))
	return process.WithTrace(ctx, traceOf(part)), func() { part.End() }
}

// traceOf returns what sets the attributes of the process that an attempt runs.
func traceOf(part trace.Span) *process.Trace {
	return &process.Trace{
		Started: func(r runtime.RunningProcess) {
			part.SetAttributes(attribute.Int(keyPID, r.ID.PID), attribute.String(keyCreated, r.Since.UTC().Format(time.RFC3339Nano)))
			if !r.Due.IsZero() {
				part.SetAttributes(attribute.String(keyDue, r.Due.UTC().Format(time.RFC3339Nano)))
			}
		},
		Ended: func(e *process.Summary) {
			u := &e.Usage
			part.SetAttributes(
				attribute.Int(keyExit, e.Code), attribute.Float64(keyUser, u.User.Seconds()), attribute.Float64(keySystem, u.System.Seconds()),
				attribute.Int64(keyMemory, u.PeakMemory), attribute.Int64(keyRead, u.ReadBytes), attribute.Int64(keyWritten, u.WriteBytes),
			)
			if e.Signal != "" {
				part.SetAttributes(attribute.String(keySignal, e.Signal))
			}
		},
	}
}

// Consent implements runtime.Span.
func (s *span) Consent() func() {
	_, part := s.tracer.Start(s.ctx, spanConsent)
	return func() { part.End() }
}

// End implements runtime.Span.
func (s *span) End(out *runtime.Outcome) {
	s.own.SetAttributes(attribute.String(keyOutcome, out.Kind.String()))
	if out.Revision != "" {
		s.own.SetAttributes(attribute.String(keyRevision, out.Revision))
	}
	if out.RequestID != "" {
		s.own.SetAttributes(attribute.String(keyRequest, out.RequestID))
	}
	if out.RolledBack {
		s.own.SetAttributes(attribute.Bool(keyRolledBack, true))
	}
	if out.Kind != runtime.Completed && out.Kind != runtime.Duplicate {
		s.own.SetAttributes(attribute.String(keyError, out.Reason.String()))
		s.own.SetStatus(codes.Error, out.Kind.String())
	}
	s.own.End()
}
