// Package otel makes OpenTelemetry spans and metrics of what an executor does. It links the API of
// OpenTelemetry and no SDK; what receives them is up to the program.
//
//	tracer := otel.NewTracer(otelapi.GetTracerProvider(), registry)
//	counter, err := otel.NewCounter(otelapi.GetMeterProvider(), registry)
//	...
//	exec, err := engine.NewExecutor(registry, policy, engine.WithTracer(tracer), engine.WithCounter(counter))
//
// The span of a call is "execute_tool" with the name of the tool. It has child spans for evaluations of
// the policy, the wait for consent, and attempts of the handler; a handler finds the span of its attempt in
// its context. Arguments, outputs, messages and texts of errors are in no span: error.type is the reason
// of the outcome. The name of a tool that does not exist is _unknown, because models invent names.
//
// A wait for consent can take days. Its span is exported when it ends; a restart of the program loses
// it, and the call goes on with a span of its own.
package otel
