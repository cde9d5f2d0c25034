package engine

import (
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

const (
	// maxAbandoned is how many abandoned evaluations of a tool open its breaker.
	maxAbandoned = 2
	// maxBroken is how many tools with an open breaker open that of the executor.
	maxBroken = 4
	// maxTick is the unit in which the time of an evaluation is counted.
	maxTick = 10 * time.Millisecond
)

// evaluations bounds the evaluations of the policy (SEMANTICS section 6.3): at most GOMAXPROCS run
// at once, and the calls of a tool whose evaluations hang are denied without one.
//
// The time of an evaluation is counted in ticks of a timer and not read from a clock. A
// tick that comes late, because the process was stopped or the machine is busy, counts
// once. An evaluation is therefore only charged for time in which it could run.
type evaluations struct {
	slots sched.Slots   // an abandoned evaluation holds none
	tick  time.Duration // at most maxTick
	ticks int           // the limit of an evaluation

	abandoned []atomic.Int32 // by position in the registry: abandoned evaluations that still run
	broken    atomic.Int32   // tools with at least maxAbandoned abandoned evaluations
}

// open prepares v for a number of tools.
func (v *evaluations) open(tools int, limit time.Duration) {
	v.slots.Open(goruntime.GOMAXPROCS(0), 0)
	v.tick = min(limit, maxTick)
	v.ticks = int((limit + v.tick - 1) / v.tick)
	v.abandoned = make([]atomic.Int32, tools)
}

// blocked returns why the policy is not asked about calls of the tool at position i,
// nil when it is.
func (v *evaluations) blocked(i int) error {
	switch {
	case v.abandoned[i].Load() >= maxAbandoned:
		return fmt.Errorf("%d evaluations about this tool were abandoned and have not ended", maxAbandoned)
	case v.broken.Load() >= maxBroken:
		return fmt.Errorf("%d evaluations about each of %d tools were abandoned and have not ended", maxAbandoned, maxBroken)
	}
	return nil
}

// abandon counts an evaluation about the tool at position i that exceeded its limit,
// and releases its place.
func (v *evaluations) abandon(i int, s *sched.Scheduler) {
	if v.abandoned[i].Add(1) == maxAbandoned {
		v.broken.Add(1)
	}
	v.slots.Release(s)
}

// returned counts an abandoned evaluation that has returned.
func (v *evaluations) returned(i int) {
	if v.abandoned[i].Add(-1) == maxAbandoned-1 {
		v.broken.Add(-1)
	}
}

// timesOut waits for done as long as an evaluation may take, and reports whether done
// did not happen in that time.
func (v *evaluations) timesOut(s *sched.Scheduler, done *sched.Event) bool {
	for range v.ticks {
		if s.WaitFor(done, v.tick) {
			return false
		}
	}
	return true
}
