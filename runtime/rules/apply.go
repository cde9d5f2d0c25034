package rules

import (
	"fmt"
	"slices"
)

// Replay returns the state that events make of a new one.
func (e *Engine) Replay(events []Event) (*State, error) {
	s := e.NewState()
	for i := range events {
		if err := s.Apply(&events[i]); err != nil {
			return nil, fmt.Errorf("event %d: %w", i, err)
		}
	}
	return s, nil
}

// Apply adds a recorded fact to s. It judges nothing: what happened has
// happened. An error says that ev cannot follow the events before it, and
// leaves s as it was.
func (s *State) Apply(ev *Event) error {
	switch ev.Kind {
	case EventRunStarted, EventStopped, EventRunClosed:
		return s.applyRun(ev)
	case EventAdmitted, EventAsked:
		return s.applyEntry(ev)
	}
	c := s.calls.find(ev.Call)
	if c == nil {
		return fmt.Errorf("call %q is not known, or nothing can change it any more", ev.Call)
	}
	if !legal(ev, c) {
		return fmt.Errorf("call %q: event %d with status %d cannot follow progress %d", ev.Call, ev.Kind, ev.Status, c.progress)
	}
	switch ev.Kind {
	case EventRebound, EventResumed:
		s.resume(ev, c)
	case EventStarted:
		s.tick(ev)
		c.progress = started
	case EventReleased:
		s.tick(ev)
		s.release(c)
	case EventFinished:
		s.tick(ev)
		s.finish(c, ev.Status)
	case EventUndone:
		s.tick(ev)
		s.undo(c)
	}
	return nil
}

// legal reports whether ev may happen to c.
func legal(ev *Event, c *call) bool {
	switch ev.Kind {
	case EventRebound, EventResumed:
		return c.progress == asked
	case EventStarted:
		return c.progress == reserved
	case EventReleased:
		return c.progress <= reserved
	case EventFinished:
		again := c.progress == unknown && ev.Status != StatusUnknown
		return (c.progress == started || again) && ev.Status >= StatusOK && ev.Status <= StatusUnknown
	case EventUndone:
		return c.tool.undo > 0 && c.progress >= unknown
	}
	return false
}

// tick counts ev and moves the time on.
func (s *State) tick(ev *Event) {
	s.version++
	s.now = max(s.now, ev.At)
}

// applyEntry admits or asks the call of ev.
func (s *State) applyEntry(ev *Event) error {
	p := s.find(ev.Tool, ev.Run, ev.Agent, ev.Principal)
	switch {
	case p.tool == nil:
		return fmt.Errorf("call %q: tool %q is not declared", ev.Call, ev.Tool)
	case p.run == nil:
		return fmt.Errorf("call %q: run %q is not open", ev.Call, ev.Run)
	case s.calls.find(ev.Call) != nil:
		return fmt.Errorf("call %q was made before", ev.Call)
	}
	s.enter(ev, &p)
	return nil
}

// enter reserves what the call of ev uses.
func (s *State) enter(ev *Event, p *place) {
	s.tick(ev)
	s.make(p, ev.Principal, ev.Agent)
	if s.calls.size() >= s.sweepAt {
		s.sweepCalls(s.now)
	}
	c := s.calls.open(ev.Call)
	c.tool, c.run, c.facts, c.counts, c.owner = p.tool, p.run, p.facts, p.counts, p.owner
	c.args, c.key = ev.Args, ev.Key
	c.run.live = append(c.run.live, c)
	c.counts.used[c.tool.index]++
	c.facts.spent++
	for _, g := range c.tool.groups {
		c.facts.claims[g].holder = c.tool
		c.facts.claims[g].calls++
	}
	if c.tool.remembers() {
		c.hold(s.now)
	}
	if ev.Kind == EventAsked {
		c.run.waiting++
		return
	}
	c.ready()
}

// ready takes the cooldown of a call that is about to start.
func (c *call) ready() {
	c.progress = reserved
	c.owner.cooling[c.tool.index].busy++
}

// resume binds a waiting call to the arguments of ev, and lets it go on when
// that is what ev says.
func (s *State) resume(ev *Event, c *call) {
	s.tick(ev)
	if c.args != ev.Args || c.key != ev.Key {
		c.forget()
		c.args, c.key = ev.Args, ev.Key
		c.hold(s.now)
	}
	if ev.Kind == EventResumed {
		c.run.waiting--
		c.ready()
	}
}

// release gives back all that c holds.
func (s *State) release(c *call) {
	if c.progress == asked {
		c.run.waiting--
	} else {
		c.owner.cooling[c.tool.index].busy--
	}
	c.counts.used[c.tool.index]--
	c.facts.spent--
	c.unclaim()
	c.forget()
	s.leave(c)
	s.calls.recycle(c)
}

// unclaim gives back the groups of c.
func (c *call) unclaim() {
	for _, g := range c.tool.groups {
		if k := &c.facts.claims[g]; k.calls > 1 {
			k.calls--
		} else {
			*k = claim{}
		}
	}
}

// leave takes c out of the calls that have not ended.
func (s *State) leave(c *call) {
	live := &s.strays
	if c.run != nil {
		live = &c.run.live
	}
	i := slices.Index(*live, c)
	*live = slices.Delete(*live, i, i+1)
}

// finish notes how the invocation of c ended, or how an interrupted one had.
func (s *State) finish(c *call, status Status) {
	if c.progress == started {
		c.end = s.now
		cool := &c.owner.cooling[c.tool.index]
		cool.busy--
		cool.ended, cool.end = true, s.now
		s.leave(c)
	}
	if c.tool.remembers() {
		c.remember(status)
	}
	if status == StatusOK {
		c.succeeded = true
		s.succeed(c)
	}
	c.progress = done
	if status == StatusUnknown {
		c.progress = unknown
	} else if status == StatusError || c.tool.undo == 0 {
		s.calls.recycle(c)
	}
}

// undo takes back what c opened and the groups that it holds.
func (s *State) undo(c *call) {
	c.forget()
	if c.run != nil {
		c.unclaim()
		if c.succeeded {
			s.unsucceed(c)
		}
	}
	s.calls.recycle(c)
}

// sweepCalls drops calls that can no longer be undone.
func (s *State) sweepCalls(now Instant) {
	s.calls.all(func(c *call) {
		if c.progress == done && c.run == nil && c.end.Add(c.tool.undo) <= now {
			s.calls.drop(c)
		}
	})
	s.sweepAt = max(minSweep, 2*s.calls.size())
}

// Prune drops what no longer matters at a time. It changes no answer from then
// on; a State also prunes itself whenever what it remembers has doubled.
func (s *State) Prune(at Instant) {
	now := max(s.now, at)
	s.sweepCalls(now)
	for _, o := range s.owners {
		o.equal.sweep(now)
		o.keys.sweep(now)
	}
}
