package tally_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/tally"
)

// TestWatch: a call is in one part at a time, and a clock that goes back takes nothing away.
func TestWatch(t *testing.T) {
	var w tally.Watch
	now := time.Unix(100, 0)
	enter := func(p tally.Part, after time.Duration) {
		now = now.Add(after)
		w.Enter(p, now)
	}
	enter(tally.Policy, time.Second)
	enter(tally.Other, 2*time.Second)
	enter(tally.Policy, 4*time.Second)
	enter(tally.Consent, 8*time.Second)
	enter(tally.Queue, 16*time.Second)
	enter(tally.Queue, 32*time.Second)
	enter(tally.Handler, 64*time.Second)
	enter(tally.Handler, -time.Hour)
	enter(tally.Other, 128*time.Second)
	enter(tally.Other, 256*time.Second)
	assert.Equal(t, runtime.Times{Policy: 10 * time.Second, Consent: 16 * time.Second, Queue: 96 * time.Second, Handler: 128 * time.Second}, w.Times())
}

// A log is a tracer and its only span.
type log struct{ lines []string }

func (l *log) add(line string) func() {
	l.lines = append(l.lines, line)
	return func() { l.lines = append(l.lines, "end "+line) }
}

func (l *log) Start(ctx context.Context, _ runtime.CallInfo) (context.Context, runtime.Span) {
	return ctx, l
}
func (l *log) Policy(ctx context.Context) (context.Context, func()) { return ctx, l.add("policy") }
func (l *log) Attempt(ctx context.Context, _ int) (context.Context, func()) {
	return ctx, l.add("attempt")
}
func (l *log) Consent() func()      { return l.add("consent") }
func (l *log) End(*runtime.Outcome) { l.add("outcome") }

// TestSpan: the wait for consent ends with the next part or with the call, which ends once.
func TestSpan(t *testing.T) {
	l := &log{}
	counts := tally.Tally{Tracer: l, Report: func(err error) { t.Error(err) }}
	ctx, s := counts.Start(t.Context(), runtime.CallInfo{})
	s.Consent()
	_, end := s.Policy(ctx)
	end()
	s.Consent()
	s.End(&runtime.Outcome{})
	s.End(&runtime.Outcome{})
	assert.Equal(t, []string{"consent", "end consent", "policy", "end policy", "consent", "end consent", "outcome"}, l.lines)
}

// TestNoTracer: the nil span changes nothing, and allocates nothing.
func TestNoTracer(t *testing.T) {
	var s *tally.Span
	ctx := t.Context()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		in, end := s.Policy(ctx)
		end()
		again, end := s.Attempt(ctx, 1)
		end()
		s.Consent()
		s.End(nil)
		if in != ctx || again != ctx {
			t.Error("another context")
		}
	}))
}

// adder counts transitions.
type adder struct{ n int }

func (a *adder) Count(runtime.Transition) { a.n++ }

// TestCountAllocatesNothing, and late results are counted without a counter too.
func TestCountAllocatesNothing(t *testing.T) {
	a := &adder{}
	var with, without tally.Tally
	with.Add(a)
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		if with.Notice(runtime.EventStarted) {
			with.Count(runtime.Transition{Kind: runtime.EventStarted, Duration: time.Second})
		}
	}))
	require.Equal(t, 101, a.n)
	assert.False(t, without.Notice(runtime.EventLateResult))
	assert.EqualValues(t, 1, without.LateResults())
}

// broken is a counter that panics.
type broken struct{ calls int }

func (b *broken) Count(runtime.Transition) { b.calls++; panic("no counter") }

// TestCountersCountBesideEachOther: each is told of every transition, also when another one has panicked,
// which is reported once and called no more.
func TestCountersCountBesideEachOther(t *testing.T) {
	var faults []error
	one, two, bad := &adder{}, &adder{}, &broken{}
	c := tally.Tally{Report: func(err error) { faults = append(faults, err) }}
	for _, k := range []runtime.Counter{one, bad, two, nil} {
		c.Add(k)
	}
	for range 3 {
		c.Count(runtime.Transition{Kind: runtime.EventStarted})
	}
	assert.Equal(t, []int{3, 1, 3}, []int{one.n, bad.calls, two.n})
	require.Len(t, faults, 1)
	assert.ErrorContains(t, faults[0], "no counter")
}
