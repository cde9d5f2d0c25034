package runtime

import (
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"time"
)

const (
	// maxAbandoned is how many abandoned evaluations of a tool open its breaker.
	maxAbandoned = 2
	// maxBroken is how many tools with an open breaker open that of the executor.
	maxBroken = 4
	// maxTick is the unit in which the time of an evaluation is counted.
	maxTick = 10 * time.Millisecond
)

// Evaluations bounds the evaluations of the policy (SEMANTICS section 6.3): at most
// GOMAXPROCS run at once, and the calls of a tool whose evaluations hang are
// denied without one.
//
// The limit of an evaluation is counted in ticks of a timer, not read off a clock:
// a tick that comes late, because the process was stopped or the machine is busy,
// counts once. So an evaluation is only charged for time in which it could run.
type evaluations struct {
	places slots         // an abandoned evaluation has given its place back
	tick   time.Duration // at most maxTick
	ticks  int           // the limit of an evaluation

	abandoned []atomic.Int32 // by position in the registry: evaluations that still run
	broken    atomic.Int32   // tools with maxAbandoned of them or more
}

// open makes v ready for a number of tools.
func (v *evaluations) open(tools int, limit time.Duration) {
	v.places.limit = goruntime.GOMAXPROCS(0)
	v.tick = min(limit, maxTick)
	v.ticks = int((limit + v.tick - 1) / v.tick)
	v.abandoned = make([]atomic.Int32, tools)
}

// blocked says why the policy is not asked about calls of the tool at position i,
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

// abandon counts an evaluation about the tool at position i that outlived its
// limit, and gives its place to another one.
func (v *evaluations) abandon(i int, e *Executor) {
	if v.abandoned[i].Add(1) == maxAbandoned {
		v.broken.Add(1)
	}
	v.places.release(e)
}

// returned counts an abandoned evaluation that has ended after all.
func (v *evaluations) returned(i int) {
	if v.abandoned[i].Add(-1) == maxAbandoned-1 {
		v.broken.Add(-1)
	}
}

// outlasts waits for done for as long as an evaluation may take, and reports
// whether that was not long enough.
func (v *evaluations) outlasts(e *Executor, done *signal) bool {
	for range v.ticks {
		if e.waitFor(done, v.tick) {
			return false
		}
	}
	return true
}

// awaitPlace waits until the policy may be asked about c, inside the budget of its
// turn. It reports false when the call has ended meanwhile.
func (c *call) awaitPlace() bool {
	v := &c.exec.evaluations
	wait := v.places.acquire()
	if wait == nil {
		return true
	}
	if c.enter(phaseAdmitting, c.ends()) && c.exec.wait(wait, c.over(), nil) == sawA {
		c.now = c.clock()
		return true
	}
	v.places.cancelWait(wait, c.exec)
	return false
}
