package sched

import (
	"sync/atomic"
	"time"
)

// Repeat calls f once per period, until stop fires or done is closed. It calls f first when the first
// period is over. A call of f that takes longer than a period delays the next one: the periods that
// begin meanwhile have no call. stop and done may be nil.
func Repeat(s *Scheduler, period time.Duration, stop *Event, done <-chan struct{}, f func()) {
	next := s.Now().Add(period)
	for s.Sleep(s.Until(next), stop, done) == First {
		f()
		for now := s.Now(); !next.After(now); {
			next = next.Add(max(period, now.Sub(next)/period*period))
		}
	}
}

// Together calls f for each item of list, each in its own goroutine, and returns when all calls have
// returned. In a simulation, too, they run together: each may wait for as long as it likes.
func Together[T any](s *Scheduler, list []T, f func(T)) {
	if len(list) == 0 {
		return
	}
	s.Busy(len(list))
	all := NewEvent()
	var running atomic.Int64
	running.Store(int64(len(list)))
	for _, item := range list {
		go func() {
			defer s.Busy(-1)
			defer func() {
				if running.Add(-1) == 0 { // before this goroutine counts as done: the caller has work to do then
					s.Fire(all)
				}
			}()
			f(item)
		}()
	}
	s.Wait(all, nil, nil)
}
