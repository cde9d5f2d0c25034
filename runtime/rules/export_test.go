package rules

// WithoutLedger calls f while s finds no calls: what walks all calls, and not those of
// one run, meets none.
func (s *State) WithoutLedger(f func()) {
	calls := s.calls
	s.calls = ledger{}
	f()
	s.calls = calls
}

// DropQueues takes away what says which calls and windows expire when: only what walks
// all of them finds those that have expired.
func (s *State) DropQueues() {
	s.expiring = expiring[string]{}
	for _, o := range s.owners {
		o.equal.expiring, o.keys.expiring = expiring[memoryKey]{}, expiring[memoryKey]{}
	}
}
