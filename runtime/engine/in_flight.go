package engine

import (
	"cmp"
	"sync/atomic"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
)

// A capacity counts the calls that an executor works on, from their arrival until their
// handler has returned or they wait for consent. A handler that outlives its call
// counts as long as it runs, so that the count bounds goroutines.
type capacity struct {
	limit    int64
	inFlight atomic.Int64
	refused  atomic.Uint64
}

const (
	// DefaultMaxInFlight is how many calls an executor works on at once.
	DefaultMaxInFlight = 1024
	// queueFactor is how many calls may wait for each slot of a tool that does not
	// declare limits.queue.
	queueFactor = 4
	// leastRetry is the smallest Detail.RetryAfter of an at_capacity outcome.
	leastRetry = time.Second
)

// openSlots sets how many calls of a tool run at once, and how many may wait.
func openSlots(s *sched.Slots, limits runtime.Limits) {
	queue := cmp.Or(limits.Queue, queueFactor*limits.Concurrency) // NoQueue is negative
	s.Open(limits.Concurrency, max(queue, 0))
}
