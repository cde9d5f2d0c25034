package processes

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/process"
)

// A Running is a process that runs.
type Running struct {
	Key   string // of its attempt
	Tool  string
	ID    process.ProcessID
	Since time.Time
	Due   time.Time     // when its attempt is over
	Usage process.Usage // when it was seen last
}

// A running is a Running and how it is to end.
type running struct {
	Running
	now  bool   // the end of its context ends it without a grace
	over func() // ends the context of its process, if its own has ended
}

// Running returns the processes that run, those that were started first in front.
func (s *Set) Running() []Running {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Running
	for _, r := range s.live {
		if r.ID.PID != 0 {
			list = append(list, r.Running)
		}
	}
	slices.SortFunc(list, func(a, b Running) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Key, b.Key)) })
	return list
}

// Hurry makes the end of its context end the process of a call with SIGKILL, without its grace. It
// changes nothing when none runs.
func (s *Set) Hurry(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.live[key]; r != nil {
		r.now = true
	}
}

// attempt returns the context of the process of r, which ends with ctx and says whether the end leaves a
// grace, and what releases it.
func (s *Set) attempt(ctx context.Context, r *running) (of context.Context, end func()) {
	of, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r.over = func() {
		if ctx.Err() != nil {
			cancel(s.cause(r, ctx))
		}
	}
	r.over()
	stop := context.AfterFunc(ctx, r.over)
	return of, func() {
		stop()
		cancel(nil)
	}
}

// cause returns why an attempt ends whose context has ended.
func (s *Set) cause(r *running, ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.now {
		return process.ErrNow
	}
	return context.Cause(ctx)
}

// Key returns the key of the attempts of a call.
func Key(session, call string) string { return session + "\x00" + call }

// enter adds an attempt. Until its process is known it is in no list.
func (s *Set) enter(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live[r.Key] = r
}

func (s *Set) leave(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[r.Key] == r {
		delete(s.live, r.Key)
	}
}

// began notes the process of an attempt.
func (s *Set) began(r *running, id process.ProcessID, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ID, r.Since = id, at
}

// beat notes what a process uses.
func (s *Set) beat(r *running, u process.Usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Usage = u
}
