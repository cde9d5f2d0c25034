package rules

import (
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// Check returns what Admit would answer to c at a time, and changes nothing.
func (s *State) Check(at Instant, c *Call) Verdict {
	p := s.scopeOf(c)
	return s.check(max(at, s.now), c, &p, nil)
}

// Recheck returns what Resume would answer to c at a time, and changes nothing.
func (s *State) Recheck(at Instant, c *Call) Verdict {
	own, p := s.waitingCall(c)
	if own == nil {
		return refuse(Violation{Reason: ReasonRunFinished})
	}
	return s.check(max(at, s.now), c, &p, own)
}

// waitingCall returns the call that waits for consent under the id of c. Its run and
// principal are those that it was asked with; those of c are ignored.
func (s *State) waitingCall(c *Call) (*call, scope) {
	own := s.calls.find(c.ID)
	if own == nil || own.progress != asked || !s.named(own.tool, c.Tool) {
		return nil, scope{}
	}
	return own, scope{tool: own.tool, run: own.run, facts: own.facts, counts: own.counts, owner: own.owner}
}

// check judges c at p. The reservation of own, the same call, is left out (SEMANTICS 3.1, 3.2 and 3.3).
func (s *State) check(now Instant, c *Call, p *scope, own *call) Verdict {
	if c.Recorded && p.tool != nil && !p.tool.retired && p.run != nil && (own != nil || s.calls.find(c.ID) == nil) {
		return Verdict{Answer: Admitted}
	}
	if v, answered := s.checkFirst(now, c, p, own); answered {
		return v
	}
	if p.tool.free {
		return Verdict{Answer: Admitted}
	}
	mine := 0
	if own != nil {
		mine = 1
	}
	vs := s.checkOrder(nil, p, own)
	vs = s.checkGroups(vs, p)
	vs = s.checkCounts(vs, p, mine)
	if d, running := s.retryAfter(p, now); d > 0 {
		vs = append(vs, Violation{Reason: ReasonCooldown, RetryAfter: d, Running: running})
	}
	if vs != nil {
		return Verdict{Violations: vs}
	}
	return Verdict{Answer: Admitted}
}

// checkFirst makes the checks of which the first that applies is the only answer (SEMANTICS 3.1 and 4.14).
func (s *State) checkFirst(now Instant, c *Call, p *scope, own *call) (Verdict, bool) {
	t, r := p.tool, p.run
	switch {
	case t == nil || t.retired:
		return refuse(Violation{Reason: ReasonUnknownTool}), true
	case own == nil && s.calls.find(c.ID) != nil:
		return refuse(Violation{Reason: ReasonCallIDReused}), true
	case !t.allows(c):
		return refuse(Violation{Reason: ReasonOperationNotAllowed, Allowed: t.allowed.Values}), true
	case r == nil || r.state().Ended():
		return refuse(Violation{Reason: ReasonRunFinished}), true
	case r.exits > 0 && !s.cleansUp(p):
		return refuse(Violation{Reason: ReasonExiting, PendingExit: namesOf(s.engine.pending(r))}), true
	}
	if p.owner == nil || !t.remembers() {
		return Verdict{}, false
	}
	return s.duplicate(now, p, c, own)
}

// allows reports whether the operation that c asks for is allowed (SEMANTICS 4.16).
func (t *tool) allows(c *Call) bool {
	if t.allowed == nil {
		return true
	}
	for _, v := range t.allowed.Values {
		if c.HasOperation && c.Operation == v {
			return true
		}
	}
	return false
}

// cleansUp reports whether p.tool may run during clean-up.
func (s *State) cleansUp(p *scope) bool {
	met := func(t *tool) bool { return t.total(p.run.successes) > 0 }
	return s.engine.cleansUp(p.tool.now, met, p.facts.succeeded)
}

// duplicate reports whether an earlier call answers c, whose tool remembers calls (SEMANTICS 3.3, 4.8 and 4.9).
func (s *State) duplicate(now Instant, p *scope, c *Call, own *call) (Verdict, bool) {
	t, o := p.tool, p.owner
	var ownID string
	if own != nil {
		ownID = own.id
	}
	if t.dedupe != runtime.DedupeNever {
		for i := range 1 + len(c.Earlier) {
			if e, ok := o.equal.find(memoryKey{t.now.index, c.digests(i).Args}, now, ownID); ok {
				return s.repeats(&e), true
			}
		}
	}
	if !t.keyed {
		return Verdict{}, false
	}
	for i := range 1 + len(c.Earlier) {
		d := c.digests(i)
		e, ok := o.keys.find(memoryKey{t.now.index, d.Key}, now, ownID)
		switch {
		case !ok:
		case e.args == d.Args:
			return s.repeats(&e), true
		default:
			return Verdict{Of: e.call, Violations: []Violation{{Reason: ReasonIdempotencyConflict}}}, true
		}
	}
	return Verdict{}, false
}

// repeats returns the verdict about a call that is equal to an earlier one (SEMANTICS 4.8.12).
func (s *State) repeats(e *remembered) Verdict {
	if of := s.calls.find(e.call); e.live && of != nil && of.progress == asked {
		return Verdict{Of: e.call, Violations: []Violation{{Reason: ReasonDuplicatePending, Waiting: []string{e.call}}}}
	}
	return Verdict{Answer: Duplicate, Of: e.call}
}

// checkOrder adds what start_constraint, requires_preceding and must_precede say (SEMANTICS 4.11, 4.12 and 4.13).
// own is as in check.
func (s *State) checkOrder(vs []Violation, p *scope, own *call) []Violation {
	t, f := p.tool, p.facts
	if !t.start && len(s.engine.starts) > 0 && (f == nil || f.unstarted > 0) {
		vs = append(vs, Violation{Reason: ReasonStartConstraint, Missing: namesOf(s.openStarts(f))})
	}
	missing := Violation{Reason: ReasonPrerequisiteMissing}
	if !f.satisfies(t) {
		missing.Missing, missing.Any = namesOf(f.without(t.needs)), t.needsAny
	}
	if t.exit {
		missing.Waiting = p.run.waitingFor(own)
	}
	if missing.Missing != nil || missing.Waiting != nil {
		vs = append(vs, missing)
	}
	var already []string
	for _, o := range t.precedes {
		if f.succeeded(o) {
			already = append(already, o.name)
		}
	}
	if already != nil {
		vs = append(vs, Violation{Reason: ReasonOrderViolation, Already: already})
	}
	return vs
}

// waitingFor returns the calls of r other than own that wait for consent, in the order of their admission. They may be of any
// principal and agent: an exit would leave them unanswered (SEMANTICS 4.14.9).
func (r *run) waitingFor(own *call) (ids []string) {
	if r.waiting == 0 {
		return nil
	}
	for _, c := range r.live {
		if c.progress == asked && c != own {
			ids = append(ids, c.id)
		}
	}
	return ids
}

// satisfies reports whether the prerequisites of t have succeeded.
func (f *facts) satisfies(t *tool) bool {
	for _, o := range t.needs {
		if f.succeeded(o) == t.needsAny {
			return t.needsAny
		}
	}
	return !t.needsAny || len(t.needs) == 0
}

// checkGroups adds the groups of p.tool that other tools hold (SEMANTICS 4.10).
func (s *State) checkGroups(vs []Violation, p *scope) []Violation {
	if p.facts == nil {
		return vs
	}
	for _, g := range p.tool.groups {
		for _, o := range s.engine.members[g] {
			if o != p.tool.now && o.total(p.facts.holding) > 0 {
				vs = append(vs, Violation{Reason: ReasonExclusiveGroup, Group: s.engine.groups[g], HeldBy: o.name})
				break // two tools hold a group only if a call was recorded under another Config
			}
		}
	}
	return vs
}

// checkCounts adds the limits that are used up, mine slots left out (SEMANTICS 4.2).
func (s *State) checkCounts(vs []Violation, p *scope, mine int) []Violation {
	if n := p.counts.of(p.tool) - mine; p.tool.maxCalls > 0 && n >= p.tool.maxCalls {
		vs = append(vs, Violation{Reason: ReasonMaxCalls, Max: p.tool.maxCalls, Used: n})
	}
	if n := p.facts.slots() - mine; s.engine.budget > 0 && n >= s.engine.budget {
		vs = append(vs, Violation{Reason: ReasonMaxCalls, Max: s.engine.budget, Used: n, Shared: true})
	}
	return vs
}

// retryAfter returns how long p.tool is still cooling down, by its own cooldown
// and by that of the set, 0 when it is not. While a call is running that is at
// least the whole period, which begins with the end (SEMANTICS 4.7).
func (s *State) retryAfter(p *scope, now Instant) (d time.Duration, running bool) {
	if p.owner == nil {
		return 0, false
	}
	own := p.owner.coolingOf(p.tool)
	d, running = own.retryAfter(p.tool.cooldown, now)
	all, any := p.owner.all.retryAfter(s.engine.cooldown, now)
	return max(d, all), running || any
}

// retryAfter returns how much of a period is left, all of it while a call is running.
func (c *cooling) retryAfter(period time.Duration, now Instant) (d time.Duration, running bool) {
	end := c.over(period, now)
	if end == forever && c.busy > 0 {
		return period, true
	}
	return end.Sub(now), false
}
