package lint

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// entry checks the members of an entry of a contract rule that are constant, also
// through locals and rules: decode refuses such an entry in every decision.
func (l *valueLint) entry(r *ast.Rule, f *values.Frame) {
	f = f.With(l.Narrowed(r.Body, f))
	object, name := l.Values(r.Head.Key, f), policydir.RuleName(r)
	switch name {
	case "modify":
		l.rewrite(r, object, f)
	case "obligations":
		l.obligation(r, object, f)
	case "ask":
		l.approvers(r, object, f)
	}
	for _, field := range policydir.Contract(name) {
		if field.Kind == policydir.KindAny {
			continue
		}
		at := l.entryLocation(r, field.Name)
		if s := l.Step(object, ast.StringTerm(field.Name), f); len(s.Constants()) < len(s.Candidates()) {
			if kinds := l.Kinds(s); kinds&kindsOfField(field.Kind) == 0 {
				l.notes.at("entry "+field.Name, at).wrong(at, fmt.Sprintf("%q of %s must be %s, and is %v", field.Name, name, field.Kind, kinds), field.Kind.Remedy())
			}
		}
		for _, c := range l.Step(object, ast.StringTerm(field.Name), f).Constants() {
			if problem, hint := l.checked.lintValue(name, field, c.Term); problem != "" {
				l.notes.at("entry "+field.Name, at).wrong(at, problem+": this is "+shown(c.Value), hint)
			}
		}
	}
}

// kindsOfField returns the kinds of value that a member of an entry may be of.
func kindsOfField(k policydir.ValueKind) schema.Kinds {
	switch k {
	case policydir.KindString:
		return schema.StringKind
	case policydir.KindInt:
		return schema.NumberKind
	case policydir.KindObject:
		return schema.ObjectKind
	case policydir.KindStrings:
		return schema.ArrayKind | schema.SetKind
	}
	return schema.AnyKind
}
