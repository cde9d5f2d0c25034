package rules

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
)

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
	return w.scope.facts.succeeded(t) ||
		w.any(made, func(m *move) bool { return m.tool == t && m.kind != runtime.StepDrop && m.facts })
}

// met reports whether t has succeeded in the run.
func (w *wayfinder) met(made set, t *tool) bool {
	return t.total(w.scope.run.successes) > 0 ||
		w.any(made, func(m *move) bool { return m.tool == t && m.kind != runtime.StepDrop && m.run })
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
	exits := w.scope.run.exits > 0 ||
		w.any(made, func(m *move) bool { return m.kind != runtime.StepDrop && m.run && m.tool.exit })
	if !exits {
		return true
	}
	met := func(r *tool) bool { return w.met(made, r) }
	return w.s.engine.cleansUp(t, met, func(o *tool) bool { return w.succeeded(made, o) }) // of none when the run has finished
}

// barred reports whether no operation of t is allowed.
func (t *tool) barred() bool { return t.allowed != nil && len(t.allowed.Values) == 0 }

// order reports whether phase and order rules let t run, for own, a call that waits for consent, or for a new one if own is nil.
func (w *wayfinder) order(made set, t *tool, own *call) bool {
	closed := func(o *tool) bool { return w.succeeded(made, o) }
	return w.phase(made, t) && w.started(made, t) && w.satisfied(made, t) && !slices.ContainsFunc(t.precedes, closed) &&
		(!t.exit || w.unanswered(made, own) == nil)
}

// unanswered returns the calls other than own that still wait for consent.
func (w *wayfinder) unanswered(made set, own *call) (list []*call) {
	for _, c := range w.waiting {
		if c != own && !w.any(made, func(m *move) bool { return m.kind == runtime.StepWait || m.call == c }) {
			list = append(list, c)
		}
	}
	return list
}

// slots reports whether t has a slot of its own and one of those that all tools share.
func (w *wayfinder) slots(made set, t *tool) bool {
	used, spent := w.scope.counts.of(t), w.scope.facts.slots()
	for i := range w.moves {
		m := &w.moves[i]
		if !made.has(i) || m.kind != runtime.StepCall && m.kind != runtime.StepDrop {
			continue
		}
		d := 1
		if m.kind == runtime.StepDrop {
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
		if w.any(made, func(m *move) bool {
			return m.kind == runtime.StepCall && m.tool != t && slices.Contains(m.tool.groups, g)
		}) {
			return false
		}
		if w.scope.facts == nil {
			continue
		}
		for _, o := range w.s.engine.members[g] {
			if o != t && o.total(w.scope.facts.holding) > w.dropped(made, o) {
				return false
			}
		}
	}
	return true
}

// dropped returns how many calls of t, of the principal of the target, are dropped.
func (w *wayfinder) dropped(made set, t *tool) (n int) {
	for i := range w.moves {
		if m := &w.moves[i]; made.has(i) && m.kind == runtime.StepDrop && m.facts && m.tool == t {
			n++
		}
	}
	return n
}

// cool returns when the cooldown of t is over, and that of the set as the calls
// began it that have not ended now; forever while a call runs.
func (w *wayfinder) cool(n *node, t *tool) Instant {
	if w.scope.owner == nil {
		return w.now
	}
	own, all := w.scope.owner.coolingOf(t), w.scope.owner.all
	for i := range w.moves {
		m := &w.moves[i]
		if !n.made.has(i) || !m.owner {
			continue
		}
		if m.tool == t {
			m.end(&own, w.ended(n, i))
		}
		if !w.paced(m) {
			m.end(&all, w.now)
		}
	}
	return max(own.over(t.cooldown, w.now), all.over(w.s.engine.cooldown, w.now))
}

// end notes in c that m was made.
func (m *move) end(c *cooling, at Instant) {
	if m.call != nil && m.call.progress != asked {
		c.busy--
	}
	if m.kind != runtime.StepDrop {
		c.ended, c.end = true, at
	}
}

// paced reports whether the cooldown of the set must pass after m before
// anything else runs: search adds that wait to the move.
func (w *wayfinder) paced(m *move) bool {
	return w.s.engine.cooldown > 0 && (m.kind == runtime.StepCall || m.kind == runtime.StepApprove)
}

// ended returns when the call of move i, which was made on the way to n, ended.
func (w *wayfinder) ended(n *node, i int) Instant {
	for ; w.paced(&w.moves[i]) && n.from != nil; n = n.from {
		if n.move == i {
			return w.now.Add(n.wait - w.s.engine.cooldown)
		}
	}
	return w.now
}

// unequal returns when the target is no duplicate any more; forever when that
// is not known, or never.
func (w *wayfinder) unequal(n *node) Instant {
	from := w.now
	for _, h := range w.held {
		until := h.until
		for i := range w.moves {
			m := &w.moves[i]
			if !n.made.has(i) || m.call != nil && m.call.id != h.call || m.call == nil && !w.answers(n.made, m, h.call) {
				continue
			}
			until = h.after.Add(w.ended(n, i).Sub(w.now))
			if m.kind == runtime.StepDrop {
				until = w.now
			}
		}
		from = max(from, until)
	}
	return from
}

// answers reports whether m waits for the answer to a call, which no other move in made answers.
func (w *wayfinder) answers(made set, m *move, id string) bool {
	is := func(c *call) bool { return c.id == id }
	return m.kind == runtime.StepWait && slices.ContainsFunc(w.waiting, is) && !w.any(made, func(o *move) bool { return o.call != nil && is(o.call) })
}

// ready returns when the target is admitted after n; false when other things
// than time are in its way.
func (w *wayfinder) ready(n *node) (Instant, bool) {
	t, made := w.scope.tool, n.made
	if !w.order(made, t, nil) || !w.slots(made, t) || !w.groupsFree(made, t) {
		return 0, false
	}
	from := max(w.cool(n, t), w.unequal(n))
	return from, from < forever
}

// may returns when move i can be made after n; false when other things than
// time are in its way.
func (w *wayfinder) may(n *node, i int) (Instant, bool) {
	m, made := &w.moves[i], n.made
	if m.call != nil && w.any(made, func(o *move) bool { return o.call == m.call }) {
		return 0, false
	}
	if m.kind == runtime.StepWait {
		return w.now, w.unanswered(made, nil) != nil
	}
	answered := func(o *move) bool { return o.kind == runtime.StepWait && slices.Contains(w.waiting, m.call) }
	if w.any(made, answered) {
		return 0, false
	}
	switch m.kind {
	case runtime.StepFinish, runtime.StepDrop:
		return w.now, true
	case runtime.StepApprove:
		if !w.order(made, m.tool, m.call) {
			return 0, false
		}
	default:
		if m.tool.barred() || w.succeeded(made, m.tool) || !w.order(made, m.tool, nil) || !w.slots(made, m.tool) || !w.groupsFree(made, m.tool) {
			return 0, false
		}
	}
	from := w.cool(n, m.tool)
	return from, from < forever
}
