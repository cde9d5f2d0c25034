package engine

import (
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// jobs are workers whose calls do something, and are over at a time.
type jobs struct {
	workers
	mu   sync.Mutex
	does map[*call]job
}

type job struct {
	do   func(*worker)
	over func() time.Time
}

func newJobs(s *sched.Scheduler, zero time.Time) *jobs {
	p := &jobs{does: map[*call]job{}}
	p.Open(s, zero, func(c *call, w *worker) { p.job(c).do(w) }, func(c *call) time.Time { return p.job(c).over() })
	return p
}

func (p *jobs) job(c *call) job {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.does[c]
}

// begin has a worker do a job, and returns its call.
func (p *jobs) begin(j job) *call {
	c := new(call)
	p.mu.Lock()
	p.does[c] = j
	p.mu.Unlock()
	p.Take(c)
	return c
}

// A workClock is the clock of the system, and counts who is busy.
type workClock struct{ busy atomic.Int64 }

func (*workClock) Now() time.Time { return time.Now() }

func (*workClock) AfterFunc(d time.Duration, f func()) runtime.Timer { return time.AfterFunc(d, f) }

func (c *workClock) Busy(delta int) { c.busy.Add(int64(delta)) }

// TestTake: each call is executed once, and then there is no worker left.
func TestTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var clock workClock
		s := &sched.Scheduler{}
		s.Use(&clock)
		p := newJobs(s, time.Now())
		var served atomic.Int64
		var done sync.WaitGroup
		for range 100 {
			done.Go(func() {
				for range 50 {
					p.begin(job{do: func(*worker) { served.Add(1) }})
				}
			})
		}
		done.Wait()
		synctest.Wait()
		assert.EqualValues(t, 5000, served.Load())
		assert.Empty(t, p.all)
		assert.Empty(t, p.free)
		assert.Zero(t, clock.busy.Load())
	})
}

// TestCallsOfWorkers: what is worked on is listed, also after a job has ended its goroutine.
func TestCallsOfWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newJobs(&sched.Scheduler{}, time.Now())
		release := make(chan struct{})
		var calls []*call
		for i := range 5 {
			calls = append(calls, p.begin(job{do: func(*worker) {
				<-release
				if i%2 == 0 {
					goruntime.Goexit()
				}
			}}))
		}
		synctest.Wait()
		assert.ElementsMatch(t, calls, p.Calls())
		assert.Zero(t, p.Halted())
		p.Halt(7)
		assert.EqualValues(t, 7, p.Halted())
		close(release)
		synctest.Wait()
		assert.Empty(t, p.Calls())
		assert.Empty(t, p.all)
		assert.Empty(t, p.free)
	})
}

// TestExpire: the timer tells a job each time it has asked for, and no job that has ended.
func TestExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newJobs(&sched.Scheduler{}, time.Now())
		start := time.Now()
		var told []time.Duration
		j := job{
			do: func(w *worker) {
				w.Arm(start.Add(time.Minute))
				w.Arm(time.Time{})
				w.Arm(start.Add(time.Hour)) // the timer fires before, and is armed again
				time.Sleep(2 * time.Hour)
				w.Arm(time.Now().Add(time.Second))
			},
		}
		j.over = func() time.Time {
			told = append(told, time.Since(start))
			if len(told) == 1 {
				return start.Add(time.Hour)
			}
			return time.Time{}
		}
		p.begin(j)
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		assert.Equal(t, []time.Duration{time.Minute, time.Hour}, told)
	})
}

// TestArmForTheEarlierOfTwo lets a worker and its timer call Arm concurrently: one for
// the deadline of a handler, the other for the end of the turn, which it read before.
func TestArmForTheEarlierOfTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zero := time.Now()
		near, far := time.Now().Add(time.Second), time.Now().Add(time.Hour)
		for range 200 {
			w := &worker{of: &newJobs(&sched.Scheduler{}, zero).workers}
			var both sync.WaitGroup
			w.mu.Lock()
			both.Go(func() { w.Arm(far) })
			both.Go(func() { w.Arm(near) })
			for range 10 { // both come to the lock
				goruntime.Gosched()
			}
			w.mu.Unlock()
			both.Wait()
			assert.Equal(t, int64(near.Sub(zero)), w.armed.Load())
			w.stop()
		}
	})
}

// TestArmForgetsTheWallClock sets the system's clock forward by a day.
func TestArmForgetsTheWallClock(t *testing.T) {
	w := &worker{of: &newJobs(&sched.Scheduler{}, time.Now()).workers}
	defer w.stop()
	w.Arm(time.Now().Add(time.Minute))
	armed := w.armed.Load()
	assert.InDelta(t, time.Minute, armed, float64(time.Second), "not in nanoseconds since 1970")
	w.Arm(time.Now().Add(30 * time.Second))
	assert.Less(t, w.armed.Load(), armed)
}

// A stillClock does not advance, and tells when its only timer would fire.
type stillClock struct {
	at    time.Time
	after time.Duration
}

func (c *stillClock) Now() time.Time { return c.at }

func (c *stillClock) AfterFunc(d time.Duration, _ func()) runtime.Timer {
	c.after = d
	return c
}

func (c *stillClock) Stop() bool { return true }

func (c *stillClock) Reset(d time.Duration) bool {
	c.after = d
	return true
}

// TestArmOnAnyClock arms a worker at the first instant, at 0 and at the last instant.
func TestArmOnAnyClock(t *testing.T) {
	for _, at := range []string{"0001-01-01T00:00:01Z", "1969-12-31T23:59:59Z", "1970-01-01T00:00:00Z", "2262-04-11T23:47:16.8Z", "2400-01-01T00:00:00Z"} {
		now, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		clock := &stillClock{at: now}
		var s sched.Scheduler
		s.Use(clock)
		w := &worker{of: &newJobs(&s, now.Add(-time.Duration(now.UnixNano()))).workers}
		for _, d := range []time.Duration{2 * time.Second, time.Second, 0} {
			w.Arm(now.Add(d))
			assert.Equal(t, d, clock.after, at)
			w.Arm(now.Add(time.Hour))
			if at < "2262" {
				assert.Equal(t, d, clock.after, "%s: it is armed before", at)
			}
		}
	}
}
