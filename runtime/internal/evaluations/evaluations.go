// Package evaluations bounds the evaluations of a policy (SEMANTICS section 6.3): how many run at once, how
// long each may take, and when the policy is not asked about a tool any more, because it hangs.
//
// The time of an evaluation is counted in ticks of a timer and not read from a clock. A tick that
// comes late, because the process was stopped or the machine is busy, counts once. An evaluation
// is therefore only charged for time in which it could run.
package evaluations

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/deadline"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
)

const (
	// maxAbandoned is how many abandoned evaluations of a tool open its breaker (SEMANTICS 3.5).
	maxAbandoned = 2
	// maxBroken is how many tools with an open breaker open that of the executor.
	maxBroken = 4
	// maxTick is the unit in which the time of an evaluation is counted.
	maxTick = 10 * time.Millisecond
)

// Evaluations bounds the evaluations of one policy. All methods are safe for concurrent use once Open
// has returned.
type Evaluations struct {
	sched *sched.Scheduler
	slots sched.Slots   // an abandoned evaluation holds none
	tick  time.Duration // at most maxTick
	ticks int           // the limit of an evaluation

	abandoned []atomic.Int32 // by position in the registry: abandoned evaluations that still run
	all       atomic.Int64   // of abandoned, the sum
	broken    atomic.Int32   // tools with at least maxAbandoned abandoned evaluations
}

// ErrAbandoned is the error of an evaluation that took too long.
var ErrAbandoned = errors.New("the evaluation took too long and was abandoned")

// Open prepares v for a number of tools. GOMAXPROCS evaluations run at once.
func (v *Evaluations) Open(s *sched.Scheduler, tools int, limit time.Duration) {
	v.sched = s
	v.slots.Open(goruntime.GOMAXPROCS(0), 0)
	v.tick = min(limit, maxTick)
	v.ticks = int((limit + v.tick - 1) / v.tick)
	v.abandoned = make([]atomic.Int32, tools)
}

// SetPlaces sets how many evaluations run at once, before the first one.
func (v *Evaluations) SetPlaces(n int) { v.slots.Open(n, 0) }

// Limit returns how many ticks an evaluation may take, and how long a tick is.
func (v *Evaluations) Limit() (ticks int, tick time.Duration) { return v.ticks, v.tick }

// Blocked returns why the policy is not asked about calls of the tool at position i, nil when it
// is (SEMANTICS 3.5).
func (v *Evaluations) Blocked(i int) error {
	switch {
	case v.abandoned[i].Load() >= maxAbandoned:
		return fmt.Errorf("%d evaluations about this tool were abandoned and have not ended", maxAbandoned)
	case v.broken.Load() >= maxBroken:
		return fmt.Errorf("%d evaluations about each of %d tools were abandoned and have not ended", maxAbandoned, maxBroken)
	}
	return nil
}

// Broken returns how many tools have an open breaker.
func (v *Evaluations) Broken() int { return int(v.broken.Load()) }

// Measure stores the figures of v in s. The registry has the names of the tools.
func (v *Evaluations) Measure(s *runtime.Stats, registry *runtime.Registry) {
	s.Abandoned, s.Broken = v.Abandoned(), v.Broken()
	s.Halted = s.Broken >= maxBroken
	if s.Broken == 0 {
		return
	}
	for i, t := range registry.All() {
		if v.abandoned[i].Load() >= maxAbandoned {
			s.BrokenTools = append(s.BrokenTools, t.Spec().Name)
		}
	}
}

// Acquire takes a place. When none is free it returns the event that fires when the caller has one.
func (v *Evaluations) Acquire() (wait *sched.Event) { return v.slots.Acquire() }

// CancelWait gives up the wait for a place, or the place when the caller has one by now.
func (v *Evaluations) CancelWait(wait *sched.Event) { v.slots.CancelWait(wait, v.sched) }

// Release releases the place of an evaluation that has ended.
func (v *Evaluations) Release() { v.slots.Release(v.sched) }

// Abandon counts an evaluation about the tool at position i that exceeded its limit, and releases
// its place.
func (v *Evaluations) Abandon(i int) {
	v.all.Add(1)
	if v.abandoned[i].Add(1) == maxAbandoned {
		v.broken.Add(1)
	}
	v.Release()
}

// Returned counts an abandoned evaluation that has returned (SEMANTICS 3.5).
func (v *Evaluations) Returned(i int) {
	v.all.Add(-1)
	if v.abandoned[i].Add(-1) == maxAbandoned-1 {
		v.broken.Add(-1)
	}
}

// Abandoned returns how many abandoned evaluations still run.
func (v *Evaluations) Abandoned() int { return int(v.all.Load()) }

// Detached evaluates a policy about the tool at position i in a goroutine of its own, because the policy
// may hang. ask asks the policy. The error is ErrAbandoned when that takes too long, and the cause of
// ctx when it ends before there is a place.
func (v *Evaluations) Detached(ctx context.Context, i int, ask func(context.Context) (runtime.Decision, error)) (runtime.Decision, error) {
	if err := v.Blocked(i); err != nil {
		return runtime.Decision{}, err
	}
	if wait := v.Acquire(); wait != nil && v.sched.Wait(wait, nil, ctx.Done()) != sched.First {
		v.CancelWait(wait)
		return runtime.Decision{}, context.Cause(ctx)
	}
	watch := &deadline.Context{Parent: ctx}
	done := sched.NewEvent()
	answer := make(chan runtime.Decision, 1)
	result := make(chan error, 1)
	v.sched.Busy(1)
	go func() {
		defer v.sched.Busy(-1)
		defer v.sched.Fire(done)
		result <- usercode.Call(func() error {
			d, err := ask(watch)
			answer <- d
			return err
		})
	}()
	if v.timesOut(done) {
		watch.Cancel(deadline.Exceeded)
		v.Abandon(i)
		v.sched.Busy(1)
		go func() {
			defer v.sched.Busy(-1)
			v.sched.Wait(done, nil, nil)
			v.Returned(i)
		}()
		return runtime.Decision{}, ErrAbandoned
	}
	v.Release()
	watch.Cancel(deadline.Canceled)
	select {
	case err := <-result:
		if err != nil {
			return runtime.Decision{}, err
		}
		return <-answer, nil
	default:
		return runtime.Decision{}, usercode.ErrExited
	}
}

// timesOut waits for done as long as an evaluation may take, and reports whether done did not happen
// in that time.
func (v *Evaluations) timesOut(done *sched.Event) bool {
	for range v.ticks {
		if v.sched.WaitFor(done, v.tick) {
			return false
		}
	}
	return true
}
