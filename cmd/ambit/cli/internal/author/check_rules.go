package author

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/rules/analyze"
)

// A warning is a finding that keeps nothing from working.
type warning struct {
	code string
	at   *dsl.Diagnostic
}

// coverUnmatchable is the code of a cover that no grant can have.
const coverUnmatchable = "unmatchable_cover"

// analyse finds what is wrong with the rules of d as a whole. What can never
// work is an error; what merely says nothing is a warning.
func analyse(d *project.Declaration) (warnings []warning, err error) {
	if d == nil {
		return nil, nil
	}
	cfg := rulesConfig(d.File)
	var errs cmdutil.CodedErrors
	for _, f := range analyze.Analyze(cfg) {
		at := d.File.Diagnostic(findingPos(d.File, f), findingHint(f, len(cfg.Tools)), "%s", findingMessage(f))
		if f.Code == analyze.DeadRule {
			warnings = append(warnings, warning{string(f.Code), at})
		} else {
			errs = append(errs, cmdutil.CodedError{Code: string(f.Code), At: at})
		}
	}
	warnings = append(warnings, covers(d.File)...)
	warnings = append(warnings, declared(d.File)...)
	slices.SortStableFunc(warnings, func(a, b warning) int { return compareDiagnostics(a.at, b.at) })
	if len(errs) == 0 {
		return warnings, nil
	}
	slices.SortStableFunc(errs, func(a, b cmdutil.CodedError) int { return compareDiagnostics(a.At, b.At) })
	return warnings, errs
}

// declared are the warnings of the declaration itself.
func declared(f *dsl.File) []warning {
	var out []warning
	for _, w := range f.Warnings {
		out = append(out, warning{w.Code, w.Diagnostic})
	}
	return out
}

func warningFindings(warnings []warning) []finding {
	var out []finding
	for _, w := range warnings {
		out = append(out, found(severityWarning, w.code, w.at))
	}
	return out
}

func compareDiagnostics(a, b *dsl.Diagnostic) int {
	return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
}

// rulesConfig is the configuration of the rule engine for the tools of f.
func rulesConfig(f *dsl.File) rules.Config {
	cfg := rules.Config{Set: rulesOf(f.Rules)}
	for _, t := range f.Tools {
		r := rules.Tool{Name: t.Name, Rules: rulesOf(t.Rules), Idempotent: t.Idempotent}
		r.Consent = t.Consent != nil && t.Consent.Ask == "always"
		if t.Undo != nil {
			r.Undo = t.Undo.TTL
		}
		cfg.Tools = append(cfg.Tools, r)
	}
	return cfg
}

func rulesOf(r *dsl.Rules) runtime.Rules {
	if r == nil {
		return runtime.Rules{}
	}
	out := runtime.Rules{
		StartConstraint: r.StartConstraint, RequiresPreceding: r.RequiresPreceding, AnyPreceding: r.AnyPreceding,
		MustPrecede: r.MustPrecede, ExclusiveGroups: r.ExclusiveGroups, RequiredBeforeExit: r.RequiredBeforeExit,
		MaxCalls: r.MaxCalls, MaxCallsEach: r.MaxCallsEach, Cooldown: r.Cooldown, CooldownEach: r.CooldownEach,
		ContinueLoop: r.ContinueLoop, ExitLoop: r.ExitLoop,
	}
	if a := r.AllowedOperations; a != nil {
		out.AllowedOperations = &runtime.AllowedOperations{Arg: a.Arg, Values: a.Values}
	}
	return out
}

// ofSet reports whether f is to be mended in the rules of the whole set.
func ofSet(f analyze.Finding) bool {
	return f.Code == analyze.Unreachable && f.Rule == "max_calls"
}

// findingPos is where f is to be mended: at the rule, or else at the
// prerequisites that bring the rules of other tools into play.
func findingPos(file *dsl.File, f analyze.Finding) dsl.Pos {
	if ofSet(f) && file.Rules != nil {
		return file.Rules.Keys["max_calls"]
	}
	i := slices.IndexFunc(file.Tools, func(t *dsl.Tool) bool { return t.Name == f.Tool })
	if i < 0 {
		return dsl.Pos{}
	}
	t := file.Tools[i]
	var keys map[string]dsl.Pos
	if t.Rules != nil {
		keys = t.Rules.Keys
	}
	return cmp.Or(keys[f.Rule], keys["requires_preceding"], t.Pos)
}

// tellsRemedy reports whether the message of f ends with the remedy.
func tellsRemedy(f analyze.Finding) bool {
	return f.Code == analyze.StartNeeds || f.Code == analyze.LoopConflict || f.Code == analyze.DuplicateTool
}

func findingMessage(f analyze.Finding) string {
	if i := strings.LastIndex(f.Message, ": "); i > 0 && tellsRemedy(f) {
		return f.Message[:i]
	}
	return f.Message
}

// findingHint is the remedy for f in a set of n tools.
func findingHint(f analyze.Finding, n int) string {
	if i := strings.LastIndex(f.Message, ": "); i > 0 && tellsRemedy(f) {
		return f.Message[i+2:]
	}
	switch f.Code {
	case analyze.UnknownTool:
		return "declare that tool, or take the name out of " + f.Rule
	case analyze.Cycle:
		return "take one of these tools out of a requires_preceding, or let any of several do: {any: true, tools: [...]}"
	case analyze.Unreachable:
		return unreachableHint(f, n)
	case analyze.ExitUnmet:
		if len(f.Related) > 0 {
			return "drop required_before_exit from one of them, or what keeps them apart"
		}
		return "mend what keeps it from running, or drop required_before_exit"
	case analyze.ExitUnreachable:
		return "mend what keeps it from running, or let another tool have exit_loop"
	}
	return deadHint(f)
}

func unreachableHint(f analyze.Finding, n int) string {
	switch f.Rule {
	case "max_calls":
		return "allow at least " + cmdutil.Count(min(len(f.Related)+1, n), "call")
	case "exclusive_group":
		return "put them into different groups, or drop the requirement"
	case "must_precede":
		return "keep one of the two rules"
	case "allowed_operations":
		return "list the operations that are allowed"
	case "start_constraint":
		return "drop start_constraint from one of them, or what keeps them apart"
	}
	if len(f.Related) > 0 {
		return "mend that tool first, or drop the requirement"
	}
	return "drop one of its rules"
}

func deadHint(f analyze.Finding) string {
	switch {
	case f.Rule == "max_calls", f.Rule == "cooldown":
		return "remove it, or make it stricter than the rule of the set"
	case f.Rule == "exclusive_group":
		return "put another tool into the group, or remove it"
	case len(f.Related) > 0:
		return "take the name out of the list"
	}
	return "remove it"
}

// covers warns of covers that no grant can have: a predicate names an argument
// whose value may be recorded, and there is none.
func covers(file *dsl.File) []warning {
	var out []warning
	for _, t := range file.Tools {
		if t.Consent == nil || t.Consent.MaxCover != "args" || nameable(t.Input, 0) {
			continue
		}
		pos := cmp.Or(t.Consent.Pos, t.Pos)
		out = append(out, warning{coverUnmatchable, file.Diagnostic(pos, "write max_cover: exact, which is the default",
			"tool %q: consent.max_cover: args can never cover a call: no argument may be named in a grant, as there is none or all are x-sensitive", t.Name)})
	}
	return out
}

// maxDepth bounds the way down into schemas that contain themselves.
const maxDepth = 16

// nameable reports whether a predicate can name an argument of s, or a part of
// one: no look at it tells what is x-sensitive.
func nameable(s *dsl.Schema, depth int) bool {
	switch {
	case s == nil || s.Sensitive:
		return false
	case depth > maxDepth:
		return true
	case s.Target != nil:
		return nameable(s.Target.Schema, depth+1)
	case s.Type != dsl.TypeObject || !s.Closed || len(s.OneOf) > 0:
		return true
	case len(s.Properties) == 0:
		return depth > 0 // a predicate can name a {} within the input, but nothing in an empty input
	}
	return slices.ContainsFunc(s.Properties, func(p *dsl.Property) bool { return nameable(p.Schema, depth+1) })
}
