package places

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// Data is where a reference into data can lead: to one place, or, behind a
// part that is no constant, to one of several. Without any it is not known.
type Data struct {
	Path ast.Ref // as far as it was followed
	Docs []Doc
}

// A Doc is one place in data: what packages hold there, and base data.
type Doc struct {
	Node  *ast.TreeNode
	Value any
}

// Root returns where references into data begin.
func Root(b *policydir.Bundle, c *ast.Compiler) Data {
	return Data{ast.Ref{ast.DefaultRootDocument}, []Doc{{c.RuleTree.Child(ast.DefaultRootDocument.Value), b.Data}}}
}

// Step follows one part of a reference. closed says that there is nothing of that name.
func (at Data) Step(t *ast.Term) (next Data, closed bool) {
	name, isName := t.Value.(ast.String)
	if !isName {
		t = ast.VarTerm(ast.WildcardPrefix)
	}
	next.Path = at.Path.Append(t)
	named := false // members of the places have names
	for _, d := range at.Docs {
		switch {
		case d.Node != nil && len(d.Node.Values) > 0:
			return Data{Path: next.Path}, false // the value of a rule: the type checker's business
		case isName:
			member, ok := d.member(name)
			if ok {
				next.Docs = append(next.Docs, member)
			}
			named = named || d.named()
		default:
			next.Docs = append(next.Docs, d.members()...)
		}
	}
	if !isName && !at.declared() && slices.ContainsFunc(next.Docs, func(d Doc) bool { return d.Node == nil }) {
		return Data{Path: next.Path}, false // what an entry of such data has is for the application to say
	}
	return next, isName && named && len(next.Docs) == 0 && !at.mayHave(string(name))
}

// declared says that the places are in data that the library knows.
func (at Data) declared() bool { return len(at.Path) > 1 && at.Path[1].Equal(ast.StringTerm("ambit")) }

// Held says that a name which none of the places has is a typo in every application:
// it belongs to a package, or to data that the library knows.
func (at Data) Held() bool {
	return at.declared() || len(at.Path) > 1 && slices.ContainsFunc(at.Docs, func(d Doc) bool { return d.Node != nil })
}

// Any follows one part of a reference that may be one of several.
func (at Data) Any(alternatives []*ast.Term) Data {
	var next Data
	if len(alternatives) > 1 && !at.Held() {
		return next
	}
	for _, t := range alternatives {
		one, _ := at.Step(t)
		if len(one.Docs) == 0 {
			return Data{}
		}
		next.Path, next.Docs = one.Path, append(next.Docs, one.Docs...)
	}
	return next
}

// mayHave says that a member which none of several places has is one of the
// contract all the same: that no tool uses it yet is no typo.
func (at Data) mayHave(name string) bool {
	if !at.declared() {
		return false
	}
	switch at.Path[:len(at.Path)-1].String() {
	case "data.ambit.declared.tools":
		return !policydir.IsConstant(at.Path[4]) && slices.Contains([]string{"behaviors", "consent", "alias", "renamed_from"}, name)
	case "data.ambit.tools", "data.ambit.policies":
		return !policydir.IsConstant(at.Path[3]) && slices.Contains(policydir.ContractRules(), name)
	}
	return false
}

// Names returns the names of what there is at the places.
func (at Data) Names() []string {
	var names []string
	for _, d := range at.Docs {
		object, _ := d.Value.(map[string]any)
		names = slices.AppendSeq(names, maps.Keys(object))
		if d.Node == nil {
			continue
		}
		for k := range d.Node.Children {
			if s, ok := k.(ast.String); ok {
				names = append(names, string(s))
			}
		}
	}
	return names
}

// Lost returns the index of the part of a reference at which it leads nowhere,
// or 0, and the place before it.
func (at Data) Lost(ref ast.Ref) (before Data, wrong int) {
	for i, t := range ref[1:] {
		next, closed := at.Step(t)
		if closed {
			return at, i + 1
		}
		at = next
	}
	return at, 0
}

// named says that what there is at a place goes by names.
func (d Doc) named() bool {
	_, isObject := d.Value.(map[string]any)
	return isObject || d.Node != nil
}

// member returns what goes by a name at a place.
func (d Doc) member(name ast.String) (Doc, bool) {
	var m Doc
	if d.Node != nil {
		m.Node = d.Node.Child(name)
	}
	object, _ := d.Value.(map[string]any)
	value, inData := object[string(name)]
	m.Value = value
	return m, inData || m.Node != nil
}

// members returns everything that there is at a place.
func (d Doc) members() []Doc {
	var all []Doc
	if list, isList := d.Value.([]any); isList {
		for _, value := range list {
			all = append(all, Doc{Value: value})
		}
	}
	for _, name := range (Data{Docs: []Doc{d}}).Names() {
		m, _ := d.member(ast.String(name))
		all = append(all, m)
	}
	return all
}
