package processes

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
)

// A running is a process that runs, or is about to, and how it is to end.
type running struct {
	runtime.RunningProcess
	key  string // of its call
	now  bool   // the end of its context ends it without a grace
	over func() // ends the context of its process, if its own has ended
}

// Measure sets what the executor's figures say of processes: those that run, the first that was started in
// front, and by tool what all of them have used so far. A process that ends is at no moment missing from the
// second, nor in it twice (SEMANTICS 6.13.2).
func (s *Set) Measure(to *runtime.Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.Usage = maps.Clone(s.used)
	for _, r := range s.live {
		if r.ID.PID != 0 {
			to.Processes = append(to.Processes, r.RunningProcess)
			addTo(&to.Usage, r.Tool, r.Usage)
		}
	}
	slices.SortFunc(to.Processes, func(a, b runtime.RunningProcess) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Session, b.Session), cmp.Compare(a.Call, b.Call))
	})
}

// addTo adds what a process of a tool has used to the sums by tool.
func addTo(sums *map[string]runtime.ProcessUsage, tool string, u runtime.ProcessUsage) {
	if *sums == nil {
		*sums = map[string]runtime.ProcessUsage{}
	}
	sum := (*sums)[tool]
	sum.Add(u)
	(*sums)[tool] = sum
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
	s.live[r.key] = r
}

// leave takes an attempt out of the list, and adds what its process has used to that of its tool.
func (s *Set) leave(r *running) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live[r.key] == r {
		delete(s.live, r.key)
	}
	if r.ID.PID != 0 {
		u := r.Usage
		u.Memory, u.Processes = 0, 0 // it has none any more
		addTo(&s.used, r.Tool, u)
	}
}

// began notes the process of an attempt.
func (s *Set) began(r *running, id runtime.ProcessID, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ID, r.Since = id, at
}

// beat notes what a process has used.
func (s *Set) beat(r *running, u runtime.ProcessUsage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Usage, r.Seen = u.After(r.Usage), s.sched.Now()
}
