package engine

// callsOf returns the calls of a run, an empty list when the run is not known. s.mu is held.
func (s *Session) callsOf(run string) *runCalls {
	x := s.byRun[run]
	if x == nil {
		x = &runCalls{id: run}
		s.byRun[run] = x
	}
	return x
}

// openPart returns the part of a new run. s.mu is held.
func (s *Session) openPart(run string) *part {
	p := &part{calls: s.callsOf(run)}
	s.parts[run] = p
	return p
}

// closePart forgets the part of a run, and the run if no call was made in it. s.mu is held.
func (s *Session) closePart(run string) {
	delete(s.parts, run)
	if x := s.byRun[run]; x != nil && x.last == nil {
		delete(s.byRun, run)
	}
}
