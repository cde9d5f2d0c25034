package lint

import (
	"errors"
	"fmt"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
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
		if err := runtime.CheckApprover(string(text)); err != nil {
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
	for _, a := range c.knownAsks() {
		if a.by.Kind == policydir.ToolPackage && a.when != "" {
			c.warnOfDeclared(&a, &warnings)
		}
	}
	for _, w := range warnings {
		w.Code = codeAsk
	}
	return warnings
}

// warnOfDeclared looks at whether the approvers that tools.yaml declares can agree to an ask that applies to some calls.
func (c *Checked) warnOfDeclared(a *knownAsk, warnings *policydir.Errors) {
	declared := c.declared(a.by.Name)
	if declared == nil || len(declared.Approvers) == 0 {
		return
	}
	_, err := consent.Merge(declared, a.Ask)
	if _, alone := consent.Merge(nil, a.Ask); err == nil || alone != nil { // which is an error
		return
	}
	what, hint := fmt.Sprintf("nobody can give this consent: the approvers that tools.yaml declares are %q", declared.Approvers), "name one of them, or the call is always denied"
	if errors.Is(err, consent.ErrQuorum) {
		what, hint = fmt.Sprintf("%s, and %d of them are wanted", what, max(declared.Quorum, a.Quorum)), "name as many of them, or the call is always denied"
	}
	warnings.Add(a.where, what, hint)
}

// declared returns what tools.yaml requires of the consent to calls of a tool, nil when it requires none.
func (c *Checked) declared(tool string) *consent.Requirement {
	if asks := c.Declared.Tools[tool].Consent; asks != nil {
		return &consent.Requirement{Approvers: asks.Approvers, Quorum: asks.Quorum}
	}
	return nil
}

// warnOfAsk looks at what of an ask is written as a constant.
func (c *Checked) warnOfAsk(tool string, entry ast.Object, warnings *policydir.Errors) {
	var declared runtime.GrantCover
	if asks := c.Declared.Tools[tool].Consent; asks != nil {
		declared = asks.MaxCover
	}
	if t := entry.Get(ast.StringTerm("max_cover")); t != nil && policydir.IsConstant(t) {
		var wanted runtime.GrantCover
		if err := wanted.UnmarshalText([]byte(t.Value.(ast.String))); err == nil && wanted > declared {
			warnings.Add(t.Location, fmt.Sprintf("no grant can cover %q: tools.yaml allows %q at most", wanted, declared),
				"write the narrower cover, or declare consent: {max_cover: "+wanted.String()+"}")
		}
	}
}

// A knownAsk is an ask whose approvers and quorum do not depend on a call.
type knownAsk struct {
	runtime.Ask
	by    policydir.Asker
	where *ast.Location
	when  string // the body of its rule; empty: the rule applies to every call
}

// lintAgreement finds asks to which nobody can agree: each of their calls would be denied. It looks at every ask alone, and at
// those that apply together: those without a condition, with what tools.yaml declares about the tool, and those of one package
// under the same condition.
func (c *Checked) lintAgreement(errs *policydir.Errors) {
	var asks, always []knownAsk
	for _, a := range c.knownAsks() {
		tool := ""
		if a.by.Kind == policydir.ToolPackage {
			tool = a.by.Name
		}
		if !c.lintAgreed(tool, []knownAsk{a}, errs) {
			continue
		}
		asks = append(asks, a)
		if a.when == "" && a.by.Kind == policydir.OrgPackage && c.lintAgreed("", append(always, a), errs) {
			always = append(always, a)
		}
	}
	for _, tool := range c.Tools {
		if len(always) > 0 && !c.lintAgreed(tool, always, errs) {
			continue
		}
		together := map[string][]knownAsk{"": always}
		for _, a := range slices.DeleteFunc(slices.Clone(asks), func(a knownAsk) bool { return a.by != policydir.Asker{Kind: policydir.ToolPackage, Name: tool} }) {
			with := append(slices.Clone(together[""]), a)
			if a.when != "" {
				with = append(slices.Clone(together[""]), append(slices.Clone(together[a.when]), a)...)
			}
			if !c.lintAgreed(tool, with, errs) {
				break
			}
			together[a.when] = append(together[a.when], a)
		}
	}
}

// lintAgreed reports whether approvers can agree to asks about a tool, which apply together. The last of them is where an
// error is. An empty name stands for no tool.
func (c *Checked) lintAgreed(tool string, together []knownAsk, errs *policydir.Errors) bool {
	var declared *consent.Requirement
	if !slices.ContainsFunc(together, func(a knownAsk) bool { return a.when != "" }) {
		declared = c.declared(tool)
	}
	list, ids := make([]runtime.Ask, len(together)), ""
	for i, a := range together {
		if list[i] = a.Ask; i < len(together)-1 {
			ids += fmt.Sprintf("%q, ", a.ID)
		}
	}
	_, err := consent.Merge(declared, list...)
	if err == nil {
		return true
	}
	last := together[len(together)-1]
	what := fmt.Sprintf("nobody can agree to ask %q", last.ID)
	if ids != "" {
		what += " together with " + ids[:len(ids)-2] + ", which applies to the same calls"
	}
	if declared != nil && len(declared.Approvers) > 0 {
		what += fmt.Sprintf(", where tools.yaml declares %d of the approvers %q for %q", max(declared.Quorum, 1), declared.Approvers, tool)
	}
	errs.Add(last.where, what+": "+err.Error(), "name approvers whom all of them have, as many as the highest quorum: as it is, every such call is denied consent_unavailable")
	return false
}

// knownAsks returns the asks whose approvers and quorum are written out, or are those of a constant or of data.json.
func (c *Checked) knownAsks() (list []knownAsk) {
	for _, m := range c.HandWritten(c.Parsed) {
		if !policydir.Contributes(m.Package.Path) {
			continue
		}
		kind, name := policydir.ContractPackage(m.Package.Path)
		for _, r := range m.Rules {
			id, ok := policydir.AskID(r)
			if !ok {
				continue
			}
			a := knownAsk{Ask: runtime.Ask{ID: string(id.Value.(ast.String))}, by: policydir.Asker{Kind: kind, Name: name}, where: id.Location}
			if when := r.Body.String(); when != "true" {
				a.when = when
			}
			entry := r.Head.Key.Value.(ast.Object)
			if t := entry.Get(ast.StringTerm("approvers")); t != nil {
				a.Approvers, ok = constantStrings(c.constant(m, t))
				a.where = t.Location
			}
			if t := entry.Get(ast.StringTerm("quorum")); t != nil && ok {
				var n ast.Number
				if n, ok = c.constant(m, t).(ast.Number); ok {
					a.Quorum, ok = n.Int()
				}
				a.where = t.Location
			}
			if ok {
				list = append(list, a)
			}
		}
	}
	return list
}

// constant returns the value of a term that is written out, or is the name of a constant of its package or of a value of
// data.json; nil for another one.
func (c *Checked) constant(m *ast.Module, t *ast.Term) ast.Value {
	switch v := t.Value.(type) {
	case ast.Var:
		return c.constantRule(m, v)
	case ast.Ref:
		return c.constantData(m, v)
	}
	if t.IsGround() {
		return t.Value
	}
	return nil
}

// constantRule returns the value of the rule of a package that has a name, if the rule is a constant.
func (c *Checked) constantRule(m *ast.Module, name ast.Var) (value ast.Value) {
	for _, of := range c.HandWritten(c.Parsed) {
		if !of.Package.Path.Equal(m.Package.Path) {
			continue
		}
		for _, r := range of.Rules {
			switch {
			case policydir.RuleName(r) != string(name):
			case value != nil || r.Head.Value == nil || len(r.Head.Args) > 0 || r.Body.String() != "true" || !r.Head.Value.IsGround():
				return nil
			default:
				value = r.Head.Value.Value
			}
		}
	}
	return value
}

// constantData returns the value of data.json that a reference leads to, directly or by an import.
func (c *Checked) constantData(m *ast.Module, ref ast.Ref) ast.Value {
	head, ok := ref[0].Value.(ast.Var)
	if !ok {
		return nil
	}
	path := ref[1:]
	if head != ast.DefaultRootDocument.Value.(ast.Var) {
		i := slices.IndexFunc(m.Imports, func(i *ast.Import) bool { return i.Name() == head })
		if i < 0 {
			return nil
		}
		of, isRef := m.Imports[i].Path.Value.(ast.Ref)
		if !isRef || !of[0].Equal(ast.DefaultRootDocument) {
			return nil
		}
		path = append(slices.Clone(of[1:]), path...)
	}
	var at any = c.Data
	for _, part := range path {
		name, isText := part.Value.(ast.String)
		object, isObject := at.(map[string]any)
		if !isText || !isObject {
			return nil
		}
		at = object[string(name)]
	}
	if value, err := ast.InterfaceToValue(at); err == nil && at != nil {
		return value
	}
	return nil
}
