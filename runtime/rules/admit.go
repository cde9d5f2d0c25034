package rules

import "fmt"

// Admit checks c and, when no rule refuses it, reserves in one step what it
// uses: its slot, its groups, its cooldown and its place among equal calls.
// When c is not admitted Admit reserves nothing, and the caller drops the event.
func (s *State) Admit(at Instant, c *Call) (Verdict, Event) {
	return s.reserve(EventAdmitted, at, c)
}

// Ask is Admit for a call that waits for consent. The cooldown is left to
// Resume, so that several calls of a cooling tool can be asked.
func (s *State) Ask(at Instant, c *Call) (Verdict, Event) {
	return s.reserve(EventAsked, at, c)
}

// reserve makes its event in place, as record does: an Event is large. A refused call uses up
// nothing (SEMANTICS 4.5).
func (s *State) reserve(kind EventKind, at Instant, c *Call) (v Verdict, ev Event) {
	p := s.scopeOf(c)
	if v = s.check(max(at, s.now), c, &p, nil); v.Admitted() {
		ev.of(kind, at, c)
		s.enter(&ev, &p)
	}
	return v, ev
}

// Resume checks a call that was asked once more, without its own reservation,
// and admits it to start. Its arguments may have changed since. A call that is
// refused keeps its reservation until Release. A call that does not wait, because
// its run was closed, is refused as run_finished.
func (s *State) Resume(at Instant, c *Call) (Verdict, Event) {
	return s.again(EventResumed, at, c)
}

// Rebind is Resume for a call that goes on waiting, with other arguments.
func (s *State) Rebind(at Instant, c *Call) (Verdict, Event) {
	return s.again(EventRebound, at, c)
}

// again keeps SEMANTICS 4.5.
func (s *State) again(kind EventKind, at Instant, c *Call) (Verdict, Event) {
	v := s.Recheck(at, c)
	if !v.Admitted() {
		return v, Event{}
	}
	var ev Event
	ev.of(kind, at, c)
	s.resume(&ev, s.calls.find(c.ID))
	return v, ev
}

// Commit records that the handler of an admitted call starts.
func (s *State) Commit(at Instant, call string) (Event, error) {
	return s.change(EventStarted, at, call)
}

// Release releases all that a call has reserved: its handler never starts. It may
// follow Commit, when the caller did not start the handler after all.
func (s *State) Release(at Instant, call string) (Event, error) {
	return s.change(EventReleased, at, call)
}

// Finish records how the invocation of a call ended. After StatusUnknown it may be
// called once more, when the outcome has become known.
func (s *State) Finish(at Instant, call string, status Status) (ev Event, err error) {
	ev.Kind, ev.At, ev.Call, ev.Status = EventFinished, at, call, status
	if c := s.calls.find(call); c != nil && status == StatusOK {
		ev.State = c.achieves()
	}
	err = s.apply(&ev)
	return ev, err
}

// Undo records that the effects of a call were undone: its success no longer counts
// and its groups are free, but neither its slot nor its cooldown is released. An equal
// call is no duplicate of it any more.
func (s *State) Undo(at Instant, call string) (Event, error) {
	ev, err := s.Undoing(at, call)
	if err != nil {
		return Event{}, err
	}
	return s.record(ev)
}

// Undoing returns the event of Undo and changes nothing: it is recorded before the
// undo is committed, and Apply adds it when that is known (SEMANTICS 4.20).
func (s *State) Undoing(at Instant, call string) (Event, error) {
	c := s.calls.find(call)
	if c == nil || c.tool.undo <= 0 || c.progress < unknown {
		return Event{}, fmt.Errorf("call %q cannot be undone: it is not known, has not ended, or its tool declares no undo", call)
	}
	ev := Event{Kind: EventUndone, At: at, Call: call, Principal: c.owner.principal, Tool: c.tool.name, Args: c.args, Key: c.key}
	if c.run != nil {
		ev.Run = c.run.id
		if c.succeeded {
			ev.Status = StatusOK
		}
		if c.exited {
			ev.State = RunCleanup
		}
	}
	return ev, nil
}

// StartRun begins a run.
func (s *State) StartRun(at Instant, run string) (Event, error) {
	return s.record(Event{Kind: EventRunStarted, At: at, Run: run})
}

// Stop records that the model of a run answered without a call. Status returns the
// state of the run after it.
func (s *State) Stop(at Instant, run string) (Event, error) {
	ev := Event{Kind: EventStopped, At: at, Run: run}
	if r := s.runOf(run); r != nil {
		ev.State = r.stopped(s.engine.reminders)
	}
	return s.record(ev)
}

// CloseRun ends a run in any state and releases what it held. It returns the calls
// that thereby never start, in the order in which they were admitted; calls that
// have started go on, and their ends count for the session.
func (s *State) CloseRun(at Instant, run string) ([]string, Event, error) {
	var dropped []string
	if r := s.runOf(run); r != nil {
		for _, c := range r.live {
			if c.progress < started {
				dropped = append(dropped, c.id)
			}
		}
	}
	ev, err := s.record(Event{Kind: EventRunClosed, At: at, Run: run})
	if err != nil {
		return nil, Event{}, err
	}
	return dropped, ev, nil
}

func (s *State) record(in Event) (ev Event, err error) {
	ev = in
	err = s.apply(&ev)
	return ev, err
}

// change is record for what happens to a call.
func (s *State) change(kind EventKind, at Instant, call string) (ev Event, err error) {
	ev.Kind, ev.At, ev.Call = kind, at, call
	err = s.apply(&ev)
	return ev, err
}

// apply is Apply, and clears an event that cannot happen.
func (s *State) apply(ev *Event) error {
	err := s.Apply(ev)
	if err != nil {
		*ev = Event{}
	}
	return err
}
