package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
)

// TestQuantiles compares the quantiles of 100,000 durations with the exact ones.
func TestQuantiles(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	distributions := map[string]func() float64{
		"log normal":   func() float64 { return 0.02 * math.Exp(rng.NormFloat64()) },
		"exponential":  func() float64 { return 0.3 * rng.ExpFloat64() },
		"heavy tail":   func() float64 { return 0.001 / math.Pow(1-rng.Float64(), 1.5) },
		"microseconds": func() float64 { return 1e-6 * (1 + 3*rng.Float64()) },
		"two values":   func() float64 { return []float64{0.001, 7}[rng.IntN(2)] },
	}
	for name, next := range distributions {
		t.Run(name, func(t *testing.T) {
			h, all := new(histogram), make([]time.Duration, 100_000)
			sum := time.Duration(0)
			for i := range all {
				all[i] = time.Duration(min(next(), 1300) * 1e9)
				sum += all[i]
				h.observe(all[i], 1)
			}
			slices.Sort(all)
			var s summary
			h.summarize(&s)
			require.EqualValues(t, len(all), s.count)
			assert.Equal(t, sum, s.sum)
			for _, q := range []float64{0.5, 0.95, 0.99} {
				exact := all[int(math.Ceil(q*float64(len(all))))-1].Seconds()
				assert.InEpsilon(t, exact, s.quantile(q, 1), 0.05, "quantile %v", q)
			}
			for i := range bounds {
				at, _ := slices.BinarySearchFunc(all, bound(i, 1), func(d time.Duration, bound float64) int {
					if d.Seconds() <= bound {
						return -1
					}
					return 1
				})
				assert.EqualValues(t, at, s.upTo(1)[bound(i, 1)], "durations up to %v s", bound(i, 1))
			}
		})
	}
}

// TestPlaces: the buckets follow one another without a gap, and each holds its upper end.
func TestPlaces(t *testing.T) {
	for _, scale := range scales {
		for i := range bounds {
			exact := firstBound * scale << i
			var below, above histogram
			below.observe(exact, scale)
			above.observe(exact+1, scale)
			var s summary
			below.summarize(&s)
			assert.EqualValues(t, 1, s.upTo(scale)[bound(i, scale)], "%v in units of %d ns", exact, scale)
			above.summarize(&s)
			assert.EqualValues(t, 0, s.upTo(scale)[bound(i, scale)], "%v in units of %d ns", exact+1, scale)
		}
	}
	last := 0
	for d := time.Duration(-1); d < time.Hour; d = d*101/100 + 1 {
		octave, step := place(d)
		at := octave*perOctave + step
		require.True(t, at >= last && at <= last+2 && at < octaves*perOctave, "%v: %d after %d", d, at, last)
		last = at
	}
	assert.Equal(t, octaves*perOctave-1, last)
	octave, step := place(math.MaxInt64)
	assert.Equal(t, last, octave*perOctave+step)
}

// TestEveryReasonHasAPlace compares the sizes of the closed sets with their names.
func TestEveryReasonHasAPlace(t *testing.T) {
	for name, further := range map[string]string{
		"reason": runtime.Reason(reasons).String(), "outcome": runtime.OutcomeKind(outcomes).String(), "event": runtime.EventKind(kinds).String(),
	} {
		assert.Contains(t, further, "(", "%s: there is one more than metrics count", name)
	}
}
