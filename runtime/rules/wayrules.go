package rules

import "slices"

// The rules, as functions of the set of moves that were made.

// any reports whether f holds for a move in made.
func (w *wayfinder) any(made set, f func(m *move) bool) bool {
	for i := range w.moves {
		if made.has(i) && f(&w.moves[i]) {
			return true
		}
	}
	return false
}

// succeeded reports whether t has succeeded for the principal of the target.
func (w *wayfinder) succeeded(made set, t *tool) bool {
	return w.place.facts.succeeded(t) ||
		w.any(made, func(m *move) bool { return m.tool == t && m.kind != StepDrop && m.facts })
}

// met reports whether t has succeeded in the run.
func (w *wayfinder) met(made set, t *tool) bool {
	return w.place.run.successes[t.index] > 0 ||
		w.any(made, func(m *move) bool { return m.tool == t && m.kind != StepDrop && m.run })
}

// started reports whether start_constraint lets t run.
func (w *wayfinder) started(made set, t *tool) bool {
	return t.start || !slices.ContainsFunc(w.s.engine.starts, func(o *tool) bool { return !w.succeeded(made, o) })
}

// satisfied reports whether requires_preceding lets t run.
func (w *wayfinder) satisfied(made set, t *tool) bool {
	for _, o := range t.needs {
		if w.succeeded(made, o) == t.needsAny {
			return t.needsAny
		}
	}
	return !t.needsAny || len(t.needs) == 0
}

// phase reports whether the phase of the run lets t run.
func (w *wayfinder) phase(made set, t *tool) bool {
	exits := w.place.run.exits > 0 ||
		w.any(made, func(m *move) bool { return m.tool.exit && m.kind != StepDrop && m.run })
	if !exits {
		return true
	}
	open := func(r *tool) bool { return !w.met(made, r) }
	if !slices.ContainsFunc(w.s.engine.required, open) {
		return false // finished
	}
	return slices.ContainsFunc(t.serves, open) || t.start && !w.succeeded(made, t)
}

// barred reports whether no operation of t is allowed.
func (t *tool) barred() bool { return t.allowed != nil && len(t.allowed.Values) == 0 }

// order reports whether phase and order rules let t run.
func (w *wayfinder) order(made set, t *tool) bool {
	closed := func(o *tool) bool { return w.succeeded(made, o) }
	return w.phase(made, t) && w.started(made, t) && w.satisfied(made, t) && !slices.ContainsFunc(t.precedes, closed)
}

// slots reports whether t has a slot of its own and one of those that all tools share.
func (w *wayfinder) slots(made set, t *tool) bool {
	used, spent := w.place.counts.of(t), w.place.facts.slots()
	for i := range w.moves {
		m := &w.moves[i]
		if !made.has(i) || m.kind != StepCall && m.kind != StepDrop {
			continue
		}
		d := 1
		if m.kind == StepDrop {
			d = -1
		}
		if m.facts {
			spent += d
		}
		if m.counts && m.tool == t {
			used += d
		}
	}
	return (t.maxCalls == 0 || used < t.maxCalls) && (w.s.engine.budget == 0 || spent < w.s.engine.budget)
}

// groupsFree reports whether no other tool holds a group of t.
func (w *wayfinder) groupsFree(made set, t *tool) bool {
	for _, g := range t.groups {
		if w.any(made, func(m *move) bool { return m.kind == StepCall && m.tool != t && slices.Contains(m.tool.groups, g) }) {
			return false
		}
		if w.place.facts == nil {
			continue
		}
		k := w.place.facts.claims[g]
		for i := range w.moves {
			if m := &w.moves[i]; made.has(i) && m.kind == StepDrop && m.facts && m.tool == k.holder {
				k.calls--
			}
		}
		if k.holder != nil && k.holder != t && k.calls > 0 {
			return false
		}
	}
	return true
}

// cool returns when the cooldown of t is over; forever while a call runs.
func (w *wayfinder) cool(made set, t *tool) Instant {
	if w.place.owner == nil || t.cooldown == 0 {
		return w.now
	}
	c := w.place.owner.cooling[t.index]
	for i := range w.moves {
		m := &w.moves[i]
		if !made.has(i) || m.tool != t || !m.owner {
			continue
		}
		if m.call != nil && m.call.progress != asked {
			c.busy--
		}
		if m.kind != StepDrop {
			c.ended, c.end = true, w.now
		}
	}
	switch {
	case c.busy > 0:
		return forever
	case !c.ended:
		return w.now
	}
	return max(w.now, c.end.Add(t.cooldown))
}

// unequal returns when the target is no duplicate any more; forever when that
// is not known, or never.
func (w *wayfinder) unequal(made set) Instant {
	from := w.now
	for _, h := range w.held {
		until := h.until
		for i := range w.moves {
			m := &w.moves[i]
			if !made.has(i) || m.call == nil || m.call.id != h.call {
				continue
			}
			until = h.after
			if m.kind == StepDrop {
				until = w.now
			}
		}
		from = max(from, until)
	}
	return from
}

// ready returns when the target is admitted after made; false when other things
// than time are in its way.
func (w *wayfinder) ready(made set) (Instant, bool) {
	t := w.place.tool
	if !w.order(made, t) || !w.slots(made, t) || !w.groupsFree(made, t) {
		return 0, false
	}
	from := max(w.cool(made, t), w.unequal(made))
	return from, from < forever
}

// may returns when move i can be made after made; false when other things than
// time are in its way.
func (w *wayfinder) may(made set, i int) (Instant, bool) {
	m := &w.moves[i]
	if m.call != nil && w.any(made, func(o *move) bool { return o.call == m.call }) {
		return 0, false
	}
	switch m.kind {
	case StepFinish, StepDrop:
		return w.now, true
	case StepApprove:
		if !w.order(made, m.tool) {
			return 0, false
		}
	default:
		if m.tool.barred() || w.succeeded(made, m.tool) || !w.order(made, m.tool) || !w.slots(made, m.tool) || !w.groupsFree(made, m.tool) {
			return 0, false
		}
	}
	from := w.cool(made, m.tool)
	return from, from < forever
}
