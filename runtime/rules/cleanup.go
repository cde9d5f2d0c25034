package rules

import "slices"

// cleansUp reports whether t may run during clean-up (SEMANTICS section 4.14): it is
// a required tool that is not met, or an unmet prerequisite of one, directly or
// not. A start tool is a prerequisite of every tool that is none.
func (e *Engine) cleansUp(t *tool, met, succeeded func(*tool) bool) bool {
	todo := slices.DeleteFunc(slices.Clone(e.required), met)
	seen := make([]bool, len(e.tools))
	for len(todo) > 0 {
		u := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if u == t {
			return true
		}
		if !seen[u.index] {
			seen[u.index] = true
			todo = e.appendUnmet(todo, u, succeeded)
		}
	}
	return false
}

// Barred returns run_finished or exiting when no call of a tool is admitted in a run any more,
// whatever its arguments are, and zero otherwise (SEMANTICS section 4.14).
func (s *State) Barred(run, agent, principal, name string) Reason {
	p := s.around(run, agent, principal)
	p.tool = s.toolOf(name)
	switch {
	case p.tool == nil:
		return ReasonUnknownTool
	case p.run == nil || p.run.state().Ended():
		return ReasonRunFinished
	case p.run.exits > 0 && !s.cleansUp(&p):
		return ReasonExiting
	}
	return 0
}

// Moot returns the calls of a run that wait for consent and that no approval lets start any more, in the order of their
// admission, and what the rules say of them: all of them once the run has ended, and in clean-up those that may not run
// (SEMANTICS 4.14.10).
func (s *State) Moot(run string) (ids []string, why Verdict) {
	r := s.runOf(run)
	if r == nil || r.waiting == 0 || r.exits == 0 && !r.state().Ended() {
		return nil, Verdict{}
	}
	over := r.state().Ended()
	for _, c := range r.live {
		p := scope{tool: c.tool, run: r, facts: c.facts}
		if c.progress == asked && (over || c.tool.retired || !s.cleansUp(&p)) {
			ids = append(ids, c.id)
		}
	}
	if over {
		return ids, refuse(Violation{Reason: ReasonRunFinished})
	}
	return ids, refuse(Violation{Reason: ReasonExiting, PendingExit: namesOf(s.engine.pending(r))})
}

// appendUnmet appends the tools whose success t still waits for: of an any list
// all while none has succeeded.
func (e *Engine) appendUnmet(list []*tool, t *tool, succeeded func(*tool) bool) []*tool {
	add := func(from []*tool) {
		for _, o := range from {
			if !succeeded(o) {
				list = append(list, o)
			}
		}
	}
	if !t.start {
		add(e.starts)
	}
	if !t.needsAny || !slices.ContainsFunc(t.needs, succeeded) {
		add(t.needs)
	}
	return list
}
