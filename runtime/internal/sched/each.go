package sched

import "sync"

// Each calls f for each item of list, concurrently, because each may have to wait. In a simulation, or for a
// single item, it runs them one after the other.
func Each[T any](s *Scheduler, list []T, f func(T)) {
	if s.Counts() || len(list) < 2 {
		for _, item := range list {
			f(item)
		}
		return
	}
	var done sync.WaitGroup
	for _, item := range list {
		done.Go(func() { f(item) })
	}
	done.Wait()
}
