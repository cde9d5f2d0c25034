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

// openNode returns the node of a new run. s.mu is held.
func (s *Session) openNode(run string, metadata map[string]string) *runNode {
	p := &runNode{calls: s.callsOf(run), metadata: metadata}
	s.nodes[run] = p
	return p
}

// closeNode forgets the node of a run, and the run if no call was made in it. s.mu is held.
func (s *Session) closeNode(run string) {
	delete(s.nodes, run)
	if x := s.byRun[run]; x != nil && x.last == nil {
		delete(s.byRun, run)
	}
}
