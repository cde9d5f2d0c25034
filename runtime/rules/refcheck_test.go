package rules_test

import (
	"math"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// check judges c at a time; own is the id of the call that is judged again.
func (r *reference) check(at rules.Instant, c *rules.Call, own string) rules.Verdict {
	now := max(at, r.now())
	calls := r.calls()
	if t, known := r.tool(c.Tool); known {
		renamed := *c
		renamed.Tool, c = t.Name, &renamed
	}
	if v, answered := r.checkFirst(now, c, own, calls); answered {
		return v
	}
	t, _ := r.tool(c.Tool)
	var vs []rules.Violation
	succeeded := func(name string) bool {
		return slices.ContainsFunc(calls, func(o *refCall) bool {
			return o.run == c.Run && o.principal == c.Principal && o.tool.Name == name && o.succeeded()
		})
	}
	unmet := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), succeeded)
	}
	if missing := unmet(r.starts()); len(missing) > 0 && !t.Rules.StartConstraint {
		vs = append(vs, rules.Violation{Reason: rules.ReasonStartConstraint, Missing: missing})
	}
	needs := t.Rules.RequiresPreceding
	v := rules.Violation{Reason: rules.ReasonPrerequisiteMissing}
	if missing := unmet(needs); len(missing) > 0 && (!t.Rules.AnyPreceding || len(missing) == len(needs)) {
		v.Missing, v.Any = missing, t.Rules.AnyPreceding
	}
	if t.Rules.ExitLoop {
		v.Waiting = waiting(c.Run, own, calls)
	}
	if v.Missing != nil || v.Waiting != nil {
		vs = append(vs, v)
	}
	if already := slices.DeleteFunc(slices.Clone(t.Rules.MustPrecede), func(n string) bool { return !succeeded(n) }); len(already) > 0 {
		vs = append(vs, rules.Violation{Reason: rules.ReasonOrderViolation, Already: already})
	}
	vs = append(vs, r.groups(c, t, calls)...)
	vs = append(vs, r.counts(c, t, own, calls)...)
	vs = append(vs, r.cooldown(now, c, t, calls)...)
	if len(vs) > 0 {
		return rules.Verdict{Violations: vs}
	}
	return rules.Verdict{Answer: rules.Admitted}
}

// waiting lists the calls of a run, of whoever made them, that wait for consent.
func waiting(run, but string, calls []*refCall) (ids []string) {
	for _, o := range calls {
		if o.run == run && o.asked && !o.ended() && o.id != but {
			ids = append(ids, o.id)
		}
	}
	return ids
}

// moot lists those of them that would be refused because of the phase of the run, after their approval.
func (r *reference) moot(run string, calls []*refCall) (ids []string) {
	state, _ := r.runState(run)
	if state == rules.RunClosed {
		return nil
	}
	for _, id := range waiting(run, "", calls) {
		i := slices.IndexFunc(calls, func(o *refCall) bool { return o.id == id && !o.ended() })
		o := calls[i]
		succeeded := func(name string) bool {
			return slices.ContainsFunc(calls, func(x *refCall) bool {
				return x.run == run && x.principal == o.principal && x.tool.Name == name && x.succeeded()
			})
		}
		if state.Ended() || state == rules.RunCleanup && !slices.Contains(r.cleaningUp(r.pendingExit(run, calls), succeeded), o.tool.Name) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *reference) starts() []string {
	var out []string
	for _, t := range r.cfg.Tools {
		if t.Rules.StartConstraint {
			out = append(out, t.Name)
		}
	}
	return out
}

func (r *reference) checkFirst(now rules.Instant, c *rules.Call, own string, calls []*refCall) (rules.Verdict, bool) {
	no := func(v rules.Violation) (rules.Verdict, bool) {
		return rules.Verdict{Violations: []rules.Violation{v}}, true
	}
	t, ok := r.tool(c.Tool)
	if !ok {
		return no(rules.Violation{Reason: rules.ReasonUnknownTool})
	}
	if own == "" && slices.ContainsFunc(calls, func(o *refCall) bool { return o.id == c.ID && r.known(o) }) {
		return no(rules.Violation{Reason: rules.ReasonCallIDReused})
	}
	if a := t.Rules.AllowedOperations; a != nil && (!c.HasOperation || !slices.Contains(a.Values, c.Operation)) {
		return no(rules.Violation{Reason: rules.ReasonOperationNotAllowed, Allowed: a.Values})
	}
	state, _ := r.runState(c.Run)
	if state.Ended() {
		return no(rules.Violation{Reason: rules.ReasonRunFinished})
	}
	if state == rules.RunCleanup {
		pending := r.pendingExit(c.Run, calls)
		succeeded := func(name string) bool {
			return slices.ContainsFunc(calls, func(o *refCall) bool {
				return o.run == c.Run && o.principal == c.Principal && o.tool.Name == name && o.succeeded()
			})
		}
		if !slices.Contains(r.cleaningUp(pending, succeeded), c.Tool) {
			return no(rules.Violation{Reason: rules.ReasonExiting, PendingExit: pending})
		}
	}
	return r.duplicate(now, c, t, own, calls)
}

// cleaningUp is what may run in clean-up: what is pending, and again and again what
// one of these tools still waits for.
func (r *reference) cleaningUp(pending []string, succeeded func(string) bool) []string {
	may := slices.Clone(pending)
	for before := -1; before < len(may); {
		before = len(may)
		for _, name := range may[:before] {
			t, _ := r.tool(name)
			waitsFor := t.Rules.RequiresPreceding
			if t.Rules.AnyPreceding && slices.ContainsFunc(waitsFor, succeeded) {
				waitsFor = nil
			}
			if !t.Rules.StartConstraint {
				waitsFor = slices.Concat(waitsFor, r.starts())
			}
			for _, n := range waitsFor {
				if !succeeded(n) && !slices.Contains(may, n) {
					may = append(may, n)
				}
			}
		}
	}
	return may
}

func after(end rules.Instant, d time.Duration) rules.Instant {
	if sum := int64(end) + int64(d); sum >= int64(end) {
		return rules.Instant(sum)
	}
	return math.MaxInt64
}

// answers is what an equal call is answered.
func (c *refCall) answers() rules.Verdict {
	if c.asked && !c.ended() {
		return rules.Verdict{Of: c.id, Violations: []rules.Violation{{Reason: rules.ReasonDuplicatePending, Waiting: []string{c.id}}}}
	}
	return rules.Verdict{Answer: rules.Duplicate, Of: c.id}
}

func (r *reference) duplicate(now rules.Instant, c *rules.Call, t rules.Tool, own string, calls []*refCall) (rules.Verdict, bool) {
	for _, d := range append([]rules.Digests{{Args: c.Args, Key: c.Key}}, c.Earlier...) {
		of := *c
		of.Args, of.Key = d.Args, d.Key
		if equal, _ := r.equals(now, &of, t, own, calls); equal != nil {
			return equal.answers(), true
		}
	}
	for _, d := range append([]rules.Digests{{Args: c.Args, Key: c.Key}}, c.Earlier...) {
		of := *c
		of.Args, of.Key = d.Args, d.Key
		_, key := r.equals(now, &of, t, own, calls)
		switch {
		case key == nil:
		case key.args == of.Args:
			return key.answers(), true
		default:
			return rules.Verdict{Of: key.id, Violations: []rules.Violation{{Reason: rules.ReasonIdempotencyConflict}}}, true
		}
	}
	return rules.Verdict{}, false
}

// equals returns the latest calls that have the arguments of c, and its key.
func (r *reference) equals(now rules.Instant, c *rules.Call, t rules.Tool, own string, calls []*refCall) (equal, key *refCall) {
	for _, o := range calls {
		if o.id == own && r.known(o) || o.tool.Name != c.Tool || o.principal != c.Principal || o.released || o.undone || o.status == rules.StatusError {
			continue
		}
		idempotent := o.status == rules.StatusTimeout && t.Idempotent
		in := func(window time.Duration) bool { return o.status == 0 || now < after(o.end, window) }
		if t.Dedupe.Mode != runtime.DedupeNever && o.args == c.Args && !idempotent && (t.Dedupe.Mode == runtime.DedupeAlways || in(t.Dedupe.Window)) {
			equal = latest(equal, o)
		}
		if t.Idempotency != nil && o.key == c.Key && in(t.Idempotency.Window) {
			key = latest(key, o)
		}
	}
	return equal, key
}

// latest returns the one of two equal calls that got its arguments later.
func latest(a, b *refCall) *refCall {
	if a == nil || b.held > a.held {
		return b
	}
	return a
}

// groups: claimed at admission, released if never invoked, kept on failure,
// freed by an undo and by the end of the run.
func (r *reference) groups(c *rules.Call, t rules.Tool, calls []*refCall) []rules.Violation {
	var vs []rules.Violation
	for _, g := range t.Rules.ExclusiveGroups {
		i := slices.IndexFunc(r.cfg.Tools, func(other rules.Tool) bool {
			return other.Name != c.Tool && slices.Contains(other.Rules.ExclusiveGroups, g) && slices.ContainsFunc(calls, func(o *refCall) bool {
				return o.run == c.Run && o.principal == c.Principal && !o.closed && !o.released && !o.undone && o.tool.Name == other.Name
			})
		})
		if i >= 0 {
			vs = append(vs, rules.Violation{Reason: rules.ReasonExclusiveGroup, Group: g, HeldBy: r.cfg.Tools[i].Name})
		}
	}
	return vs
}

func (r *reference) counts(c *rules.Call, t rules.Tool, own string, calls []*refCall) []rules.Violation {
	var vs []rules.Violation
	mine, all := 0, 0
	for _, o := range calls {
		if o.run != c.Run || !o.usesSlot() || o.id == own && r.known(o) {
			continue
		}
		if o.principal != c.Principal {
			continue
		}
		all++
		if o.agent == c.Agent && o.tool.Name == c.Tool {
			mine++
		}
	}
	limit := t.Rules.MaxCalls
	if set := r.cfg.Set; set.MaxCallsEach && set.MaxCalls > 0 && (limit == 0 || set.MaxCalls < limit) {
		limit = set.MaxCalls
	}
	if limit > 0 && mine >= limit {
		vs = append(vs, rules.Violation{Reason: rules.ReasonMaxCalls, Max: limit, Used: mine})
	}
	if set := r.cfg.Set; !set.MaxCallsEach && set.MaxCalls > 0 && all >= set.MaxCalls {
		vs = append(vs, rules.Violation{Reason: rules.ReasonMaxCalls, Max: set.MaxCalls, Used: all, Shared: true})
	}
	return vs
}

func (r *reference) cooldown(now rules.Instant, c *rules.Call, t rules.Tool, calls []*refCall) []rules.Violation {
	var wait time.Duration
	running := false
	for _, o := range calls {
		var d time.Duration // for which the end of o keeps c waiting
		if !r.cfg.Set.CooldownEach {
			d = r.cfg.Set.Cooldown
		}
		if o.tool.Name == c.Tool {
			d = max(t.Rules.Cooldown, r.cfg.Set.Cooldown)
		}
		switch {
		case d == 0 || o.principal != c.Principal || o.released || o.asked:
		case o.status == 0:
			running, wait = true, max(wait, d)
		default:
			wait = max(wait, after(o.end, d).Sub(now))
		}
	}
	if wait > 0 {
		return []rules.Violation{{Reason: rules.ReasonCooldown, RetryAfter: wait, Running: running}}
	}
	return nil
}
