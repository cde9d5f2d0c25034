package deadline

import (
	"context"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/usercode"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
)

// Call calls f, which is code of the application, in a goroutine of its own, and returns its error. A
// panic is an error, and so is runtime.Goexit (usercode.ErrExited). When f does not return within d its
// context ends, and Call returns an *OverdueError without waiting for f.
func Call(s *sched.Scheduler, ctx context.Context, d time.Duration, f func(context.Context) error) error {
	watch := &Context{Parent: ctx, Due: s.Now().Add(d)}
	done := sched.NewEvent()
	result := make(chan error, 1)
	s.Busy(1)
	go func() {
		defer s.Busy(-1)
		defer s.Fire(done)
		result <- usercode.Call(func() error { return f(watch) })
	}()
	if !s.WaitFor(done, d) {
		watch.Cancel(Exceeded)
		return &OverdueError{d}
	}
	watch.Cancel(Canceled)
	select {
	case err := <-result:
		return err
	default:
		return usercode.ErrExited
	}
}

// An OverdueError says that code of the application did not return in time.
type OverdueError struct{ Limit time.Duration }

// Error names the time limit.
func (e *OverdueError) Error() string { return "it did not finish within " + wording.Limit(e.Limit) }

// Earlier returns due, or limit if that is earlier; a zero limit is none.
func Earlier(due, limit time.Time) time.Time {
	if !limit.IsZero() && limit.Before(due) {
		return limit
	}
	return due
}

// Left returns how much time is left at now until an end; ok is false when there is none, which is the zero time.
func Left(end, now time.Time) (d time.Duration, ok bool) {
	if end.IsZero() {
		return 0, false
	}
	return end.Sub(now), true
}

// OrBackground returns the context of a caller, who may have passed nil.
func OrBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
