package opa

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/runtime"
)

// lintAsks checks that an id tells one package's ask from every other's that can
// apply to the same call: a standing grant answers the rules that asked for it,
// and must not answer another rule because of its name.
func (b *Checked) lintAsks(errs *Errors) {
	askers := map[string][]asker{}
	for _, m := range b.handWritten(b.parsed) {
		if !contributes(m.Package.Path) {
			continue
		}
		kind, name := contractPackage(m.Package.Path)
		for _, r := range m.Rules {
			if id, ok := askID(r); ok {
				lintAskID(askers, asker{kind, name}, id, errs)
			}
		}
	}
}

// lintAskID checks one id and records which package uses it.
func lintAskID(askers map[string][]asker, by asker, id *ast.Term, errs *Errors) {
	text := string(id.Value.(ast.String))
	others := askers[text]
	switch {
	case text == "":
		errs.add(id.Location, "the id of an ask is empty", "name what the rule asks for")
	case text == declaredAsk || text == "declaration": // that is how the engine calls it
		errs.add(id.Location, fmt.Sprintf("the id %q belongs to the consent that tools.yaml declares", text), "give this ask an id of its own")
	case slices.ContainsFunc(others, func(o asker) bool { return o != by && (o.kind != toolPackage || by.kind != toolPackage) }):
		errs.add(id.Location, fmt.Sprintf("the id %q is that of another package's ask", text),
			"give this ask an id of its own: a grant answers the rule that asked for it")
	}
	askers[text] = append(others, by)
}

// askWarnings finds asks of a tool's package that cannot have the effect that they
// request, since a policy narrows what the declaration allows and never widens it.
func (b *Checked) askWarnings() Errors {
	var warnings Errors
	for _, m := range b.handWritten(b.parsed) {
		kind, name := contractPackage(m.Package.Path)
		if kind != toolPackage || !contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			if _, ok := askID(r); ok {
				b.warnOfAsk(name, r.Head.Key.Value.(ast.Object), &warnings)
			}
		}
	}
	for _, w := range warnings {
		w.Code = codeAsk
	}
	return warnings
}

// warnOfAsk looks at what of an ask is written as a constant.
func (b *Checked) warnOfAsk(tool string, entry ast.Object, warnings *Errors) {
	var declared runtime.GrantCover
	var approvers []string
	if c := b.declared.Tools[tool].Consent; c != nil {
		declared, approvers = c.MaxCover, c.Approvers
	}
	if t := entry.Get(ast.StringTerm("max_cover")); t != nil && isConstant(t) {
		var wanted runtime.GrantCover
		if err := wanted.UnmarshalText([]byte(t.Value.(ast.String))); err == nil && wanted > declared {
			warnings.add(t.Location, fmt.Sprintf("no grant can cover %q: tools.yaml allows %q at most", wanted, declared),
				"write the narrower cover, or declare consent: {max_cover: "+wanted.String()+"}")
		}
	}
	t := entry.Get(ast.StringTerm("approvers"))
	if t == nil || len(approvers) == 0 {
		return
	}
	ids, ok := constantStrings(t.Value)
	if ok && !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(approvers, id) }) {
		warnings.add(t.Location, fmt.Sprintf("nobody can give this consent: the approvers that tools.yaml declares are %q", approvers),
			"name one of them, or the call is always denied")
	}
}
