package engine

// seat returns the session with an id, which may have to be loaded and may have no entries.
func (e *Executor) seat(id string) *Session {
	return e.sessions.Of(id, func() *Session { return e.newSession(&SessionConfig{ID: id}) })
}

// recall loads the session of a request or a grant that is not in memory.
func (e *Executor) recall(id string) {
	if _, known := e.approvals.Request(id); !known {
		e.sessionOf(e.holdings.SessionOf(id))
	}
}

// recallAll loads the sessions with requests or grants, once: these stay in memory when the
// sessions do not (SEMANTICS 6.7.15).
func (e *Executor) recallAll() {
	for _, id := range e.holdings.Asked(e.sched.Now(), e.approvals.Has) {
		e.sessionOf(id)
	}
}
