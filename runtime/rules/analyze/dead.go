package analyze

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime/rules"
)

// deadRules reports rules of t that never decide anything: with and without
// them the same calls are admitted.
func (a *analysis) deadRules(t *rules.Tool) {
	if a.stuck(t.Name) {
		return
	}
	r := &t.Rules
	say := func(rule string, related []string, format string, args ...any) {
		a.report(DeadRule, t.Name, rule, related, "tool %q: "+format, append([]any{t.Name}, args...)...)
	}
	if r.StartConstraint && len(a.starts()) == len(a.tools) {
		say("start_constraint", nil, "start_constraint says nothing when every tool is a start tool")
	}
	a.deadOrder(t, say)
	for _, g := range r.ExclusiveGroups {
		others := slices.ContainsFunc(a.tools, func(o rules.Tool) bool {
			return o.Name != t.Name && slices.Contains(o.Rules.ExclusiveGroups, g)
		})
		if !others {
			say("exclusive_group", nil, "no other tool is in group %q", g)
		}
	}
	switch {
	case r.MaxCalls == 0 || a.set.MaxCalls == 0 || r.MaxCalls < a.set.MaxCalls:
	case a.set.MaxCallsEach:
		say("max_calls", nil, "max_calls %d is never reached: the set allows %d calls of each tool", r.MaxCalls, a.set.MaxCalls)
	default:
		say("max_calls", nil, "max_calls %d is never reached: the set allows %d calls of all tools together", r.MaxCalls, a.set.MaxCalls)
	}
	if r.Cooldown > 0 && r.Cooldown <= a.set.Cooldown {
		say("cooldown", nil, "cooldown %s is never waited for: that of the set is %s", r.Cooldown, a.set.Cooldown)
	}
}

// deadOrder reports names in order rules that change nothing.
func (a *analysis) deadOrder(t *rules.Tool, say func(string, []string, string, ...any)) {
	r := &t.Rules
	for _, n := range r.MustPrecede {
		o := a.tool(n)
		shared := slices.ContainsFunc(o.Rules.ExclusiveGroups, func(g string) bool { return slices.Contains(r.ExclusiveGroups, g) })
		switch {
		case a.stuck(n):
			say("must_precede", []string{n}, "must_precede names %q, which can never run", n)
		case shared && o != t:
			say("must_precede", []string{n}, "must_precede names %q, which shares a group with it and keeps it out anyway", n)
		}
	}
	for _, n := range r.RequiresPreceding {
		switch {
		case r.AnyPreceding && a.stuck(n):
			if a.cleansUp(t.Name, map[string]bool{}) {
				continue // what n needs may run in clean-up
			}
			say("requires_preceding", []string{n}, "requires_preceding offers %q, which can never run", n)
		case r.StartConstraint || !a.tool(n).Rules.StartConstraint:
		case r.AnyPreceding:
			say("requires_preceding", r.RequiresPreceding, "requires_preceding is always met: start tool %q precedes it anyway", n)
			return
		default:
			say("requires_preceding", []string{n}, "requires_preceding names start tool %q, which precedes it anyway", n)
		}
	}
}

// cleansUp reports whether a tool is required before exit, or something that is
// needs it.
func (a *analysis) cleansUp(name string, seen map[string]bool) bool {
	seen[name] = true
	if a.tool(name).Rules.RequiredBeforeExit {
		return true
	}
	return slices.ContainsFunc(a.tools, func(o rules.Tool) bool {
		return !seen[o.Name] && slices.Contains(o.Rules.RequiresPreceding, name) && a.cleansUp(o.Name, seen)
	})
}
