package values

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// maxEntries bounds the lists and objects of base data that the analysis goes through.
const maxEntries = 5000

// A document is a place below data: packages, base data, or both.
type document struct {
	places.Doc
	ref   ast.Ref
	frame *Frame // that reads it
}

// rootDocument returns the place where references into data begin.
func (a *Analysis) rootDocument(f *Frame) document {
	root := places.Root(a.Bundle, a.Compiler)
	return document{root.Docs[0], root.Path, f}
}

func (d document) member(a *Analysis, index *ast.Term) Set {
	next := document{ref: d.ref.Append(index), frame: d.frame}
	if d.Node != nil {
		next.Node = d.Node.Child(index.Value)
	}
	found := false
	switch value := d.Value.(type) {
	case map[string]any:
		if name, ok := index.Value.(ast.String); ok {
			next.Value, found = value[string(name)]
		}
	case []any:
		if n, ok := index.Value.(ast.Number); ok {
			if i, ok := n.Int(); ok && i >= 0 && i < len(value) {
				next.Value, found = value[i], true
			}
		}
	}
	switch {
	case next.Node != nil && len(next.Node.Values) > 0:
		return next.virtual(a)
	case found || next.Node != nil:
		return Only(next)
	}
	return Set{}
}

// virtual returns the values of the rules at the place, and of those below it.
func (d document) virtual(a *Analysis) (all Set) {
	var entries []*ast.Rule
	for _, r := range d.Node.Values {
		switch {
		case len(r.Ref()) > len(d.ref) || r.Head.RuleKind() == ast.MultiValue:
			entries = append(entries, r)
		case len(r.Head.Args) > 0:
			return Anything()
		default:
			all = all.and(a.ruleValue(r, nil, d.frame))
		}
	}
	if len(entries) > 0 {
		all = all.and(Only(partial{entries, d.frame, !slices.ContainsFunc(entries, func(r *ast.Rule) bool { return len(r.Ref()) != len(d.ref) })}))
	}
	if len(d.Node.Children) > 0 {
		all = all.and(Only(document{places.Doc{Node: &ast.TreeNode{Children: d.Node.Children}}, d.ref, d.frame}))
	}
	if a.exact(all) {
		return all
	}
	if t := a.evaluated.value(d.ref, d.Node.Values); t != nil {
		return Only(Constant{Term: ast.NewTerm(t.Value), near: d.Node.Values[0].Location})
	}
	return all
}

// exact says that the candidates are constants, or collections of constants.
func (a *Analysis) exact(s Set) bool {
	for _, c := range s.list {
		switch c := c.(type) {
		case Constant, document:
		case partial:
			_, keys := c.keys(a).AllConstants()
			_, elements := c.elements(a).AllConstants()
			if !keys || !elements {
				return false
			}
		default:
			return false
		}
	}
	return !s.open && len(s.list) > 0
}

func (d document) elements(a *Analysis) (all Set) {
	for _, index := range d.indexes() {
		all = all.and(d.member(a, index))
	}
	all.open = all.open || d.large()
	return all
}

// keys returns the names of what is in base data; those of packages are no names
// of anything else.
func (d document) keys(*Analysis) (all Set) {
	object, ok := d.Value.(map[string]any)
	if d.Node != nil {
		return d.ruleKeys()
	}
	if !ok || d.large() {
		return Anything()
	}
	for name := range object {
		all.list = append(all.list, Constant{Term: ast.StringTerm(name), path: policydir.JSONPath(d.path(), name) + policydir.KeyMark, key: true})
	}
	return all
}

// ruleKeys returns the keys of an object that rules such as limits.small make.
func (d document) ruleKeys() (all Set) {
	for _, child := range d.Node.Children {
		for _, r := range child.Values {
			if len(r.Module.Package.Path) >= len(d.ref) || len(r.Ref()) <= len(d.ref) || d.Value != nil {
				return Anything()
			}
			i := len(d.ref) - len(r.Module.Package.Path)
			all.list = append(all.list, Constant{Term: r.Head.Ref()[i], near: r.Location, key: true})
		}
		if len(child.Values) == 0 {
			return Anything()
		}
	}
	return all
}

// indexes returns the indexes of what is at the place.
func (d document) indexes() []*ast.Term {
	if d.large() {
		return nil
	}
	var all []*ast.Term
	if list, ok := d.Value.([]any); ok {
		for i := range list {
			all = append(all, ast.InternedTerm(i))
		}
	}
	for _, name := range (places.Data{Docs: []places.Doc{d.Doc}}).Names() {
		all = append(all, ast.StringTerm(name))
	}
	return all
}

// large says that there is too much at the place to go through it.
func (d document) large() bool {
	switch value := d.Value.(type) {
	case map[string]any:
		return len(value) > maxEntries
	case []any:
		return len(value) > maxEntries
	}
	return false
}

// constant returns what base data holds at the place, unless it nests.
func (d document) constant() (Constant, bool) {
	if d.Node != nil || d.large() {
		return Constant{}, false
	}
	nests := func(value any) bool {
		switch value.(type) {
		case map[string]any, []any:
			return true
		}
		return false
	}
	switch value := d.Value.(type) {
	case map[string]any:
		for _, v := range value {
			if nests(v) {
				return Constant{}, false
			}
		}
	case []any:
		if slices.ContainsFunc(value, nests) {
			return Constant{}, false
		}
	}
	v, err := ast.InterfaceToValue(d.Value)
	if err != nil {
		return Constant{}, false
	}
	return Constant{Term: ast.NewTerm(v), path: d.path()}, true
}

// path returns the path of the place in base data, for the scan of a data file.
func (d document) path() string {
	var b strings.Builder
	for _, t := range d.ref[1:] {
		b.WriteByte(0)
		switch v := t.Value.(type) {
		case ast.String:
			b.WriteString(string(v))
		default:
			b.WriteString(v.String())
		}
	}
	return b.String()
}

// Where returns the location at which a constant is written, as near as is known.
func (a *Analysis) Where(c Constant) *ast.Location {
	switch {
	case c.Location != nil && c.Location.File != "":
		return c.Location
	case c.path != "":
		if at := a.WhereData(c.path); at != nil {
			return at
		}
	}
	return c.near
}

// RulesOf returns the rules that a reference into data may use.
func (a *Analysis) RulesOf(ref ast.Ref) []*ast.Rule {
	if !ref[0].Equal(ast.DefaultRootDocument) {
		return nil
	}
	var rules []*ast.Rule
	for _, r := range a.Compiler.GetRulesDynamicWithOpts(ref, ast.RulesOptions{}) {
		if len(r.Head.Args) == 0 {
			rules = append(rules, r)
		}
	}
	return rules
}
