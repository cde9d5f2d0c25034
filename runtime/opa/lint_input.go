package opa

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// lintInput checks what OPA's type checker does not: comparisons with a value
// that the schema never allows, and object.get of a member that it does not declare.
func (b *bundle) lintInput(m *ast.Module, errs *Errors) {
	s := b.schemaOf(m.Package.Path)
	if s.node == nil {
		return
	}
	aliases := inputAliases(m)
	ast.WalkTerms(m, func(t *ast.Term) bool {
		if call, ok := t.Value.(ast.Call); ok {
			lintCall(s, aliases, call, errs)
		}
		return false
	})
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		if terms, ok := e.Terms.([]*ast.Term); ok {
			lintCall(s, aliases, terms, errs)
		}
		return false
	})
}

// inputAliases returns what imports call parts of the input.
func inputAliases(m *ast.Module) map[ast.Var][]string {
	aliases := map[ast.Var][]string{ast.InputRootDocument.Value.(ast.Var): {}}
	for _, i := range m.Imports {
		ref, ok := i.Path.Value.(ast.Ref)
		if path, isInput := groundInput(aliases, ref); ok && isInput {
			aliases[i.Name()] = path
		}
	}
	return aliases
}

// groundInput returns the names that a reference into the input consists of.
func groundInput(aliases map[ast.Var][]string, ref ast.Ref) ([]string, bool) {
	if len(ref) == 0 {
		return nil, false
	}
	head, ok := ref[0].Value.(ast.Var)
	names, isInput := aliases[head]
	if !ok || !isInput {
		return nil, false
	}
	names = slices.Clone(names)
	for _, t := range ref[1:] {
		s, ok := t.Value.(ast.String)
		if !ok {
			return nil, false
		}
		names = append(names, string(s))
	}
	return names, true
}

// inputSchema returns the schema of a term that is a reference into the input.
func inputSchema(s schema, aliases map[ast.Var][]string, t *ast.Term) (schema, []string, bool) {
	ref, ok := t.Value.(ast.Ref)
	if v, isVar := t.Value.(ast.Var); isVar {
		ref, ok = ast.Ref{ast.NewTerm(v)}, true
	}
	if !ok {
		return schema{}, nil, false
	}
	names, ok := groundInput(aliases, ref)
	if !ok {
		return schema{}, nil, false
	}
	m, _, ok := s.at(names)
	return m, names, ok
}

// lintCall checks one call of a built-in function, operators included.
func lintCall(s schema, aliases map[ast.Var][]string, call []*ast.Term, errs *Errors) {
	name := call[0].String()
	switch {
	case name == "object.get" && len(call) == 4:
		lintGet(s, aliases, call, errs)
	case len(call) == 3 && slices.Contains([]string{"eq", "equal", "neq", "assign"}, name):
		lintEnum(s, aliases, call[1], call[2], errs)
		lintEnum(s, aliases, call[2], call[1], errs)
	case name == "internal.member_2" && len(call) == 3:
		if list, ok := call[2].Value.(interface{ Foreach(func(*ast.Term)) }); ok {
			if _, isObject := call[2].Value.(ast.Object); !isObject {
				list.Foreach(func(t *ast.Term) { lintEnum(s, aliases, call[1], t, errs) })
			}
		}
	}
}

// lintEnum checks that a part of the input can have the value that it is compared with.
func lintEnum(s schema, aliases map[ast.Var][]string, ref, value *ast.Term, errs *Errors) {
	if !ast.IsScalar(value.Value) {
		return
	}
	m, names, ok := inputSchema(s, aliases, ref)
	if !ok {
		return
	}
	allowed := m.values()
	if allowed == nil {
		return
	}
	var texts []string
	for _, a := range allowed {
		v, err := ast.InterfaceToValue(a)
		if err != nil || v.Compare(value.Value) == 0 {
			return
		}
		text, _ := json.Marshal(a)
		texts = append(texts, string(text))
	}
	errs.add(value.Location, fmt.Sprintf("%s is never %v", strings.Join(append([]string{"input"}, names...), "."), value),
		"it is one of "+strings.Join(texts, ", "))
}

// lintGet checks that the member that object.get looks for is declared.
func lintGet(s schema, aliases map[ast.Var][]string, call []*ast.Term, errs *Errors) {
	m, names, ok := inputSchema(s, aliases, call[1])
	if !ok {
		return
	}
	var path []*ast.Term
	switch key := call[2].Value.(type) {
	case ast.String:
		path = []*ast.Term{call[2]}
	case *ast.Array:
		key.Foreach(func(t *ast.Term) { path = append(path, t) })
	}
	for _, t := range path {
		name, ok := t.Value.(ast.String)
		if !ok {
			return
		}
		next, _, found, closed := m.member(string(name))
		if closed {
			errs.add(t.Location, fmt.Sprintf("%s has no member %q", strings.Join(append([]string{"input"}, names...), "."), string(name)),
				didYouMean(string(name), m.names()))
		}
		if !found {
			return
		}
		m, names = next, append(names, string(name))
	}
}

// lintOptional refuses an entry that takes a member of the input which a valid
// call may leave out: then the entry is undefined, and a refusal is silently lost.
func (b *bundle) lintOptional(m *ast.Module, r *ast.Rule, errs *Errors) {
	s := b.schemaOf(m.Package.Path)
	if s.node == nil {
		return
	}
	aliases := inputAliases(m)
	ast.WalkTerms(r.Head.Key, func(t *ast.Term) bool {
		if ast.IsComprehension(t.Value) {
			return true
		}
		if call, ok := t.Value.(ast.Call); ok && call[0].String() == "object.get" {
			return true
		}
		ref, ok := t.Value.(ast.Ref)
		if !ok {
			return false
		}
		names, ok := groundInput(aliases, ref)
		if !ok {
			return false
		}
		if _, optional, ok := s.at(names); ok && optional && !mentions(r.Body, ref) {
			errs.add(t.Location, fmt.Sprintf("%v may be absent, and this entry would vanish with it", t),
				"use object.get with a default, or require it in the rule's body")
		}
		return false
	})
}

// mentions says that a body cannot be true without the reference being defined.
func mentions(body ast.Body, ref ast.Ref) bool {
	for _, e := range body {
		if e.Negated || !e.IsCall() && !isTerm(e) {
			continue
		}
		found := false
		ast.WalkTerms(e, func(t *ast.Term) bool {
			if ast.IsComprehension(t.Value) {
				return true
			}
			r, ok := t.Value.(ast.Ref)
			found = found || ok && r.HasPrefix(ref)
			return found
		})
		if found {
			return true
		}
	}
	return false
}

// isTerm says that an expression is a single term.
func isTerm(e *ast.Expr) bool {
	_, ok := e.Terms.(*ast.Term)
	return ok
}
