package analyze

import (
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// never reports whether a tool of cfg can never run in a fresh run, even if earlier
// calls are undone.
func never(cfg rules.Config, name string) bool {
	i := slices.IndexFunc(cfg.Tools, func(t rules.Tool) bool { return t.Name == name })
	t := &cfg.Tools[i]
	if clash(cfg, t) {
		return true
	}
	engine, err := rules.Compile(withUndo(cfg, name))
	if err != nil {
		return false
	}
	s := engine.NewState()
	if _, err := s.StartRun(0, "run"); err != nil {
		return false
	}
	c := rules.Call{Run: "run", Tool: name}
	if ops := t.Rules.AllowedOperations; ops != nil && len(ops.Values) > 0 {
		c.Operation, c.HasOperation = ops.Values[0], true
	}
	return s.Unblock(0, &c).Outlook == rules.OutlookNever
}

// clash reports whether t and the tools that must have succeeded when it runs exclude
// each other: their successes must hold at the same time, so that an undo cannot help.
func clash(cfg rules.Config, t *rules.Tool) bool {
	r := &t.Rules
	holds := []*rules.Tool{t}
	for i := range cfg.Tools {
		o := &cfg.Tools[i]
		needed := slices.Contains(r.RequiresPreceding, o.Name) && (!r.AnyPreceding || len(r.RequiresPreceding) == 1)
		if o != t && (needed || o.Rules.StartConstraint && !r.StartConstraint) {
			holds = append(holds, o)
		}
	}
	for i, x := range holds {
		if i > 0 && slices.Contains(r.MustPrecede, x.Name) {
			return true
		}
		for _, y := range holds[i+1:] {
			if slices.ContainsFunc(x.Rules.ExclusiveGroups, func(g string) bool { return slices.Contains(y.Rules.ExclusiveGroups, g) }) {
				return true
			}
		}
	}
	return false
}

// withUndo returns cfg without what an undo takes back: the groups of tools that
// can be undone, their place in must_precede and their end of the run. It admits all
// that cfg admits: what it does not admit, cfg does not admit either.
func withUndo(cfg rules.Config, target string) rules.Config {
	undoable := map[string]bool{}
	for i := range cfg.Tools {
		undoable[cfg.Tools[i].Name] = cfg.Tools[i].Undo > 0
	}
	cfg.Tools = slices.Clone(cfg.Tools)
	for i := range cfg.Tools {
		t := &cfg.Tools[i]
		t.Rules.MustPrecede = slices.DeleteFunc(slices.Clone(t.Rules.MustPrecede), func(n string) bool { return undoable[n] })
		if undoable[t.Name] && t.Name != target {
			t.Rules.ExclusiveGroups, t.Rules.ExitLoop = nil, false
		}
	}
	return cfg
}

// config returns the tools as they are judged: those that are known never to run
// allow no operation.
func (a *analysis) config() rules.Config {
	tools := slices.Clone(a.tools)
	for i := range tools {
		if t := &tools[i]; a.stuck(t.Name) {
			t.Rules.AllowedOperations = new(runtime.AllowedOperations)
		}
	}
	return rules.Config{Tools: tools, Set: a.set, Reminders: a.reminders}
}

// reach finds the tools that can never run and reports why. A start tool that
// cannot run keeps everything else from running: that is said once.
func (a *analysis) reach() {
	for i := range a.tools {
		t := &a.tools[i]
		if t.Rules.StartConstraint && never(a.config(), t.Name) {
			a.dead[t.Name] = true
			a.explain(t)
		}
	}
	a.startsTogether()
	for more := true; more; {
		more = false
		for i := range a.tools {
			if t := &a.tools[i]; !a.dead[t.Name] && never(a.config(), t.Name) {
				a.dead[t.Name], more = true, true
			}
		}
	}
	for i := range a.tools {
		t := &a.tools[i]
		if a.dead[t.Name] && !slices.ContainsFunc(a.findings, func(f Finding) bool { return f.Code == Unreachable && f.Tool == t.Name }) {
			a.explain(t)
		}
	}
}

// startsTogether reports start tools that cannot all succeed. Those that cannot
// are then no start tools any more.
func (a *analysis) startsTogether() {
	for i := range a.tools {
		if t := &a.tools[i]; a.dead[t.Name] {
			t.Rules.StartConstraint = false
		}
	}
	starts := a.starts()
	if len(starts) < 2 || len(starts) == len(a.tools) || !a.apart(starts...) {
		return
	}
	a.report(Unreachable, starts[0], "start_constraint", starts[1:],
		"nothing but start tools can ever run: %s cannot all succeed", quoted(starts))
	for _, n := range starts {
		a.tool(n).Rules.StartConstraint = false
	}
}

// explain reports why t can never run, by the first cause that shows.
func (a *analysis) explain(t *rules.Tool) {
	say := func(rule string, related []string, format string, args ...any) {
		a.report(Unreachable, t.Name, rule, related, "tool %q can never run: "+format, append([]any{t.Name}, args...)...)
	}
	needed := a.needed(t.Name)
	all := append(slices.Clone(needed), t.Name)
	switch ops := t.Rules.AllowedOperations; {
	case a.cyclic[t.Name]:
		return
	case ops != nil && len(ops.Values) == 0:
		say("allowed_operations", nil, "no operation is allowed")
		return
	}
	if dead := slices.DeleteFunc(slices.Clone(t.Rules.RequiresPreceding), func(n string) bool { return !a.stuck(n) }); len(dead) > 0 &&
		(!t.Rules.AnyPreceding || len(dead) == len(t.Rules.RequiresPreceding)) {
		say("requires_preceding", dead, "it needs %s, which can never run", quoted(dead))
		return
	}
	if x, y, group := a.rivals(all); group != "" {
		say("exclusive_group", others(t.Name, x, y), "it takes both %q and %q, and group %q lets only one of them run", x, y, group)
		return
	}
	if a.set.MaxCalls > 0 && !a.set.MaxCallsEach && len(all) > a.set.MaxCalls {
		say("max_calls", needed, "it takes %d calls, and the set allows %d in a run", len(all), a.set.MaxCalls)
		return
	}
	if x, y := a.reversed(all); x != "" {
		say("must_precede", others(t.Name, x, y), "%q must run before %q, which has to succeed first", x, y)
		return
	}
	if exits := slices.DeleteFunc(slices.Clone(needed), func(n string) bool { return !a.tool(n).Rules.ExitLoop }); len(exits) > 0 {
		say("requires_preceding", exits, "it needs %s, which ends the run", quoted(exits))
		return
	}
	say("requires_preceding", nil, "no order of calls leads to it")
}

// stuck reports whether a tool is known not to run, by itself.
func (a *analysis) stuck(name string) bool {
	return a.dead[name] || a.cyclic[name]
}

// rivals returns two tools that one group keeps apart.
func (a *analysis) rivals(names []string) (x, y, group string) {
	for i, x := range names {
		for _, y := range names[i+1:] {
			for _, g := range a.tool(x).Rules.ExclusiveGroups {
				if slices.Contains(a.tool(y).Rules.ExclusiveGroups, g) {
					return x, y, g
				}
			}
		}
	}
	return "", "", ""
}

// reversed returns a tool that must precede one which it needs, or two that must
// precede each other.
func (a *analysis) reversed(names []string) (x, y string) {
	for _, x := range names {
		needed := a.needed(x)
		for _, y := range a.tool(x).Rules.MustPrecede {
			mutual := y != x && slices.Contains(names, y) && slices.Contains(a.tool(y).Rules.MustPrecede, x)
			if mutual || slices.Contains(needed, y) {
				return x, y
			}
		}
	}
	return "", ""
}

func others(name string, names ...string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == name })
}

// exits reports exit requirements that cannot be met, alone or together, and
// exit tools that can never run.
func (a *analysis) exits() {
	var required []string
	for i := range a.tools {
		t := &a.tools[i]
		if t.Rules.ExitLoop && a.stuck(t.Name) {
			a.report(ExitUnreachable, t.Name, "exit_loop", nil, "exit tool %q can never run", t.Name)
		}
		if !t.Rules.RequiredBeforeExit {
			continue
		}
		if a.stuck(t.Name) {
			a.report(ExitUnmet, t.Name, "required_before_exit", nil, "no run can finish: %q is required before exit and can never run", t.Name)
		} else {
			required = append(required, t.Name)
		}
	}
	for i, x := range required {
		for _, y := range required[i+1:] {
			if a.apart(x, y) {
				a.report(ExitUnmet, x, "required_before_exit", []string{y}, "no run can finish: %q and %q are both required before exit, and cannot both succeed", x, y)
				return
			}
		}
	}
	if len(required) > 2 && a.apart(required...) {
		a.report(ExitUnmet, required[0], "required_before_exit", required[1:], "no run can finish: %s are required before exit, and cannot all succeed", quoted(required))
	}
}

// apart reports whether tools cannot all succeed in one run: a tool that needs
// all of them could never run, even if nothing ended the run.
func (a *analysis) apart(names ...string) bool {
	cfg := a.config()
	cfg.Tools = slices.Clone(cfg.Tools)
	for i := range cfg.Tools {
		cfg.Tools[i].Rules.ExitLoop = false
	}
	if cfg.Set.MaxCalls > 0 && !cfg.Set.MaxCallsEach {
		cfg.Set.MaxCalls++
	}
	const last = "" // no declared tool has that name
	cfg.Tools = append(cfg.Tools, rules.Tool{Name: last, Rules: runtime.Rules{RequiresPreceding: names}})
	return never(cfg, last)
}
