package engine

import "iter"

// A runCalls links the records of the calls of one run, in a list through the records. All parts of
// a run share it, and so do consecutive runs of one session with the same id. The session guards
// it.
type runCalls struct {
	id   string
	last *callRecord // nil: no call was made
}

// add adds the record of the last call of the run.
func (x *runCalls) add(r *callRecord) { r.run, r.before, x.last = x, x.last, r }

// all yields the records, that of the last call first. The zero pointer has none.
func (x *runCalls) all() iter.Seq[*callRecord] {
	return func(yield func(*callRecord) bool) {
		if x == nil {
			return
		}
		for r := x.last; r != nil; r = r.before {
			if !yield(r) {
				return
			}
		}
	}
}

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
