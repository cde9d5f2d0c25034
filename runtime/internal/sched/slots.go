package sched

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
)

// Slots limit how many handlers of one tool, or evaluations of the policy, run at once. Goroutines
// that wait get slots in the order in which they came. Open sets the limits before the first use.
type Slots struct {
	limit  atomic.Int64 // 0: no limit
	most   int64        // that may be inside
	inside atomic.Int64
	queued *atomic.Int64 // counts those that wait, together with those of other Slots; nil: none does

	mu           lockorder.Mutex[lockorder.Slots]
	running      int
	waiting      []*Event      // each fires when its owner gets a slot
	firstWaiting int           // index of the first event in waiting
	mean         time.Duration // for which a slot was held lately
}

// Open sets how many slots there are, 0 for no limit, and how many more may be inside than have a
// slot.
func (l *Slots) Open(limit, queue int) {
	l.limit.Store(int64(limit))
	l.most = int64(limit + queue)
}

// SetLimit changes how many slots there are, to at least one. Those that wait longest get the new ones
// at once. Where there are fewer than are held, none is given until enough were released.
func (l *Slots) SetLimit(limit int, s *Scheduler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limit.Store(int64(max(1, limit)))
	for l.running < int(l.limit.Load()) && l.firstWaiting < len(l.waiting) {
		l.running++
		l.give(s)
	}
}

// CountIn has those that wait counted in n, before the first use.
func (l *Slots) CountIn(n *atomic.Int64) { l.queued = n }

// count counts one more or less that waits.
func (l *Slots) count(change int64) {
	if l.queued != nil {
		l.queued.Add(change)
	}
}

// Waiting returns how many wait for a slot.
func (l *Slots) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting) - l.firstWaiting
}

// Limited reports whether there is a limit.
func (l *Slots) Limited() bool { return l.limit.Load() > 0 }

// Most returns how many may be inside.
func (l *Slots) Most() int64 { return l.most }

// Enter counts one that needs a slot, or will. It reports false when there are Most inside, one of
// them the one that it has just counted; Leave undoes that too (SEMANTICS 6.3).
func (l *Slots) Enter() bool { return l.limit.Load() <= 0 || l.inside.Add(1) <= l.most }

// Leave undoes an Enter.
func (l *Slots) Leave() {
	if l.limit.Load() > 0 {
		l.inside.Add(-1)
	}
}

// Acquire takes a slot. When none is free it returns the event that fires when the caller has one.
func (l *Slots) Acquire() (wait *Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.acquire()
}

// AcquireThen is Acquire and then, in the same step, then: no other goroutine comes into the queue
// in between. then must not call a method of l.
func (l *Slots) AcquireThen(then func(wait *Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	then(l.acquire())
}

// acquire is Acquire with l.mu held (SEMANTICS 6.3).
func (l *Slots) acquire() (wait *Event) {
	if l.running < int(l.limit.Load()) {
		l.running++
		return nil
	}
	wait = NewEvent()
	l.count(1)
	l.waiting = append(l.waiting, wait)
	return wait
}

// Release gives a slot to the one that has waited longest, or frees it.
func (l *Slots) Release(s *Scheduler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.release(s)
}

// ReleaseAfter is Release for a slot that was held for d.
func (l *Slots) ReleaseAfter(d time.Duration, s *Scheduler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mean == 0 {
		l.mean = d
	}
	l.mean += (d - l.mean) / 8
	l.release(s)
}

// release is Release with l.mu held.
func (l *Slots) release(s *Scheduler) {
	if l.firstWaiting == len(l.waiting) || l.running > int(l.limit.Load()) {
		l.running--
		return
	}
	l.give(s)
}

// give gives a slot to the one that has waited longest. There is one, and l.mu is held.
func (l *Slots) give(s *Scheduler) {
	l.count(-1)
	s.Fire(l.waiting[l.firstWaiting])
	l.waiting[l.firstWaiting] = nil
	if l.firstWaiting++; 2*l.firstWaiting >= len(l.waiting) {
		l.waiting = slices.Delete(l.waiting, 0, l.firstWaiting)
		l.firstWaiting = 0
	}
}

// CancelWait stops waiting. It releases a slot that the caller got meanwhile.
func (l *Slots) CancelWait(wait *Event, s *Scheduler) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.Index(l.waiting, wait); i >= 0 {
		l.count(-1)
		l.waiting = slices.Delete(l.waiting, i, i+1)
		return
	}
	l.release(s)
}

// RetryAfter returns after what time a slot is likely to be free, in whole seconds and at least
// one (SEMANTICS 6.3). Without a limit that is one second.
func (l *Slots) RetryAfter() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	each := l.mean / time.Duration(max(l.limit.Load(), 1))
	return max((each + time.Second - 1).Truncate(time.Second), time.Second)
}
