package opa

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
)

// Equal answers on the two ways of BenchmarkDecide.
func TestBenchmarkedWaysAgree(t *testing.T) {
	w := newWorld(t, 100)
	w.calls(t, 10)
	for _, side := range sides {
		in := w.input(42, side.path)
		lean, err := w.evalLean(t, in)
		require.NoError(t, err)
		assert.Equal(t, w.eval(t, naive(w, in)), lean, side.name)
	}
}

// A scale is two worlds that must cost the same.
type scale struct {
	name         string
	small, large func(testing.TB) *world
}

func scales(most int) []scale {
	world := func(tools, calls int) func(testing.TB) *world {
		return func(tb testing.TB) *world {
			w := newWorld(tb, tools)
			w.calls(tb, calls)
			return w
		}
	}
	return []scale{
		{fmt.Sprintf("tools/10-%d", most), world(10, 10), world(most, 10)},
		{fmt.Sprintf("calls/10-%d", most), world(100, 10), world(100, most)},
	}
}

// A hundred times the tools, a hundred times the calls: at most 1.3 times the
// time (median of ten interleaved runs).
func BenchmarkScale(b *testing.B) {
	for _, s := range scales(1000) {
		b.Run(s.name, func(b *testing.B) {
			small, large := s.small(b), s.large(b)
			a, c := small.input(7, "/ws/a"), large.input(7, "/ws/a")
			for b.Loop() {
				fewer, more := interleaved(func() { small.lean(b, a) }, func() { large.lean(b, c) })
				report(b, fewer, more)
			}
		})
	}
}

// interleaved returns the medians of ten runs of each of two functions, which
// take turns so that a busy machine is busy for both.
func interleaved(f, g func()) (time.Duration, time.Duration) {
	const calls = 300
	run := func(f func()) time.Duration {
		start := time.Now()
		for range calls {
			f()
		}
		return time.Since(start) / calls
	}
	return medians(func() time.Duration { return run(f) }, func() time.Duration { return run(g) })
}

// medians returns the medians of ten results of each of two functions.
func medians(f, g func() time.Duration) (time.Duration, time.Duration) {
	var fs, gs []time.Duration
	for range 10 {
		fs, gs = append(fs, f()), append(gs, g())
	}
	slices.Sort(fs)
	slices.Sort(gs)
	return fs[5], gs[5]
}

// report reports how much longer large takes than small.
func report(b *testing.B, small, large time.Duration) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(small), "ns-small")
	b.ReportMetric(float64(large), "ns-large")
	b.ReportMetric(float64(large)/float64(small), "x-slower")
}

// Many times the tools, many times the calls: allocations within 2.
func TestAllocationsAreFlat(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles hundreds of tools")
	}
	for _, s := range scales(min(battery.Count(t, 100, 1000), 1000)) {
		var allocs [2]float64
		for i, make := range []func(testing.TB) *world{s.small, s.large} {
			w := make(t)
			in := w.input(7, "/ws/a")
			allocs[i] = fewestAllocs(func() { w.lean(t, in) })
		}
		within := 2.0
		if raceDetector { // it empties pools at random
			within = 20
		}
		assert.InDelta(t, allocs[0], allocs[1], within, s.name)
	}
}

// fewestAllocs returns the allocations of f in the best of many short runs: a
// collection, or the race detector, empties pools now and then.
func fewestAllocs(f func()) float64 {
	fewest := testing.AllocsPerRun(10, f)
	for range 30 {
		fewest = min(fewest, testing.AllocsPerRun(10, f))
	}
	return fewest
}

// What a decision costs right after the facts have changed: executed calls,
// each judged while it is admitted.
func BenchmarkRecordThenDecide(b *testing.B) {
	for _, s := range scales(1000) {
		b.Run(s.name, func(b *testing.B) {
			small, large := s.small(b), s.large(b)
			for b.Loop() {
				fewer, more := medians(func() time.Duration { return small.recorded(b, 300) }, func() time.Duration { return large.recorded(b, 300) })
				report(b, fewer, more)
			}
		})
	}
}

// recorded executes n calls and returns how long a decision about them took.
func (w *world) recorded(tb testing.TB, n int) time.Duration {
	var took time.Duration
	w.during = func(in *runtime.PolicyInput) {
		start := time.Now()
		w.lean(tb, in)
		took += time.Since(start)
	}
	w.calls(tb, n)
	w.during = func(*runtime.PolicyInput) {}
	return took / time.Duration(n)
}
