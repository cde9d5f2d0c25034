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
	status                    rules.Status
	end                       rules.Instant
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
	i := slices.IndexFunc(r.cfg.Tools, func(t rules.Tool) bool { return t.Name == name })
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
	for _, e := range events {
		now = max(now, e.At)
		var c *refCall
		for _, o := range calls {
			if o.id == e.Call {
				c = o
			}
		}
		switch e.Kind {
		case rules.EventAdmitted, rules.EventAsked:
			t, _ := r.tool(e.Tool)
			calls = append(calls, &refCall{
				id: e.Call, run: e.Run, agent: e.Agent, principal: e.Principal, tool: t,
				args: e.Args, key: e.Key, asked: e.Kind == rules.EventAsked,
			})
		case rules.EventRebound:
			c.args, c.key = e.Args, e.Key
		case rules.EventResumed:
			c.args, c.key, c.asked = e.Args, e.Key, false
		case rules.EventStarted:
			c.started = true
		case rules.EventReleased:
			c.released = true
		case rules.EventFinished:
			if c.status == 0 {
				c.end = now
			}
			c.status = e.Status
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
	return slices.ContainsFunc(calls, func(c *refCall) bool { return c.run == run && c.tool.Rules.ExitLoop && c.succeeded() })
}

func waits(run string, calls []*refCall) bool {
	return slices.ContainsFunc(calls, func(c *refCall) bool { return c.run == run && c.asked && !c.ended() })
}

// runState walks through the history of a run, since its end is for good.
func (r *reference) runState(run string) (state rules.RunState, reminders int) {
	if !r.open(run) {
		return rules.RunClosed, 0
	}
	limit := r.cfg.Reminders
	if limit == 0 {
		limit = rules.DefaultReminders
	}
	ended := rules.RunRunning
	for i, e := range r.events {
		if e.Kind == rules.EventRunStarted && e.Run == run {
			ended, reminders = rules.RunRunning, 0
		}
		if ended != rules.RunRunning || e.Kind != rules.EventFinished && (e.Kind != rules.EventStopped || e.Run != run) {
			continue
		}
		calls := r.callsIn(r.events[:i+1])
		pending := r.pendingExit(run, calls)
		switch {
		case e.Kind == rules.EventFinished:
			if r.exited(run, calls) && len(pending) == 0 {
				ended = rules.RunFinished
			}
		case waits(run, calls):
		case len(pending) == 0:
			ended = rules.RunFinished
		case reminders < limit:
			reminders++
		default:
			ended = rules.RunIncomplete
		}
	}
	calls := r.calls()
	switch {
	case ended != rules.RunRunning:
		return ended, reminders
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
		return !c.started
	case rules.EventFinished:
		return c.started && (c.status == 0 || c.status == rules.StatusUnknown && status != rules.StatusUnknown)
	case rules.EventUndone:
		return c.tool.Undo > 0 && c.status != 0
	}
	return false
}
