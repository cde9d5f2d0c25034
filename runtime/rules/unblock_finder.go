package rules

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
)

// wayfinder looks for the shortest way to a call. The state of the search is
// the set of moves that were made: every answer of the rules is a function of
// that set, since no move makes another one wrong by coming before it once it
// was legal.
type wayfinder struct {
	s     *State
	now   Instant
	scope scope // of the target

	wanted []*tool // tools whose success may be needed
	moves  []move
	held   []holding // what the target is a duplicate of

	waiting []*call // calls of the run that wait for consent
}

// move is a step other than a wait.
type move struct {
	kind   runtime.StepKind // StepWait: all waiting calls that no other move answers are answered
	tool   *tool            // nil for StepWait
	call   *call            // nil for StepCall and StepWait
	run    bool             // its success counts for the run of the target
	facts  bool             // and for its principal
	counts bool             // its slot is one of the target's actor
	owner  bool             // its cooldown is the target's principal's
}

// holding is a call that the target is a duplicate of.
type holding struct {
	call  string  // empty when it has ended
	until Instant // when it has ended
	after Instant // when it ends now
}

// set is a set of moves.
type set uint64

func (m set) has(i int) bool { return m&(1<<i) != 0 }

// remembered notes what is held against the target as an equal call.
func (w *wayfinder) remembered(c *Call) {
	t, o := w.scope.tool, w.scope.owner
	if o == nil {
		return
	}
	if t.dedupe != runtime.DedupeNever {
		after := forever
		if t.dedupe == runtime.DedupeWindow {
			after = w.now.Add(t.window)
		}
		for i := range 1 + len(c.Earlier) {
			w.holdings(o.equal.entries[memoryKey{t.index, c.digests(i).Args}], after)
		}
	}
	if t.keyed {
		for i := range 1 + len(c.Earlier) {
			w.holdings(o.keys.entries[memoryKey{t.index, c.digests(i).Key}], w.now.Add(t.keyWindow))
		}
	}
}

// holdings notes what is remembered under one key, until after a call that ends now.
func (w *wayfinder) holdings(e remembered, after Instant) {
	for at := &e; at != nil; at = at.earlier {
		if w.now < at.until {
			w.held = append(w.held, holding{at.holder(), at.until, after})
		}
	}
}

// holder returns the call that has not ended, if any.
func (e *remembered) holder() string {
	if e.live {
		return e.call
	}
	return ""
}

// gather finds the tools whose success may be needed, and the moves that can help.
func (w *wayfinder) gather() {
	w.want(w.scope.tool)
	for _, t := range w.s.engine.tools {
		if slices.Contains(w.wanted, t) {
			w.moves = append(w.moves, move{kind: runtime.StepCall, tool: t, run: true, facts: true, counts: true, owner: true})
		}
	}
	for _, c := range w.liveCalls() {
		if w.offer(c); c.run == w.scope.run && c.progress == asked {
			w.waiting = append(w.waiting, c)
		}
	}
	exits := func(t *tool) bool { return t.exit }
	if len(w.waiting) > 0 && (w.scope.tool.exit || slices.ContainsFunc(w.wanted, exits)) {
		w.moves = append(w.moves, move{kind: runtime.StepWait})
	}
	rank := func(m move) int {
		return slices.Index([]runtime.StepKind{runtime.StepFinish, runtime.StepWait, runtime.StepApprove, runtime.StepCall, runtime.StepDrop}, m.kind)
	}
	// Of two ways of the same length the one that asks less is found first.
	slices.SortStableFunc(w.moves, func(a, b move) int { return rank(a) - rank(b) })
}

// want notes what t lacks, and what that lacks.
func (w *wayfinder) want(t *tool) {
	f := w.scope.facts
	var lacks []*tool
	if !t.start {
		lacks = f.without(w.s.engine.starts)
	}
	if !f.satisfies(t) {
		lacks = append(lacks, f.without(t.needs)...)
	}
	for _, o := range lacks {
		if o != w.scope.tool && !slices.Contains(w.wanted, o) {
			w.wanted = append(w.wanted, o)
			w.want(o)
		}
	}
}

// liveCalls returns the calls of the session that have not ended and matter to
// the target: all of its run, and those that its principal makes elsewhere.
func (w *wayfinder) liveCalls() []*call {
	out := slices.Clone(w.scope.run.live)
	for _, r := range w.s.runs {
		for _, c := range r.live {
			if r != w.scope.run && c.owner == w.scope.owner {
				out = append(out, c)
			}
		}
	}
	for _, c := range w.s.strays {
		if c.owner == w.scope.owner {
			out = append(out, c)
		}
	}
	elsewhere := out[len(w.scope.run.live):]
	slices.SortFunc(elsewhere, func(a, b *call) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return out
}

// offer adds the ways in which the end of c can help.
func (w *wayfinder) offer(c *call) {
	p := &w.scope
	m := move{
		kind: runtime.StepFinish, tool: c.tool.now, call: c, run: c.run == p.run, facts: p.facts != nil && c.facts == p.facts,
		counts: p.counts != nil && c.counts == p.counts, owner: c.owner == p.owner,
	}
	wanted := slices.Contains(w.wanted, m.tool)
	near := wanted || m.tool == p.tool
	cools := m.owner && (near && c.tool.cooldown > 0 || w.s.engine.cooldown > 0) && c.progress != asked
	holds := m.owner && slices.ContainsFunc(w.held, func(h holding) bool { return h.call == c.id })
	switch {
	case c.progress == asked && (m.facts && wanted || holds):
		m.kind = runtime.StepApprove
		w.moves = append(w.moves, m)
	case c.progress != asked && (m.facts && wanted || cools || holds):
		w.moves = append(w.moves, m)
	}
	slot := m.counts && near && c.tool.maxCalls > 0
	if c.progress < started && (cools || holds || slot || m.facts && w.s.engine.budget > 0 || m.facts && len(c.tool.groups) > 0) {
		m.kind = runtime.StepDrop
		w.moves = append(w.moves, m)
	}
}

// possible reports whether the target could be reached if drops came first and
// wanted tools only helped: when not, nothing needs to be searched.
func (w *wayfinder) possible() bool {
	if len(w.moves) > maxMoves {
		return true
	}
	var best set // drops, and what was found to be reachable
	for i, m := range w.moves {
		if m.kind == runtime.StepDrop {
			best |= 1 << i
		}
	}
	for again := true; again; {
		again = false
		for i, m := range w.moves {
			if m.kind == runtime.StepDrop || m.kind == runtime.StepWait || best.has(i) {
				continue
			}
			if m.kind == runtime.StepFinish || w.opens(best, m.tool) && (m.kind == runtime.StepApprove || w.room(best, m.tool)) {
				best |= 1 << i
				again = true
			}
		}
	}
	return w.opens(best, w.scope.tool) && w.room(best, w.scope.tool)
}

// opens reports whether the rules that successes satisfy let t run, and no success
// there is already refuses it for the rest of the run.
func (w *wayfinder) opens(made set, t *tool) bool {
	if t.barred() || !w.phase(0, t) {
		return false
	}
	for _, o := range t.precedes {
		if w.scope.facts.succeeded(o) {
			return false
		}
	}
	return w.started(made, t) && w.satisfied(made, t)
}

// room reports whether t would have a slot and its groups if none of the calls
// in made took any.
func (w *wayfinder) room(made set, t *tool) bool {
	var drops set
	for i, m := range w.moves {
		if m.kind == runtime.StepDrop && made.has(i) {
			drops |= 1 << i
		}
	}
	return w.slots(drops, t) && w.groupsFree(drops, t)
}
