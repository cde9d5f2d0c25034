package tally

import (
	"context"
	"sync"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

// Start begins the span of a call. A tracer that panics, or returns no context, has no effect.
func (t *Tally) Start(ctx context.Context, call runtime.CallInfo) (context.Context, *Span) {
	s := &Span{tally: t}
	inner := t.guarded(ctx, func() (in context.Context) {
		in, s.inner = t.Tracer.Start(ctx, call)
		return in
	})
	if s.inner == nil {
		s.inner = none{}
	}
	return inner, s
}

// guarded calls code of the tracer and returns its context, ctx when there is none.
func (t *Tally) guarded(ctx context.Context, f func() context.Context) (in context.Context) {
	defer func() {
		if v := recover(); v != nil {
			t.Report(usercode.Panic(v))
		}
		if in == nil {
			in = ctx
		}
	}()
	return f()
}

// A Span guards the span of a tracer, and ends the wait for consent with the next part. Its methods are
// those of runtime.Span. The nil Span has no effect.
type Span struct {
	tally *Tally
	inner runtime.Span

	mu     sync.Mutex
	waited func() // ends the wait for consent; nil: the call does not wait
	ended  bool
}

// Policy begins an evaluation.
func (s *Span) Policy(ctx context.Context) (context.Context, func()) {
	if s == nil {
		return ctx, nothing
	}
	return s.part(ctx, s.inner.Policy)
}

// Attempt begins an attempt of the handler.
func (s *Span) Attempt(ctx context.Context, number int) (context.Context, func()) {
	if s == nil {
		return ctx, nothing
	}
	return s.part(ctx, func(ctx context.Context) (context.Context, func()) { return s.inner.Attempt(ctx, number) })
}

// part begins a part, once the wait for consent has ended.
func (s *Span) part(ctx context.Context, begin func(context.Context) (context.Context, func())) (context.Context, func()) {
	s.endWait()
	var end func()
	in := s.tally.guarded(ctx, func() (in context.Context) {
		in, end = begin(ctx)
		return in
	})
	return in, func() { s.call(end) }
}

// Consent begins the wait for consent. The next part ends it, and so does End.
func (s *Span) Consent() {
	if s == nil {
		return
	}
	s.call(func() {
		end := s.inner.Consent()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waited = end
	})
}

func nothing() {}

func (s *Span) endWait() {
	s.mu.Lock()
	end := s.waited
	s.waited = nil
	s.mu.Unlock()
	s.call(end)
}

// call calls a function of the tracer, which may be nil.
func (s *Span) call(f func()) {
	if f != nil {
		s.tally.guarded(context.Background(), func() context.Context { f(); return nil })
	}
}

// End ends the span, once.
func (s *Span) End(outcome *runtime.Outcome) {
	if s == nil {
		return
	}
	s.endWait()
	s.mu.Lock()
	first := !s.ended
	s.ended = true
	s.mu.Unlock()
	if first {
		s.call(func() { s.inner.End(outcome) })
	}
}

// none is the span of a tracer that has returned none.
type none struct{}

func (none) Policy(ctx context.Context) (context.Context, func())         { return ctx, nil }
func (none) Attempt(ctx context.Context, _ int) (context.Context, func()) { return ctx, nil }
func (none) Consent() func()                                              { return nil }
func (none) End(*runtime.Outcome)                                         {}
