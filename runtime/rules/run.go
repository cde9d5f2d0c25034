package rules

import (
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
)

// A RunState is the state of a run.
type RunState uint8

// The states of a run.
const (
	RunRunning    RunState = iota
	RunWaiting             // a call waits for consent
	RunCleanup             // an exit tool has succeeded, required tools are open
	RunFinished            // no call is admitted any more
	RunIncomplete          // as finished, but required tools were open
	RunClosed              // or never started
)

var runStateNames = [...]string{"running", "waiting", "cleanup", "finished", "incomplete", "closed"}

// String returns the name of s, such as cleanup.
func (r RunState) String() string { return nameOf("run state", runStateNames[:], r) }

// MarshalText returns the name of r.
func (r RunState) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText sets r to the state that text names.
func (r *RunState) UnmarshalText(text []byte) error {
	return parseName("run state", runStateNames[:], text, r)
}

// Ended reports whether no call is admitted any more.
func (s RunState) Ended() bool { return s >= RunFinished }

// A RunStatus is the state of a run with its open calls and requirements.
type RunStatus struct {
	State       RunState
	PendingExit []string // required tools that are open, in declaration order
	Waiting     []string // calls that wait for consent, in the order of their admission
	Running     []string // calls that are admitted to start, or started
	Reminders   int      // given to a model that stopped
}

// Status returns the status of a run (SEMANTICS 4.15).
func (s *State) Status(run string) RunStatus {
	r := s.runOf(run)
	if r == nil {
		return RunStatus{State: RunClosed, PendingExit: []string{}}
	}
	st := RunStatus{State: r.state(), PendingExit: namesOf(s.engine.pending(r)), Reminders: r.reminders}
	for _, c := range r.live {
		if c.progress == asked {
			st.Waiting = append(st.Waiting, c.id)
		} else {
			st.Running = append(st.Running, c.id)
		}
	}
	return st
}

// RunState returns the state of a run.
func (s *State) RunState(run string) RunState {
	r := s.runOf(run)
	if r == nil {
		return RunClosed
	}
	return r.state()
}

// state keeps SEMANTICS 4.15.
func (r *run) state() RunState {
	switch {
	case r.ended != RunRunning:
		return r.ended
	case r.exits > 0 && r.open == 0: // by a Config under which less is required than when it was recorded
		return RunFinished
	case r.exits > 0:
		return RunCleanup
	case r.waiting > 0:
		return RunWaiting
	}
	return RunRunning
}

// applyRun starts, stops or closes the run of ev.
func (s *State) applyRun(ev *Event) error {
	r := s.runs[ev.Run]
	if open := r != nil; open == (ev.Kind == EventRunStarted) {
		if open {
			return fmt.Errorf("run %q is open", ev.Run)
		}
		return fmt.Errorf("run %q is not open", ev.Run)
	}
	s.tick(ev)
	switch ev.Kind {
	case EventRunStarted:
		s.openRun(ev.Run)
	case EventStopped:
		r.stop(ev.State)
	case EventRunClosed:
		s.closeRun(r)
	}
	return nil
}

// openRun adds a run in which nothing has happened.
func (s *State) openRun(id string) *run {
	r := &run{
		id: id, began: s.order, open: len(s.engine.required), successes: make([]int32, s.engine.width()),
		facts: map[string]*facts{}, counts: map[actor]*counts{},
	}
	s.runs[id] = r
	return r
}

// idle reports whether a model that answers without a call changes r (SEMANTICS 4.15).
func (r *run) idle() bool { return r.ended == RunRunning && r.waiting == 0 }

// stopped returns what a model that answers without a call makes of r; running
// when it is reminded, or nothing changes (SEMANTICS 4.15).
func (r *run) stopped(reminders int) RunState {
	switch {
	case !r.idle():
	case r.open == 0:
		return RunFinished
	case r.reminders >= reminders:
		return RunIncomplete
	}
	return RunRunning
}

// stop adds to r that its model answered without a call, which made it become.
func (r *run) stop(become RunState) {
	switch {
	case !r.idle():
	case become == RunRunning:
		r.reminders++
	default:
		r.ended = become
	}
}

// closeRun drops r, and its calls that have not started (SEMANTICS 1.1 and 4.10).
func (s *State) closeRun(r *run) {
	for _, c := range r.live {
		if c.progress < started {
			if c.progress == reserved {
				c.abandon()
			}
			c.forget()
			s.calls.drop(c)
		} else {
			s.strays = append(s.strays, c)
		}
	}
	for _, c := range r.live {
		c.run, c.facts, c.counts = nil, nil, nil
	}
	for c := r.kept; c != nil; {
		next := c.next
		c.run, c.facts, c.counts, c.next, c.prev = nil, nil, nil, nil, nil
		if c.expired {
			s.calls.recycle(c)
		}
		c = next
	}
	delete(s.runs, r.id)
	s.here = here{}
}

// keep adds to r a call that has ended and that can still change.
func (r *run) keep(c *call) {
	if c.next = r.kept; c.next != nil {
		c.next.prev = c
	}
	r.kept = c
}

// unkeep undoes keep, if that was done.
func (r *run) unkeep(c *call) {
	if c.next != nil {
		c.next.prev = c.prev
	}
	switch {
	case c.prev != nil:
		c.prev.next = c.next
	case r.kept == c:
		r.kept = c.next
	}
	c.next, c.prev = nil, nil
}

// achieves returns what a success of c makes of its run: that clean-up begins, or
// goes on, with an exit tool, or that the run has finished. Running: nothing (SEMANTICS 4.14).
func (c *call) achieves() RunState {
	r, t := c.run, c.tool
	if r == nil || r.ended != RunRunning || r.exits == 0 && !t.exit {
		return RunRunning
	}
	open := r.open
	if t.required && t.total(r.successes) == 0 {
		open--
	}
	switch {
	case open == 0:
		return RunFinished
	case t.exit:
		return RunCleanup
	}
	return RunRunning
}

// succeed counts a success of c for the rules of later calls, and sets the state that
// its run has by it (SEMANTICS 4.11 and 6.5).
func (s *State) succeed(c *call, become RunState) {
	r, t := c.run, c.tool
	if r == nil {
		return
	}
	c.facts.successes[t.index]++
	if t.start && t.total(c.facts.successes) == 1 {
		c.facts.unstarted--
	}
	r.successes[t.index]++
	if t.required && t.total(r.successes) == 1 {
		r.open--
	}
	switch become {
	case RunCleanup:
		c.exited = true
		r.exits++
	case RunFinished:
		r.ended = RunFinished
	}
}

// unsucceed reverts at p what succeed did. A run that has ended stays ended (SEMANTICS 4.1 and 4.20).
func (s *State) unsucceed(p *scope, become RunState) {
	r, t := p.run, p.tool
	p.facts.successes[t.index]--
	if t.start && t.total(p.facts.successes) == 0 {
		p.facts.unstarted++
	}
	r.successes[t.index]--
	if t.required && t.total(r.successes) == 0 {
		r.open++
	}
	if become == RunCleanup {
		r.exits--
	}
}

// A Result is how a call went, as far as the loop is concerned.
type Result uint8

// The results.
const (
	ResultRefused   Result = iota // or answered as a duplicate
	ResultPending                 // waits for consent
	ResultFailed                  // the handler was started and did not succeed
	ResultSucceeded               // the handler succeeded
	ResultHeld                    // refused only because calls wait for consent
)

// Hint returns what the loop should do after a call of a tool, in the present state
// of its run. heartbeat says that the call asked to be continued (SEMANTICS 4.18).
func (s *State) Hint(run, name string, result Result, heartbeat bool) runtime.Loop {
	state := s.RunState(run)
	t := s.toolOf(name)
	switch {
	case state.Ended():
		return runtime.LoopExit
	case result == ResultPending, result == ResultHeld:
		return runtime.LoopWait
	case result != ResultSucceeded, state == RunCleanup, heartbeat, t != nil && t.goesOn:
		return runtime.LoopContinue
	}
	return runtime.LoopYield
}
