package rules

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime"
)

// An Engine is a checked Config. It never changes and is shared by all sessions.
type Engine struct {
	tools     []*tool
	former    []*tool          // one for each earlier name, behind the tools in all lists by index
	byName    map[string]*tool // also by earlier names
	groups    []string
	members   [][]*tool // of groups
	starts    []*tool   // in declaration order, as all lists here
	required  []*tool
	budget    int           // calls of a run, all tools together; 0: no limit
	cooldown  time.Duration // after the end of any call, for all tools; 0: none
	reminders int
}

// tool is a Tool in which names are resolved. A tool that was renamed is one tool for each of its
// names, since what is recorded stays under the name that it was recorded by: under a later Config that
// name may be of another tool. Whoever asks what has happened with a tool asks for all its names.
type tool struct {
	name   string
	index  int
	now    *tool   // the tool under its present name: itself, unless name is an earlier one
	former []*tool // of the present one: under its earlier names

	start, required, exit, goesOn, consent bool

	needs     []*tool // requires_preceding
	needsAny  bool
	precedes  []*tool // must_precede
	groups    []int
	maxCalls  int // 0: no limit
	cooldown  time.Duration
	allowed   *runtime.AllowedOperations
	dedupe    runtime.DedupeMode
	window    time.Duration // of dedupe
	keyed     bool
	keyWindow time.Duration
	idempot   bool
	undo      time.Duration

	undoIndex, windowIndex, keyIndex int // of undo, window and keyWindow among the durations of all tools

	free    bool // no count, order, group or cooldown can refuse it
	retired bool // the engine does not know it: see State.retire
}

// Compile checks cfg and resolves its names. The error joins one error for
// each mistake (SEMANTICS 4.2, 4.7 and 4.17).
func Compile(cfg Config) (*Engine, error) {
	e := &Engine{byName: make(map[string]*tool, len(cfg.Tools)), reminders: max(cfg.Reminders, 0)}
	if cfg.Reminders == 0 {
		e.reminders = DefaultReminders
	}
	if !cfg.Set.MaxCallsEach {
		e.budget = cfg.Set.MaxCalls
	}
	if !cfg.Set.CooldownEach {
		e.cooldown = max(cfg.Set.Cooldown, 0)
	}
	var errs []error
	for i := range cfg.Tools {
		t := newTool(i, &cfg.Tools[i], &cfg.Set)
		if e.byName[t.name] != nil {
			errs = append(errs, fmt.Errorf("tool %q is declared twice: rename one", t.name))
		}
		if t.exit && t.goesOn {
			errs = append(errs, fmt.Errorf("tool %q has both continue_loop and exit_loop: keep one", t.name))
		}
		e.tools = append(e.tools, t)
		e.byName[t.name] = t
	}
	for i := range cfg.Tools {
		errs = append(errs, e.resolve(e.tools[i], &cfg.Tools[i].Rules)...)
	}
	errs = append(errs, e.rename(cfg.Tools)...)
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	durations := map[time.Duration]int{}
	index := func(d time.Duration) int {
		if _, known := durations[d]; !known {
			durations[d] = len(durations)
		}
		return durations[d]
	}
	for _, t := range e.tools {
		t.free = e.free(t)
		t.undoIndex, t.windowIndex, t.keyIndex = index(t.undo), index(t.window), index(t.keyWindow)
		for _, f := range t.former {
			name, at := f.name, f.index
			*f = *t
			f.name, f.index, f.former = name, at, nil
		}
	}
	return e, nil
}

// rename adds the earlier names of tools, each of which is that of one tool.
func (e *Engine) rename(declared []Tool) (errs []error) {
	for i, t := range e.tools {
		for _, name := range declared[i].Former {
			if o := e.byName[name]; o != nil {
				errs = append(errs, fmt.Errorf("tool %q: the earlier name %q is that of tool %q: keep one of them", t.name, name, o.now.name))
				continue
			}
			f := &tool{name: name, index: len(e.tools) + len(e.former), now: t}
			t.former, e.former, e.byName[name] = append(t.former, f), append(e.former, f), f
		}
	}
	return errs
}

// width is how many items a list by tool has, where no retired tool was called.
func (e *Engine) width() int { return len(e.tools) + len(e.former) }

// total returns the sum of the items of t in a list by tool, under all its names.
func (t *tool) total(list []int32) int {
	n := list[t.now.index]
	for _, f := range t.now.former {
		n += list[f.index]
	}
	return int(n)
}

// newTool returns the part of a tool that refers to no other (SEMANTICS 4.2, 4.7, 4.8 and 4.12).
func newTool(index int, d *Tool, set *runtime.Rules) *tool {
	r := &d.Rules
	t := &tool{
		name: d.Name, index: index,
		start: r.StartConstraint, required: r.RequiredBeforeExit, exit: r.ExitLoop, goesOn: r.ContinueLoop, consent: d.Consent,
		needsAny: r.AnyPreceding, maxCalls: r.MaxCalls, cooldown: r.Cooldown, allowed: r.AllowedOperations,
		dedupe: d.Dedupe.Mode, window: d.Dedupe.Window, idempot: d.Idempotent, undo: d.Undo,
	}
	t.now = t
	if set.MaxCallsEach && set.MaxCalls > 0 && (t.maxCalls == 0 || set.MaxCalls < t.maxCalls) {
		t.maxCalls = set.MaxCalls
	}
	if set.CooldownEach {
		t.cooldown = max(t.cooldown, set.Cooldown)
	}
	if d.Idempotency != nil {
		t.keyed, t.keyWindow = true, d.Idempotency.Window
	}
	return t
}

// resolve sets what refers to other tools and to groups (SEMANTICS 4.10, 4.12 and 4.13).
func (e *Engine) resolve(t *tool, r *runtime.Rules) []error {
	var errs []error
	names := func(rule string, list []string) []*tool {
		var out []*tool
		for _, name := range list {
			o := e.byName[name]
			if o == nil {
				errs = append(errs, fmt.Errorf("tool %q: %s names %q, which is not declared", t.name, rule, name))
			} else if !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
		return out
	}
	t.needs = names("requires_preceding", r.RequiresPreceding)
	t.precedes = names("must_precede", r.MustPrecede)
	for _, name := range r.ExclusiveGroups {
		g := slices.Index(e.groups, name)
		if g < 0 {
			g = len(e.groups)
			e.groups, e.members = append(e.groups, name), append(e.members, nil)
		}
		if !slices.Contains(t.groups, g) {
			t.groups, e.members[g] = append(t.groups, g), append(e.members[g], t)
		}
	}
	if t.start {
		e.starts = append(e.starts, t)
	}
	if t.required {
		e.required = append(e.required, t)
	}
	return errs
}

// free reports whether no count, order, group or cooldown can refuse a call of t.
func (e *Engine) free(t *tool) bool {
	return !t.exit && e.budget == 0 && len(e.starts) == 0 && len(t.needs)+len(t.precedes)+len(t.groups) == 0 &&
		t.maxCalls == 0 && t.cooldown <= 0 && e.cooldown == 0
}

// tied reports whether t has an order, start or exit rule (SEMANTICS 4.3).
func (t *tool) tied() bool {
	return t.start || t.required || t.exit || len(t.needs) > 0 || len(t.precedes) > 0
}

// Tied reports whether a tool has an order, start or exit rule. In a batch such
// a call waits for all earlier calls, and all later ones wait for it.
func (e *Engine) Tied(name string) bool {
	t := e.byName[name]
	return t != nil && t.tied()
}

// Wants says what a Call must carry for the rules of its tool.
type Wants struct {
	Args      bool   // Args
	Key       bool   // Key, and Args
	Operation string // Operation: the argument that it comes from; empty: none
}

// Wants returns what a call of a tool must carry, so that the caller computes no
// digest that no rule uses.
func (e *Engine) Wants(name string) Wants {
	t := e.byName[name]
	if t == nil {
		return Wants{}
	}
	w := Wants{Args: t.dedupe != runtime.DedupeNever || t.keyed, Key: t.keyed}
	if t.allowed != nil {
		w.Operation = t.allowed.Arg
	}
	return w
}

// Tools returns the names of all tools in declaration order.
func (e *Engine) Tools() []string { return namesOf(e.tools) }

// Reminders returns how often a model that stops is reminded of open exit requirements.
func (e *Engine) Reminders() int { return e.reminders }

// Starts returns the names of the start tools in declaration order.
func (e *Engine) Starts() []string { return namesOf(e.starts) }

// namesOf never returns nil: in a detail an empty list says something.
func namesOf(list []*tool) []string {
	out := make([]string, len(list))
	for i, t := range list {
		out[i] = t.name
	}
	return out
}
