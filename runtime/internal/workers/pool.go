// Package workers runs jobs in goroutines that are used again, each with a timer that watches its job.
package workers

import (
	goruntime "runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// poolSpins is how often a goroutine yields the processor, so that another goroutine can pass it a
// job, before it ends.
const poolSpins = 16

// A Pool is the goroutines that work on jobs. A goroutine whose job has ended looks for another job
// for a moment, because a goroutine that has grown its stack is much cheaper than a new one. It
// never blocks. Therefore a pool needs no close, and one that is no longer referenced leaves no
// goroutines. J is a job, S what a worker keeps from one job to the next. The methods are safe for
// concurrent use.
type Pool[J, S any] struct {
	sched  *sched.Scheduler
	zero   time.Time // the instant 0 of the timers
	serve  func(*J, *Worker[J, S])
	expire func(*J) time.Time

	haltCause atomic.Uint32 // why all workers have to stop; 0: they do not
	mu        lockorder.Mutex[lockorder.Workers]
	free      []*Worker[J, S]
	all       []*Worker[J, S]
}

// Open sets up p before its first use. serve works on a job, and may end by runtime.Goexit. expire is
// called when the time of a job may be over. It returns when to call it again, zero when it need not be
// called. zero is the instant from which timers count, which is long before the first job.
func (p *Pool[J, S]) Open(s *sched.Scheduler, zero time.Time, serve func(*J, *Worker[J, S]), expire func(*J) time.Time) {
	p.sched, p.zero, p.serve, p.expire = s, zero, serve, expire
}

// Take passes a job to a worker, which counts as busy from now on.
func (p *Pool[J, S]) Take(job *J) {
	p.sched.Busy(1)
	p.mu.Lock()
	n := len(p.free)
	if n == 0 {
		started := &Worker[J, S]{pool: p, place: len(p.all)}
		p.all = append(p.all, started)
		p.mu.Unlock()
		go started.run(job)
		return
	}
	p.free[n-1].next.Store(job)
	p.free = p.free[:n-1]
	p.mu.Unlock()
}

// nextJob returns the next job for a worker, nil when none came soon.
func (p *Pool[J, S]) nextJob(free *Worker[J, S]) *J {
	p.mu.Lock()
	p.free = append(p.free, free)
	p.mu.Unlock()
	for range poolSpins {
		goruntime.Gosched()
		if free.next.Load() != nil {
			return free.next.Swap(nil)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if i := slices.Index(p.free, free); i >= 0 {
		p.free = slices.Delete(p.free, i, i+1)
	}
	return free.next.Swap(nil)
}

// remove removes a worker that has ended.
func (p *Pool[J, S]) remove(ended *Worker[J, S]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.all[len(p.all)-1]
	p.all[ended.place], last.place = last, ended.place
	p.all[len(p.all)-1] = nil
	p.all = p.all[:len(p.all)-1]
}

// Halt sets why jobs that reach a worker from now on have to end. why is not 0.
func (p *Pool[J, S]) Halt(why uint32) { p.haltCause.Store(why) }

// Halted returns why jobs have to end, 0 when they do not.
func (p *Pool[J, S]) Halted() uint32 { return p.haltCause.Load() }

// Jobs returns the jobs that are being worked on, and some that their workers have left. The jobs
// that it misses see that the pool was halted, when Halt was called before.
func (p *Pool[J, S]) Jobs() (list []*J) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.all {
		if job := one.current.Load(); job != nil {
			list = append(list, job)
		}
	}
	return list
}
