package opa

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/runtime"
)

// declaredAsk is the id of the library's ask, which the declaration makes.
const declaredAsk = "declared"

// An asker is a package that asks.
type asker struct {
	kind packageKind
	name string // of the tool, or of the organization's concern
}

// lintAsks checks that an id tells one package's ask from every other's that can
// apply to the same call: a standing grant answers the rules that asked for it,
// and must not answer another rule because of its name.
func (b *bundle) lintAsks(errs *Errors) {
	b.askers = map[string][]asker{}
	for _, m := range b.handWritten(b.parsed) {
		if !contributes(m.Package.Path) {
			continue
		}
		kind, name := contractPackage(m.Package.Path)
		for _, r := range m.Rules {
			if id, ok := askID(r); ok {
				b.lintAskID(asker{kind, name}, id, errs)
			}
		}
	}
}

// lintAskID checks one id and records which package uses it.
func (b *bundle) lintAskID(by asker, id *ast.Term, errs *Errors) {
	text := string(id.Value.(ast.String))
	others := b.askers[text]
	switch {
	case text == "":
		errs.add(id.Location, "the id of an ask is empty", "name what the rule asks for")
	case text == declaredAsk || text == "declaration": // that is how the engine calls it
		errs.add(id.Location, fmt.Sprintf("the id %q belongs to the consent that tools.yaml declares", text), "give this ask an id of its own")
	case slices.ContainsFunc(others, func(o asker) bool { return o != by && (o.kind != toolPackage || by.kind != toolPackage) }):
		errs.add(id.Location, fmt.Sprintf("the id %q is that of another package's ask", text),
			"give this ask an id of its own: a grant answers the rule that asked for it")
	}
	b.askers[text] = append(others, by)
}

// Asks reports whether a rule of the present policies may ask about calls of a
// tool. A grant that a rule asked for ends with the rule.
func (p *Policy) Asks(tool, id string) bool {
	d := p.current.Load()
	if id == declaredAsk {
		consent := d.declared.Tools[tool].Consent
		return consent != nil && consent.Ask == "always"
	}
	return slices.ContainsFunc(d.askers[id], func(a asker) bool { return a.kind == orgPackage || a.name == tool })
}

// askWarnings finds asks of a tool's package that cannot have the effect that they
// request, since a policy narrows what the declaration allows and never widens it.
func (b *bundle) askWarnings() Errors {
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
func (b *bundle) warnOfAsk(tool string, entry ast.Object, warnings *Errors) {
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

// askID returns the id of an entry of ask, where it is written as it must be.
func askID(r *ast.Rule) (*ast.Term, bool) {
	if ruleName(r) != "ask" || r.Head.Key == nil {
		return nil, false
	}
	entry, ok := r.Head.Key.Value.(ast.Object)
	if !ok {
		return nil, false
	}
	id := entry.Get(ast.StringTerm("id"))
	return id, id != nil && isConstant(id)
}
