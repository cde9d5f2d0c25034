package lint

import (
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/operator"
)

// lintAsks checks that an id tells one package's ask from every other's that can
// apply to the same call: a standing grant answers the rules that asked for it,
// and must not answer another rule because of its name.
func (c *Checked) lintAsks(errs *policydir.Errors) {
	askers := map[string][]policydir.Asker{}
	for _, m := range c.HandWritten(c.Parsed) {
		if !policydir.Contributes(m.Package.Path) {
			continue
		}
		kind, name := policydir.ContractPackage(m.Package.Path)
		for _, r := range m.Rules {
			if id, ok := policydir.AskID(r); ok {
				lintAskID(askers, policydir.Asker{Kind: kind, Name: name}, id, errs)
			}
		}
	}
}

// lintAskID checks one id and records which package uses it.
func lintAskID(askers map[string][]policydir.Asker, by policydir.Asker, id *ast.Term, errs *policydir.Errors) {
	text := string(id.Value.(ast.String))
	others := askers[text]
	switch {
	case text == "":
		errs.Add(id.Location, "the id of an ask is empty", "name what the rule asks for")
	case text == policydir.DeclaredAsk || text == "declaration": // that is how the engine calls it
		errs.Add(id.Location, fmt.Sprintf("the id %q belongs to the consent that tools.yaml declares", text), "give this ask an id of its own")
	case slices.ContainsFunc(others, func(o policydir.Asker) bool {
		return o != by && (o.Kind != policydir.ToolPackage || by.Kind != policydir.ToolPackage)
	}):
		errs.Add(id.Location, fmt.Sprintf("the id %q is that of another package's ask", text),
			"give this ask an id of its own: a grant answers the rule that asked for it")
	}
	askers[text] = append(others, by)
}

// approvers refuses entries of an ask that no approver can be: the call would wait for nobody.
func (l *valueLint) approvers(r *ast.Rule, entry values.Set, f *values.Frame) {
	for _, c := range l.Elements(l.Step(entry, ast.StringTerm("approvers"), f)).Constants() {
		text, ok := c.Value.(ast.String)
		if !ok {
			continue
		}
		at := l.Where(c)
		if at == nil {
			at = l.entryLocation(r, "approvers")
		}
		if err := operator.CheckApprover(string(text)); err != nil {
			l.notes.at("approver", at).wrong(at, "approvers: "+err.Error(), "write an id as approvers have it, or group:NAME, such as group:finance")
		}
	}
}

// askWarnings finds asks of a tool's package that cannot have the effect that they
// request, since a policy narrows what the declaration allows and never widens it.
func (c *Checked) askWarnings() policydir.Errors {
	var warnings policydir.Errors
	for _, m := range c.HandWritten(c.Parsed) {
		kind, name := policydir.ContractPackage(m.Package.Path)
		if kind != policydir.ToolPackage || !policydir.Contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			if _, ok := policydir.AskID(r); ok {
				c.warnOfAsk(name, r.Head.Key.Value.(ast.Object), &warnings)
			}
		}
	}
	for _, w := range warnings {
		w.Code = codeAsk
	}
	return warnings
}

// warnOfAsk looks at what of an ask is written as a constant.
func (c *Checked) warnOfAsk(tool string, entry ast.Object, warnings *policydir.Errors) {
	var declared consent.GrantCover
	var approvers []string
	if asks := c.Declared.Tools[tool].Consent; asks != nil {
		declared, approvers = asks.MaxCover, asks.Approvers
	}
	if t := entry.Get(ast.StringTerm("max_cover")); t != nil && policydir.IsConstant(t) {
		var wanted consent.GrantCover
		if err := wanted.UnmarshalText([]byte(t.Value.(ast.String))); err == nil && wanted > declared {
			warnings.Add(t.Location, fmt.Sprintf("no grant can cover %q: tools.yaml allows %q at most", wanted, declared),
				"write the narrower cover, or declare consent: {max_cover: "+wanted.String()+"}")
		}
	}
	t := entry.Get(ast.StringTerm("approvers"))
	if t == nil || len(approvers) == 0 {
		return
	}
	ids, ok := constantStrings(t.Value)
	if ok && !slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(approvers, id) }) {
		warnings.Add(t.Location, fmt.Sprintf("nobody can give this consent: the approvers that tools.yaml declares are %q", approvers),
			"name one of them, or the call is always denied")
	}
}
