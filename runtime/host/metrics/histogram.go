package metrics

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	octaves    = 32 // ranges of durations, each twice as long as the one before
	perOctave  = 8  // buckets of an octave, each 2^(1/8) times as long as the one before
	bounds     = 14 // of the text
	firstBound = 10 * time.Millisecond
	belowFirst = 15 // octaves below firstBound

	// fraction is how many binary digits of a duration, in units of the shortest octave, follow the point.
	fraction = 8
)

// steps are the lower ends of the buckets of an octave, as fractions of 2^16.
var steps = func() (list [perOctave]uint64) {
	for i := range list {
		list[i] = uint64(math.Round(65536 * math.Exp2(float64(i)/perOctave)))
	}
	return list
}()

// A histogram counts durations in 256 buckets between firstBound/2^15 (305 ns) and firstBound*2^17 (22 minutes).
// Shorter ones count in the first bucket and longer ones in the last. A quantile is at most 5 % from
// the exact one. An octave of buckets is made when its first duration comes.
type histogram struct {
	buckets [octaves]atomic.Pointer[[perOctave]atomic.Uint64]
	sum     atomic.Int64 // nanoseconds
}

// observe counts d, in units of scale nanoseconds.
func (h *histogram) observe(d time.Duration, scale time.Duration) {
	d = max(d, 0)
	h.sum.Add(int64(d))
	octave, step := place((d + scale - 1) / scale)
	of := h.buckets[octave].Load()
	if of == nil {
		h.buckets[octave].CompareAndSwap(nil, new([perOctave]atomic.Uint64))
		of = h.buckets[octave].Load()
	}
	of[step].Add(1)
}

// place returns the bucket of d. A bucket holds its upper end and not its lower end, as those of
// Prometheus do.
func place(d time.Duration) (octave, step int) {
	d = min(d, firstBound<<(octaves-belowFirst))
	if d <= 0 {
		return 0, 0
	}
	units := uint64(d-1) << (belowFirst + fraction) / uint64(firstBound)
	length := bits.Len64(units)
	if length <= fraction {
		return 0, 0
	}
	units <<= 64 - length
	mantissa := units >> 47 // 2^16 and more, less than 2^17
	for step = perOctave - 1; mantissa < steps[step]; {
		step--
	}
	return length - fraction - 1, step
}

// A summary is what a histogram held at one moment.
type summary struct {
	buckets [octaves * perOctave]uint64
	count   uint64
	sum     time.Duration
}

// summarize stores what h holds in s; h may be nil.
func (h *histogram) summarize(s *summary) {
	*s = summary{}
	if h == nil {
		return
	}
	s.sum = time.Duration(h.sum.Load())
	for octave := range h.buckets {
		of := h.buckets[octave].Load()
		if of == nil {
			continue
		}
		for step := range of {
			n := of[step].Load()
			s.buckets[octave*perOctave+step] = n
			s.count += n
		}
	}
}

// upTo returns for each bound, in seconds, how many durations were at most that long. They were counted in
// units of scale nanoseconds.
func (s *summary) upTo(scale time.Duration) map[float64]uint64 {
	counts := make(map[float64]uint64, bounds)
	n, next := uint64(0), 0
	for i := range bounds {
		for end := (belowFirst + i) * perOctave; next < end; next++ {
			n += s.buckets[next]
		}
		counts[bound(i, scale)] = n
	}
	return counts
}

// bound returns the bound with number i, in seconds, of durations in units of scale nanoseconds.
func bound(i int, scale time.Duration) float64 { return (firstBound * scale << i).Seconds() }

// quantile returns the duration that a part q of all durations does not exceed, in seconds. They were
// counted in units of scale nanoseconds.
func (s *summary) quantile(q float64, scale time.Duration) float64 {
	rank := max(uint64(math.Ceil(q*float64(s.count))), 1)
	for i, n := range s.buckets {
		if n >= rank {
			shortest := (firstBound * scale).Seconds() / (1 << belowFirst)
			return shortest * math.Exp2((float64(i)+0.5)/perOctave)
		}
		rank -= n
	}
	return 0
}
