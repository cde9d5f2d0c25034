package analyze

import (
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// analysis is one run of Analyze. Mistakes that were reported are taken out of
// tools, so that none is reported again as the consequence of another.
type analysis struct {
	set       runtime.Rules
	tools     []rules.Tool
	index     map[string]int
	reminders int
	dead      map[string]bool // tools that can never run
	cyclic    map[string]bool // those that a Cycle names
	findings  []Finding
}

// Analyze returns what is wrong with cfg, in the order of its tools. A cfg that
// rules.Compile refuses is analyzed as far as it goes.
func Analyze(cfg rules.Config) []Finding {
	a := &analysis{set: cfg.Set, reminders: cfg.Reminders, index: map[string]int{}, dead: map[string]bool{}, cyclic: map[string]bool{}}
	for i := range cfg.Tools {
		a.declare(cfg.Tools[i])
	}
	for i := range a.tools {
		a.names(&a.tools[i])
	}
	for i := range a.tools {
		a.startNeeds(&a.tools[i])
	}
	a.cycles()
	a.reach()
	a.exits()
	for i := range a.tools {
		a.deadRules(&a.tools[i])
	}
	slices.SortStableFunc(a.findings, func(x, y Finding) int { return a.index[x.Tool] - a.index[y.Tool] })
	return a.findings
}

func (a *analysis) report(code Code, tool, rule string, related []string, format string, args ...any) {
	a.findings = append(a.findings, Finding{code, tool, rule, related, fmt.Sprintf(format, args...)})
}

// declare adds a tool, if its name is new.
func (a *analysis) declare(t rules.Tool) {
	if _, ok := a.index[t.Name]; ok {
		a.report(DuplicateTool, t.Name, "", nil, "tool %q is declared twice: rename one", t.Name)
		return
	}
	a.index[t.Name] = len(a.tools)
	if r := &t.Rules; r.ContinueLoop && r.ExitLoop {
		a.report(LoopConflict, t.Name, "exit_loop", nil, "tool %q has both continue_loop and exit_loop: keep one", t.Name)
		r.ContinueLoop = false
	}
	a.tools = append(a.tools, t)
}

func (a *analysis) tool(name string) *rules.Tool { return &a.tools[a.index[name]] }

// names takes names out of the rules of t that no tool has.
func (a *analysis) names(t *rules.Tool) {
	known := func(rule string, list []string) []string {
		var out []string
		for _, name := range list {
			if _, ok := a.index[name]; !ok {
				a.report(UnknownTool, t.Name, rule, []string{name}, "tool %q: %s names %q, which is not declared", t.Name, rule, name)
			} else {
				out = append(out, name)
			}
		}
		return out
	}
	t.Rules.RequiresPreceding = known("requires_preceding", t.Rules.RequiresPreceding)
	t.Rules.MustPrecede = known("must_precede", t.Rules.MustPrecede)
}

// startNeeds reports a start tool that waits for one which waits for it.
func (a *analysis) startNeeds(t *rules.Tool) {
	r := &t.Rules
	if !r.StartConstraint {
		return
	}
	var starts, others []string
	for _, n := range r.RequiresPreceding {
		if a.tool(n).Rules.StartConstraint {
			starts = append(starts, n)
		} else {
			others = append(others, n)
		}
	}
	if len(others) == 0 || r.AnyPreceding && len(starts) > 0 {
		return
	}
	a.report(StartNeeds, t.Name, "requires_preceding", others,
		"start tool %q needs %s, which may not run before every start tool has: make it a start tool too, or drop the requirement", t.Name, quoted(others))
	r.RequiresPreceding = starts
}

// cycles reports tools that need each other.
func (a *analysis) cycles() {
	for i := range a.tools {
		t := &a.tools[i]
		if a.cyclic[t.Name] {
			continue
		}
		path := a.path(t.Name, t.Name, map[string]bool{})
		if path == nil {
			continue
		}
		var related []string
		for _, n := range path {
			a.cyclic[n] = true
			if n != t.Name {
				related = append(related, n)
			}
		}
		text := fmt.Sprintf("%q", t.Name)
		for _, n := range path {
			text += fmt.Sprintf(" needs %q", n)
		}
		a.report(Cycle, t.Name, "requires_preceding", related, "no tool of this circle can run first: %s", text)
	}
}

// path returns the prerequisites that lead from one tool to another.
func (a *analysis) path(from, to string, seen map[string]bool) []string {
	for _, n := range a.must(from) {
		if n == to {
			return []string{n}
		}
		if seen[n] {
			continue
		}
		seen[n] = true
		if rest := a.path(n, to, seen); rest != nil {
			return append([]string{n}, rest...)
		}
	}
	return nil
}

// must returns the prerequisites of which none can be left out.
func (a *analysis) must(name string) []string {
	r := &a.tool(name).Rules
	if r.AnyPreceding && len(r.RequiresPreceding) > 1 {
		return nil
	}
	return r.RequiresPreceding
}

// needed returns all that has to succeed before a tool can run, in declaration
// order.
func (a *analysis) needed(name string) []string {
	seen := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		before := a.must(name)
		if !a.tool(name).Rules.StartConstraint {
			before = append(a.starts(), before...)
		}
		for _, n := range before {
			if !seen[n] {
				seen[n] = true
				visit(n)
			}
		}
	}
	visit(name)
	var out []string
	for i := range a.tools {
		if n := a.tools[i].Name; seen[n] {
			out = append(out, n)
		}
	}
	return out
}

func (a *analysis) starts() []string {
	var out []string
	for i := range a.tools {
		if a.tools[i].Rules.StartConstraint {
			out = append(out, a.tools[i].Name)
		}
	}
	return out
}
