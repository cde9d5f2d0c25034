package rules

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
)

// Restore returns the state of a session of which a snapshot was taken, perhaps under
// another Config. past are the calls that had ended by then, in any order: those that no window of
// this Config holds against later calls, and that cannot be undone, may be left
// out. Their ids are told apart, and from those of live calls. The events after
// the snapshot are applied to what Restore returns: that gives the same answers as
// Replay of all events. An error says that the snapshot contradicts itself.
func (e *Engine) Restore(of *Snapshot, past iter.Seq[PastCall]) (*State, error) {
	s := e.NewState()
	s.now, s.version, s.order = of.Now, of.Events, of.Order
	for i := range of.Runs {
		if err := s.restoreRun(&of.Runs[i]); err != nil {
			return nil, err
		}
	}
	for _, c := range of.Cooling {
		s.ownerOf(c.Principal).cool(s.recorded(c.Tool), c.End)
	}
	var held []heldCall
	for i := range of.Live {
		c, err := s.restoreLive(&of.Live[i])
		if err != nil {
			return nil, err
		}
		c.order = uint64(i + 1)
		held = append(held, heldCall{c, StatusUnknown})
	}
	if past != nil {
		for p := range past {
			if t := e.byName[p.Tool]; t != nil && (t.remembers() || t.undo > 0) {
				held = append(held, heldCall{s.restorePast(&p, t), p.Status})
			}
		}
	}
	s.holdAll(held)
	s.here = here{}
	return s, nil
}

// A heldCall is a call with how it has ended.
type heldCall struct {
	*call
	status Status
}

// holdAll holds calls against equal ones, in the order in which that was done at first, and lets those that
// can be undone expire.
func (s *State) holdAll(list []heldCall) {
	slices.SortFunc(list, func(a, b heldCall) int { return cmp.Compare(a.held, b.held) })
	for _, c := range list {
		if c.tool.remembers() {
			c.hold(s.now)
			if c.progress >= unknown {
				c.remember(c.status)
			}
		}
		if c.progress == done && c.tool.undo > 0 {
			s.expiring.add(c.tool.undoIndex, c.expires(), c.id)
		}
	}
	s.expiring.sort()
	for _, o := range s.owners {
		o.equal.expiring.sort()
		o.keys.expiring.sort()
	}
	s.Prune(s.now)
}

// recorded returns a tool by the name that it was recorded by. It may be retired.
func (s *State) recorded(name string) *tool {
	if t := s.engine.byName[name]; t != nil {
		return t
	}
	return s.retire(name)
}

// scopeIn returns the scope of calls of a tool in an open run.
func (s *State) scopeIn(r *run, tool, agent, principal string) scope {
	p := scope{tool: s.recorded(tool), run: r, facts: r.facts[principal], counts: r.counts[actor{agent, principal}], owner: s.owners[principal]}
	s.make(&p, principal, agent)
	return p
}

// ownerOf returns what a session remembers of a principal.
func (s *State) ownerOf(principal string) *owner {
	o := s.owners[principal]
	if o == nil {
		o = &owner{principal: principal, cooling: make([]cooling, s.engine.width())}
		s.owners[principal] = o
	}
	return o
}

// cool notes when the latest call of t has ended.
func (o *owner) cool(t *tool, end Instant) {
	o.cooling = widen(o.cooling, t.index+1)
	for _, c := range []*cooling{&o.cooling[t.index], &o.all} {
		if !c.ended || c.end < end {
			c.ended, c.end = true, end
		}
	}
}

// restoreRun adds an open run.
func (s *State) restoreRun(of *RunFacts) error {
	if s.runs[of.Run] != nil {
		return fmt.Errorf("run %q is in the snapshot twice", of.Run)
	}
	r := s.openRun(of.Run)
	r.began, r.ended, r.reminders, r.exits = of.Began, of.Ended, of.Reminders, of.Exits
	for _, u := range of.Slots {
		p := s.scopeIn(r, u.Tool, u.Agent, u.Principal)
		p.counts.used[p.tool.index] += int32(u.Used)
		p.facts.spent += u.Used
	}
	for _, f := range of.Facts {
		p := s.scopeIn(r, f.Tool, "", f.Principal)
		p.facts.successes[p.tool.index] += int32(f.Succeeded)
		p.facts.holding[p.tool.index] += int32(f.Holding)
		r.successes[p.tool.index] += int32(f.Succeeded)
	}
	for _, f := range r.facts {
		f.unstarted = len(f.without(s.engine.starts))
	}
	r.open = len(s.engine.pending(r))
	return nil
}

// restoreLive adds a call that has not ended, or of which it is not known how.
func (s *State) restoreLive(of *LiveCall) (*call, error) {
	r := s.runs[of.Run]
	switch {
	case of.Run != "" && r == nil:
		return nil, fmt.Errorf("call %q is in run %q, which is not in the snapshot", of.Call, of.Run)
	case of.Run == "" && of.Progress < started:
		return nil, fmt.Errorf("call %q has not started, and its run is closed", of.Call)
	case of.Progress > unknown:
		return nil, fmt.Errorf("call %q: %s is not how far a live call has come", of.Call, of.Progress)
	case s.calls.find(of.Call) != nil:
		return nil, fmt.Errorf("call %q is in the snapshot twice", of.Call)
	}
	c := s.calls.open(of.Call)
	c.tool, c.owner, c.args, c.key = s.recorded(of.Tool), s.ownerOf(of.Principal), of.Args, of.Key
	c.held, c.progress, c.end = of.Order, of.Progress, of.End
	if r != nil {
		p := s.scopeIn(r, of.Tool, of.Agent, of.Principal)
		c.run, c.facts, c.counts = r, p.facts, p.counts
	}
	switch {
	case c.progress == unknown && r != nil:
		r.keep(c)
	case c.progress == unknown:
	case r != nil:
		r.live = append(r.live, c)
	default:
		s.strays = append(s.strays, c)
	}
	if c.progress == asked {
		r.waiting++
	} else if c.progress < unknown {
		c.owner.cooling = widen(c.owner.cooling, c.tool.index+1)
		c.owner.cooling[c.tool.index].begin()
		c.owner.all.begin()
	}
	return c, nil
}

// restorePast returns a call that has ended. It is one of the calls of s when it can be undone.
func (s *State) restorePast(of *PastCall, t *tool) *call {
	c := &call{id: of.Call}
	if t.undo > 0 {
		c = s.calls.open(of.Call)
	}
	c.tool, c.owner, c.args, c.key = t, s.ownerOf(of.Principal), of.Args, of.Key
	c.held, c.progress, c.end = of.Order, done, of.End
	c.succeeded, c.exited = of.Status == StatusOK, of.Exited
	if r := s.runs[of.Run]; t.undo > 0 && r != nil && of.Order > r.began { // else that run was closed, and another one has its id
		c.run, c.facts = r, r.facts[of.Principal]
		r.keep(c)
	}
	return c
}
