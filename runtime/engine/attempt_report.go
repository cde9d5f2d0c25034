package engine

import (
	"github.com/ambit-tools/ambit/runtime/internal/live"
	"github.com/ambit-tools/ambit/runtime/internal/redact"
)

// Report passes on progress and text of the attempt, while its fence is open (SEMANTICS 2.5.1).
func (at *attemptContext) Report(done, total int64, text string) error {
	if !at.whileTold(func(o *live.Output) {
		o.Add(at.number, done, total, text)
		tell(at.scope)
	}) {
		return at.Fenced()
	}
	return nil
}

// whileTold calls f with the output under the lock of the owner, unless the fence of the attempt is shut.
func (at *attemptContext) whileTold(f func(*live.Output)) bool {
	s := at.scope
	s.mu.Lock()
	open, known := s.life.FenceOpen(at.number), s.output != nil
	s.mu.Unlock()
	var hide *redact.Secrets
	if open && !known {
		hide = s.owner.hidden()
	}
	return at.WhileOpen(func() {
		if s.output == nil {
			s.output = live.New(hide)
		}
		f(s.output)
	})
}

// tell publishes what was reported, at once or when the interval since the last piece is over. The
// lock is held.
func tell(s *attemptScope) {
	if s.telling != nil {
		return
	}
	now := s.env.Sched.Now()
	wait := s.output.Wait(now)
	if wait == 0 {
		if p, ok := s.output.Take(now); ok {
			s.owner.publish(&p)
		}
		return
	}
	s.telling = s.env.Sched.After(wait, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.telling != nil { // the attempt has not ended
			s.telling = nil
			tell(s)
		}
	})
}

// endReports publishes what is left at the end of an attempt. Nothing is left when it is called again.
// The lock is held.
func endReports(s *attemptScope) {
	if s.output == nil {
		return
	}
	if s.telling != nil {
		s.telling.Stop()
		s.telling = nil
	}
	if p, ok := s.output.End(s.env.Sched.Now()); ok {
		s.owner.publish(&p)
	}
}
