package engine

import "time"

// queue adds a session to the idle ones. s.mu is held.
func (s *sessionCache) queue(p *cachePlace) {
	p.idle, p.queued = s.cfg.Sched.Now(), true
	p.before, p.after = s.idle.before, &s.idle
	p.before.after, p.after.before = p, p
	s.queued++
}

// unqueue takes a session out of the idle ones, if it is one. s.mu is held.
func (s *sessionCache) unqueue(p *cachePlace) {
	if !p.queued {
		return
	}
	p.before.after, p.after.before = p.after, p.before
	p.before, p.after, p.queued = nil, nil, false
	s.queued--
}

// next returns the session that has been idle for longest and how much longer it stays, nil when none is idle. s.mu is
// held.
func (s *sessionCache) next() (*cachePlace, time.Duration) {
	p := s.idle.after
	if p == &s.idle {
		return nil, 0
	}
	stays := idleTime
	if s.queued > idleKept {
		stays = idleTimeMany
	}
	return p, stays - s.cfg.Sched.Now().Sub(p.idle)
}

// arm sets the timer for the session that leaves next. A timer that is set stays: it looks again. s.mu is held.
func (s *sessionCache) arm() {
	if !s.unloads || s.sweeping || s.timer != nil && s.queued != idleKept+1 {
		return
	}
	s.disarm()
	if p, left := s.next(); p != nil {
		s.timer = s.cfg.Sched.After(max(left, time.Millisecond), s.sweep)
	}
}

// disarm stops the timer. s.mu is held.
func (s *sessionCache) disarm() {
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
}

// sweep lets the sessions leave that have been idle for long enough.
func (s *sessionCache) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweeping {
		return
	}
	s.disarm()
	s.sweeping = true
	for s.unloads {
		p, left := s.next()
		if p == nil || left > 0 {
			break
		}
		s.leave(p)
	}
	s.sweeping = false
	s.arm()
}

// leave lets an idle session leave memory, unless a goroutine enters it before the journal has all of it. It reports
// whether it has left. s.mu is held, but for the time in between.
func (s *sessionCache) leave(p *cachePlace) bool {
	s.unqueue(p)
	s.turns++
	turn := s.turns
	p.leaving = turn
	s.mu.Unlock()
	err := s.rest(p.of)
	s.mu.Lock()
	if p.leaving != turn { // it was entered: Leave has queued it again, or will
		return false
	}
	p.leaving = 0
	if err != nil || !s.drop(p) {
		s.queue(p) // later
		return false
	}
	return true
}

// rest is Config.Rest, unless the gate is shut.
func (s *sessionCache) rest(of *Session) error {
	if !s.cfg.Gate.Enter() {
		return errShut
	}
	defer s.cfg.Gate.Leave()
	return s.cfg.Rest(of)
}

// Unload lets all sessions leave memory that are idle now, and returns how many have left.
func (s *sessionCache) Unload() (left int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range s.queued {
		p := s.idle.after
		if p == &s.idle {
			break
		}
		if s.leave(p) {
			left++
		}
	}
	return left
}
