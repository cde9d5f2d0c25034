package lint

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A claim is a rule that gives something a constant value, under conditions.
type claim struct {
	rule  *ast.Rule
	under conditions
	value *values.Constant // nil: computed
	path  []string         // of a rewrite: the parts of its pointer
	text  string           // of a rewrite: its pointer
}

// conflicts reports rules that cannot both hold where one of them does: complete
// rules and functions with two values, and rewrites that contradict each other.
func (l *valueLint) conflicts() {
	byName := map[string][]claim{}
	var order []string
	var rewrites []claim
	for _, m := range l.HandWritten(l.Compiler.Modules) {
		for _, r := range m.Rules {
			switch {
			case policydir.Contributes(m.Package.Path) && policydir.RuleName(r) == "modify" && r.Head.Key != nil:
				if c, ok := l.rewritten(r); ok {
					rewrites = append(rewrites, c)
				}
			case r.Default || r.Head.RuleKind() != ast.SingleValue || !r.Head.Ref().IsGround():
			default:
				name := r.Ref().String()
				if byName[name] == nil {
					order = append(order, name)
				}
				byName[name] = append(byName[name], claim{rule: r})
			}
		}
	}
	for _, name := range order {
		l.twoValues(byName[name])
	}
	pairs(rewrites, l.contradict)
}

// pairs calls f for every two of some claims.
func pairs(all []claim, f func(first, second claim)) {
	for i, second := range all {
		for _, first := range all[:i] {
			f(first, second)
		}
	}
}

// twoValues reports rules of one name that have two values.
func (l *valueLint) twoValues(all []claim) {
	if len(all) < 2 {
		return
	}
	for i := range all {
		r := all[i].rule
		all[i].under = l.conditionsOf(r, values.ToolSet{})
		if v, ok := l.Values(r.Head.Value, values.NewFrame(r, nil, values.ToolSet{}, 0)).AllConstants(); ok && len(v) == 1 {
			all[i].value = &v[0]
		}
	}
	pairs(all, func(first, second claim) {
		if first.value == nil || second.value == nil || first.value.Value.Compare(second.value.Value) == 0 {
			return
		}
		if first.under.meets(second.under) {
			at := second.rule.Location
			l.notes.at("conflict", at).wrong(at, fmt.Sprintf("%s is %s here and %s at %s, and both hold: a decision that asks for it fails",
				policydir.RuleName(second.rule), shown(second.value.Value), shown(first.value.Value), policydir.Position(first.rule.Location)),
				"keep one of them, give them conditions that exclude each other, or write else")
		}
	})
}

// rewritten returns what a rule rewrites, when that is one place.
func (l *valueLint) rewritten(r *ast.Rule) (claim, bool) {
	tools := l.Rooted(r.Module.Package.Path)
	f := values.NewFrame(r, nil, tools, 0)
	f = f.With(l.Narrowed(r.Body, f))
	entry := l.Values(r.Head.Key, f)
	pointers, ok := l.Step(entry, ast.StringTerm("pointer"), f).AllConstants()
	if !ok || len(pointers) != 1 {
		return claim{}, false
	}
	text, ok := pointers[0].Value.(ast.String)
	path, err := wire.ParsePointer(string(text))
	if !ok || err != nil {
		return claim{}, false
	}
	c := claim{rule: r, under: l.conditionsOf(r, tools), path: path, text: string(text)}
	if v, ok := l.Step(entry, ast.StringTerm("value"), f).AllConstants(); ok && len(v) == 1 {
		c.value = &v[0]
	}
	return c, true
}

// contradict reports two rewrites of one place, or of a place and one inside of it.
func (l *valueLint) contradict(first, second claim) {
	n := min(len(first.path), len(second.path))
	if !slices.Equal(first.path[:n], second.path[:n]) {
		return
	}
	if len(first.path) == len(second.path) && (first.value == nil || second.value == nil || first.value.Value.Compare(second.value.Value) == 0) {
		return
	}
	if first.under.meets(second.under) {
		at := l.entryLocation(second.rule, "pointer")
		l.notes.at("conflict", at).wrong(at, fmt.Sprintf("the rewrite of %q at %s and this one of %q contradict each other, and both apply: every such call is denied",
			first.text, policydir.Position(first.rule.Location), second.text), "keep one of them, or give them conditions that exclude each other")
	}
}

// failures reports rules that depend on nothing but constants and fail.
func (l *valueLint) failures() {
	for _, m := range l.HandWritten(l.Compiler.Modules) {
		for _, r := range m.Rules {
			if r.Default || !l.IsClosed(r) {
				continue
			}
			err := l.Run(r)
			failed, ok := errors.AsType[*topdown.Error](err)
			if !ok || topdown.IsCancel(err) {
				continue
			}
			at := failed.Location
			if at == nil || at.File == "" {
				at = r.Location
			}
			if l.notes.holds(at) {
				continue // the constant that is wrong
			}
			l.notes.at("closed", at).wrong(at, strings.Join(strings.Fields(failed.Message), " ")+": every decision that asks for "+policydir.RuleName(r)+" fails", "its values do not depend on the call: make it work with what is there")
		}
	}
}
