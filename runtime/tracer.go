package runtime

import "context"

// A Tracer makes a span of every call (engine.WithTracer), however it was made: also in a batch, by
// StartCall, and by recovery. Its methods, and those of its spans, may be called from several
// goroutines at a time and delay the call. The executor recovers their panics.
type Tracer interface {
	// Start begins the span of a call. The context that it returns, which must be derived from ctx,
	// is the parent of those of the policy, the preview and the handler.
	Start(ctx context.Context, call CallInfo) (context.Context, Span)
}

// A Span is the span of one call. The parts of a call follow one another. A part whose code still
// runs when the call has its outcome ends after the span.
type Span interface {
	// Policy begins an evaluation of the policy. The function that it returns ends the part.
	Policy(ctx context.Context) (context.Context, func())
	// Attempt begins an attempt of the handler, the first one with number 1.
	Attempt(ctx context.Context, number int) (context.Context, func())
	// Consent begins the wait for consent. The call may be approved days later.
	Consent() (end func())
	// End ends the span. It is called once, when the outcome of the call is durable; the outcome
	// must not be changed. After the outcome pending, a call goes on, and so does its span.
	End(outcome *Outcome)
}
