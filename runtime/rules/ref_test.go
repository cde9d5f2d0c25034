package rules_test

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime/rules"
)

// reference is the engine as the manual says it, and slow: it keeps nothing but
// the configuration and the events, and works every answer out of them anew.
type reference struct {
	cfg    rules.Config
	events []rules.Event
}

// refCall is what the events say of one call.
type refCall struct {
	id, run, agent, principal string
	tool                      rules.Tool
	args, key                 rules.Digest
	asked, started            bool
	released, undone, closed  bool // closed: its run was, so that its facts are gone
	exited                    bool // its success began the clean-up of its run
	status                    rules.Status
	end                       rules.Instant
	held                      int // the event by which it got its arguments
}

func (c *refCall) ended() bool { return c.released || c.status != 0 }

// usesSlot: reserved at admission, released if it never starts.
func (c *refCall) usesSlot() bool { return !c.released && !c.closed }

func (c *refCall) succeeded() bool {
	return c.status == rules.StatusOK && !c.undone && !c.closed
}

func (r *reference) now() rules.Instant {
	var now rules.Instant
	for _, e := range r.events {
		now = max(now, e.At)
	}
	return now
}

func (r *reference) tool(name string) (rules.Tool, bool) {
	i := slices.IndexFunc(r.cfg.Tools, func(t rules.Tool) bool { return t.Name == name || slices.Contains(t.Former, name) })
	if i < 0 {
		return rules.Tool{}, false
	}
	return r.cfg.Tools[i], true
}

// calls reads the events. A call id that is used again after the first use was
// forgotten names a new call.
func (r *reference) calls() []*refCall { return r.callsIn(r.events) }

func (r *reference) callsIn(events []rules.Event) []*refCall {
	var calls []*refCall
	var now rules.Instant
	for i, e := range events {
		now = max(now, e.At)
		var c *refCall
		for _, o := range calls {
			if o.id == e.Call {
				c = o
			}
		}
		switch e.Kind {
		case rules.EventAdmitted, rules.EventAsked:
			t, known := r.tool(e.Tool)
			if !known {
				t.Name = e.Tool
			}
			calls = append(calls, &refCall{
				id: e.Call, run: e.Run, agent: e.Agent, principal: e.Principal, tool: t,
				args: e.Args, key: e.Key, asked: e.Kind == rules.EventAsked, held: i,
			})
		case rules.EventRebound, rules.EventResumed:
			if c.args != e.Args || c.key != e.Key {
				c.args, c.key, c.held = e.Args, e.Key, i
			}
			c.asked = c.asked && e.Kind == rules.EventRebound
		case rules.EventStarted:
			c.started = true
		case rules.EventReleased:
			c.released = true
		case rules.EventFinished:
			if c.status == 0 {
				c.end = now
			}
			c.status, c.exited = e.Status, e.State == rules.RunCleanup
		case rules.EventUndone:
			c.undone = true
		case rules.EventRunClosed:
			for _, o := range calls {
				if o.run == e.Run && !o.closed {
					o.closed = true
					o.released = o.released || !o.started
				}
			}
		}
	}
	return calls
}

func (r *reference) open(run string) bool {
	open := false
	for _, e := range r.events {
		if e.Run == run && e.Kind == rules.EventRunStarted {
			open = true
		}
		if e.Run == run && e.Kind == rules.EventRunClosed {
			open = false
		}
	}
	return open
}

// pendingExit lists the required tools without a success in the run.
func (r *reference) pendingExit(run string, calls []*refCall) []string {
	out := []string{}
	for _, t := range r.cfg.Tools {
		met := slices.ContainsFunc(calls, func(c *refCall) bool { return c.run == run && c.tool.Name == t.Name && c.succeeded() })
		if t.Rules.RequiredBeforeExit && !met {
			out = append(out, t.Name)
		}
	}
	return out
}

func (r *reference) exited(run string, calls []*refCall) bool {
	return slices.ContainsFunc(calls, func(c *refCall) bool { return c.run == run && c.exited && c.succeeded() })
}

func waits(run string, calls []*refCall) bool {
	return slices.ContainsFunc(calls, func(c *refCall) bool { return c.run == run && c.asked && !c.ended() })
}

// end walks through the history of a run, since its end is final: what was recorded
// counts, even if the present configuration would decide otherwise.
func (r *reference) end(run string) (ended rules.RunState, reminders int) {
	for i, e := range r.events {
		switch {
		case e.Kind == rules.EventRunStarted && e.Run == run:
			ended, reminders = rules.RunRunning, 0
		case ended != rules.RunRunning:
		case e.Kind == rules.EventFinished && e.State == rules.RunFinished && r.runOf(e.Call, i) == run:
			ended = rules.RunFinished
		case e.Kind == rules.EventStopped && e.Run == run && !waits(run, r.callsIn(r.events[:i])):
			if ended = e.State; ended == rules.RunRunning {
				reminders++
			}
		}
	}
	return ended, reminders
}

// runOf returns the open run of a call after some of the events.
func (r *reference) runOf(id string, events int) (run string) {
	for _, c := range r.callsIn(r.events[:events]) {
		if c.id == id {
			if run = c.run; c.closed {
				run = ""
			}
		}
	}
	return run
}

// becomes is what an event, which is the next one, should say that its run has become.
func (r *reference) becomes(e rules.Event) rules.RunState {
	run := e.Run
	if e.Kind == rules.EventFinished && e.Status == rules.StatusOK {
		run = r.runOf(e.Call, len(r.events))
	} else if e.Kind != rules.EventStopped {
		return rules.RunRunning
	}
	ended, reminders := r.end(run)
	if run == "" || ended != rules.RunRunning {
		return rules.RunRunning
	}
	limit := r.cfg.Reminders
	if limit == 0 {
		limit = rules.DefaultReminders
	}
	e.State = rules.RunRunning
	calls := r.callsIn(append(slices.Clone(r.events), e))
	pending := len(r.pendingExit(run, calls))
	exits := false
	for _, c := range calls {
		if c.id == e.Call { // the last one: a call that was released or undone leaves its id to another
			exits = c.run == run && c.tool.Rules.ExitLoop
		}
	}
	switch {
	case e.Kind == rules.EventStopped && (waits(run, calls) || pending > 0 && reminders < limit):
	case e.Kind == rules.EventStopped && pending > 0:
		return rules.RunIncomplete
	case e.Kind == rules.EventStopped, pending == 0 && (exits || r.exited(run, calls)):
		return rules.RunFinished
	case exits:
		return rules.RunCleanup
	}
	return rules.RunRunning
}

// runState says where a run stands.
func (r *reference) runState(run string) (state rules.RunState, reminders int) {
	if !r.open(run) {
		return rules.RunClosed, 0
	}
	ended, reminders := r.end(run)
	calls := r.calls()
	switch {
	case ended != rules.RunRunning:
		return ended, reminders
	case r.exited(run, calls) && len(r.pendingExit(run, calls)) == 0:
		return rules.RunFinished, reminders
	case r.exited(run, calls):
		return rules.RunCleanup, reminders
	case waits(run, calls):
		return rules.RunWaiting, reminders
	}
	return rules.RunRunning, reminders
}

// known reports whether the call can still change: it has not ended, or it was
// interrupted, or it can be undone.
func (r *reference) known(c *refCall) bool {
	switch {
	case c.released, c.undone:
		return false
	case c.status == 0, c.status == rules.StatusUnknown:
		return true
	case c.status == rules.StatusError || c.tool.Undo == 0:
		return false
	}
	return true
}

// legal reports whether the event may follow, for calls only.
func (r *reference) legal(kind rules.EventKind, id string, status rules.Status) bool {
	var c *refCall
	for _, o := range r.calls() {
		if o.id == id {
			c = o
		}
	}
	if c == nil || !r.known(c) {
		return false
	}
	switch kind {
	case rules.EventStarted:
		return !c.asked && !c.started
	case rules.EventReleased:
		return c.status == 0
	case rules.EventFinished:
		return c.started && (c.status == 0 || c.status == rules.StatusUnknown && status != rules.StatusUnknown)
	case rules.EventUndone:
		return c.tool.Undo > 0 && c.status != 0
	}
	return false
}
