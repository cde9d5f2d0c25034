package opa

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/runtime"
)

// stale reports how the generated files differ from the tools of the program.
func (g *generation) stale(reg *runtime.Registry) error {
	const hint = "run go generate and build the program again"
	file := g.Src.Home.FileName(policydir.DeclaredFile)
	var errs policydir.Errors
	for _, t := range reg.All() {
		spec := t.Spec()
		declared, ok := g.Declared.Tools[spec.Name]
		switch {
		case !ok:
			errs.AddFile(file, fmt.Sprintf("the program's tool %q is not declared", spec.Name), hint)
		case declared.Pin != spec.Pin:
			errs.AddFile(file, fmt.Sprintf("the tool %q was declared anew since the program was built, or the program since", spec.Name), hint)
		}
	}
	for _, name := range g.Tools {
		if _, _, ok := reg.Lookup(name); !ok {
			errs.AddFile(file, fmt.Sprintf("the program has no tool %q", name), hint)
		}
	}
	if len(errs) == 0 {
		for _, difference := range g.edited(reg) {
			errs.AddFile(file, difference, hint)
		}
	}
	return errs.Err()
}

// edited reports manual changes of the generated declarations by which policies allow
// or deny calls: the pin, which is stored with them, does not cover such changes.
func (g *generation) edited(reg *runtime.Registry) (differences []string) {
	data := policydir.Within(g.Data, "ambit", "declared")
	set := map[string][]string{"capabilities": {}, "modes": {}}
	for _, t := range reg.All() {
		spec := t.Spec()
		about := fmt.Sprintf("the tool %q", spec.Name)
		differences = append(differences, compareGates(about, policydir.Within(data, "tools", spec.Name), gates(spec))...)
		set["capabilities"] = append(set["capabilities"], spec.Capabilities...)
		for _, m := range spec.Modes {
			set["modes"] = append(set["modes"], m.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		differences = append(differences, compareGates("the declaration", data, map[string]any{name: set[name]})...)
	}
	return differences
}

// compareGates returns how members of the data differ from the members that the
// program has; nil stands for a member that is absent.
func compareGates(about string, have, want map[string]any) (differences []string) {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		a, b := canonical(have[name]), canonical(want[name])
		object, ok1 := have[name].(map[string]any)
		wanted, ok2 := want[name].(map[string]any)
		switch {
		case a == b:
		case ok1 && ok2 && len(object) == len(wanted):
			differences = append(differences, compareGates(fmt.Sprintf("%q of %s", name, about), object, wanted)...)
		default:
			differences = append(differences, fmt.Sprintf("%q of %s is %s, and %s in the program", name, about, a, b))
		}
	}
	return differences
}

// canonical writes a value so that equal ones are equal, and a person can read
// it. Lists are sets here.
func canonical(value any) string {
	if value == nil {
		return "absent"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	var list []string
	if json.Unmarshal(text, &list) == nil && list != nil {
		slices.Sort(list)
		text, _ = json.Marshal(slices.Compact(list)) // strings can be written
	}
	return string(text)
}

// gates returns what the declarations hold of a tool that decides about its calls.
func gates(s *runtime.Spec) map[string]any {
	g := map[string]any{"effect": s.Effect.String(), "capabilities": append([]string{}, s.Capabilities...), "behaviors": nil, "consent": nil}
	if len(s.Behaviors) > 0 {
		g["behaviors"] = flags(s.Behaviors)
	}
	modes := map[string]any{}
	for _, m := range s.Modes {
		modes[m.Name] = flags(m.Values)
	}
	g["modes"] = modes
	if c := s.Consent; c != nil {
		g["consent"] = map[string]any{
			"ask": c.Ask.String(), "message": c.Message, "approvers": append([]string{}, c.Approvers...), "timeout": c.Timeout.String(),
			"quorum": c.Quorum, "max_cover": c.MaxCover, "preview": c.Preview,
			"allow_edit": c.AllowEdit, "allow_self": c.AllowSelf, "reveal": append([]string{}, c.Reveal...),
		}
	}
	return g
}

// flags returns a set as policies look things up in.
func flags(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}
