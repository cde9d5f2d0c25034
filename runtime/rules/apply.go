package rules

import (
	"fmt"
	"math"
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

// Apply adds a recorded fact to s. It applies no rule of the Config: the fact has
// happened already (SEMANTICS section 6). Calls of tools that the Config does not
// name any more count for what all tools share. An error says that ev cannot follow
// the events before it, and leaves s as it was.
func (s *State) Apply(ev *Event) error {
	switch ev.Kind {
	case EventRunStarted, EventStopped, EventRunClosed:
		return s.applyRun(ev)
	case EventAdmitted, EventAsked:
		return s.applyEntry(ev)
	case EventUndone:
		return s.applyUndone(ev)
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
		s.finish(c, ev)
	}
	return nil
}

// legal reports whether ev may happen to c (SEMANTICS 4.1).
func legal(ev *Event, c *call) bool {
	switch ev.Kind {
	case EventRebound, EventResumed:
		return c.progress == asked
	case EventStarted:
		return c.progress == reserved
	case EventReleased:
		return c.progress <= started
	case EventFinished:
		again := c.progress == unknown && ev.Status != StatusUnknown
		return (c.progress == started || again) && ev.Status >= StatusOK && ev.Status <= StatusUnknown &&
			(ev.State == RunRunning || ev.Status == StatusOK && (ev.State == RunCleanup || ev.State == RunFinished))
	}
	return false
}

// tick counts ev and moves the time on.
func (s *State) tick(ev *Event) {
	s.version++
	s.now = max(s.now, ev.At)
}

// applyEntry admits or asks the call of ev (SEMANTICS 6.5).
func (s *State) applyEntry(ev *Event) error {
	p := s.find(ev.Tool, ev.Run, ev.Agent, ev.Principal)
	earlier := s.calls.find(ev.Call)
	switch {
	case p.run == nil:
		return fmt.Errorf("call %q: run %q is not open", ev.Call, ev.Run)
	case earlier != nil && earlier.progress != done:
		return fmt.Errorf("call %q was made before", ev.Call)
	case earlier != nil: // where it was recorded an ended call was forgotten earlier
		s.drop(earlier)
	}
	if p.tool == nil {
		p.tool = s.retire(ev.Tool)
	}
	s.enter(ev, &p)
	return nil
}

// enter reserves what the call of ev uses (SEMANTICS 4.2, 4.3, 4.6, 4.10 and 4.21).
func (s *State) enter(ev *Event, p *scope) {
	s.tick(ev)
	s.make(p, ev.Principal, ev.Agent)
	s.sweepCalls(s.now, sweptAtOnce)
	c := s.calls.open(ev.Call)
	c.tool, c.run, c.facts, c.counts, c.owner = p.tool, p.run, p.facts, p.counts, p.owner
	c.args, c.key = ev.Args, ev.Key
	s.order++
	c.order, c.held = s.order, s.order
	c.run.live = append(c.run.live, c)
	c.counts.used[c.tool.index]++
	c.facts.spent++
	c.facts.holding[c.tool.index]++
	if c.tool.remembers() {
		c.hold(s.now)
	}
	if ev.Kind == EventAsked {
		c.run.waiting++
		return
	}
	c.ready()
}

// ready reserves the cooldown of a call that is about to start.
func (c *call) ready() {
	c.progress = reserved
	c.owner.cooling[c.tool.index].begin()
	c.owner.all.begin()
}

// abandon releases the cooldown of a call that never starts.
func (c *call) abandon() {
	c.owner.cooling[c.tool.index].abandon()
	c.owner.all.abandon()
}

// resume binds a waiting call to the arguments of ev, and admits it to start when ev
// is EventResumed.
func (s *State) resume(ev *Event, c *call) {
	s.tick(ev)
	if c.args != ev.Args || c.key != ev.Key {
		c.forget()
		c.args, c.key = ev.Args, ev.Key
		s.order++
		c.held = s.order
		c.hold(s.now)
	}
	if ev.Kind == EventResumed {
		c.run.waiting--
		c.ready()
	}
}

// release releases all that c holds (SEMANTICS 4.2 and 4.10).
func (s *State) release(c *call) {
	if c.progress == asked {
		c.run.waiting--
	} else {
		c.abandon()
	}
	if c.run != nil { // what a closed run held was released with it
		c.counts.used[c.tool.index]--
		c.facts.spent--
		c.facts.holding[c.tool.index]--
	}
	c.forget()
	s.leave(c)
	s.calls.recycle(c)
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

// finish notes how the invocation of c ended, or how an interrupted one
// had (SEMANTICS 4.1, 4.2, 4.7, 4.10, 4.14 and 4.20).
func (s *State) finish(c *call, ev *Event) {
	if c.progress == started {
		c.end = s.now
		c.owner.cooling[c.tool.index].finish(s.now)
		c.owner.all.finish(s.now)
		s.leave(c)
	}
	if c.tool.remembers() {
		c.remember(ev.Status)
	}
	if ev.Status == StatusOK {
		c.succeeded = true
		s.succeed(c, ev.State)
	}
	s.noteEnd(c, ev.Status)
	again := c.progress == unknown
	c.progress = done
	switch {
	case ev.Status == StatusUnknown:
		c.progress = unknown
	case ev.Status == StatusError || c.tool.undo == 0:
		s.drop(c)
		return
	}
	if c.progress == done {
		s.expiring.add(c.tool.undoIndex, c.expires(), c.id)
	}
	if c.run != nil && !again {
		c.run.keep(c)
	}
}

// applyUndone revokes the success of the call of ev and releases its groups: the event
// has all that this needs, since s may have dropped the call (SEMANTICS 4.10, 4.20 and 6.5).
func (s *State) applyUndone(ev *Event) error {
	c := s.calls.find(ev.Call)
	if c != nil && c.progress < unknown {
		return fmt.Errorf("call %q: it cannot be undone before it has ended", ev.Call)
	}
	p := s.find(ev.Tool, ev.Run, "", ev.Principal)
	if p.tool == nil {
		p.tool = s.retire(ev.Tool)
	}
	if ev.Run != "" && !p.facts.holds(p.tool) {
		return fmt.Errorf("call %q: run %q is not open, or has no such call", ev.Call, ev.Run)
	}
	s.tick(ev)
	p.owner.forget(p.tool, ev.Call, ev.Args, ev.Key)
	if ev.Run != "" {
		p.facts.holding[p.tool.index]--
		if ev.Status == StatusOK {
			s.unsucceed(&p, ev.State)
		}
	}
	if c != nil {
		s.drop(c)
	}
	return nil
}

// drop forgets a call that has ended.
func (s *State) drop(c *call) {
	if c.run != nil {
		c.run.unkeep(c)
	}
	s.calls.recycle(c)
}

// expires is when c can no longer be undone.
func (c *call) expires() Instant { return c.end.Add(c.tool.undo) }

// sweepCalls forgets at most so many calls that can no longer be undone, unless their run
// is open: closing it forgets them. One of which it is not known how it ended is
// never forgotten.
func (s *State) sweepCalls(now Instant, most int) {
	for range most {
		id, ok := s.expiring.take(now)
		if !ok {
			return
		}
		c := s.calls.find(id)
		switch {
		case c == nil || c.progress != done || now < c.expires(): // undone, or another call of that id
		case c.run == nil:
			s.drop(c)
		default:
			c.expired = true
		}
	}
}

// Prune drops all that no longer matters at a time. It changes no answer from then
// on. Admissions do the same, a bounded number of calls each.
func (s *State) Prune(at Instant) {
	now := max(s.now, at)
	s.sweepCalls(now, math.MaxInt)
	for _, o := range s.owners {
		o.equal.sweep(now, math.MaxInt)
		o.keys.sweep(now, math.MaxInt)
	}
}
