package lint

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// entry checks the members of an entry of a contract rule that are constant, also
// through locals and rules: decode refuses such an entry in every decision.
func (a *valueLint) entry(r *ast.Rule, f *frame) {
	f = f.with(a.narrowed(r.Body, f))
	object, name := a.values(r.Head.Key, f), policydir.RuleName(r)
	switch name {
	case "modify":
		a.rewrite(r, object, f)
	case "obligations":
		a.obligation(r, object, f)
	}
	for _, field := range policydir.Contract(name) {
		if field.Kind == policydir.KindAny {
			continue
		}
		at := a.entryLocation(r, field.Name)
		for _, c := range a.step(object, ast.StringTerm(field.Name), f).constants() {
			if problem, hint := a.checked.lintValue(name, field, c.Term); problem != "" {
				a.notes.at("entry "+field.Name, at).wrong(at, problem+": this is "+shown(c.Value), hint)
			}
		}
	}
}
