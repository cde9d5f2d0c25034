package opa

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// An inputLint checks what a module does with the input, as far as OPA's type
// checker does not.
type inputLint struct {
	schema  schema
	tools   []string
	aliases map[ast.Var][]string // what imports call parts of the input
	errs    *Errors
}

// lintInput checks comparisons with a value that the schema never allows,
// object.get of a member that it does not declare, and facts of unknown tools.
func (b *bundle) lintInput(m *ast.Module, errs *Errors) {
	l := b.newInputLint(m, errs)
	if l.schema.node == nil {
		return
	}
	ast.WalkTerms(m, func(t *ast.Term) bool {
		switch v := t.Value.(type) {
		case ast.Call:
			l.call(v)
		case ast.Ref:
			l.fact(v)
		}
		return false
	})
	ast.WalkExprs(m, func(e *ast.Expr) bool {
		if terms, ok := e.Terms.([]*ast.Term); ok {
			l.call(terms)
		}
		return false
	})
}

// newInputLint returns the lint of a module.
func (b *bundle) newInputLint(m *ast.Module, errs *Errors) *inputLint {
	return &inputLint{b.schemaOf(m.Package.Path), b.tools, inputAliases(m), errs}
}

// fact checks that a count or a success is one of a tool: the schema has a map there.
func (l *inputLint) fact(ref ast.Ref) {
	path, _ := groundInput(l.aliases, ref)
	if len(path) < 3 || path[0] != "run" || path[1] != "counts" && path[1] != "succeeded" || slices.Contains(l.tools, path[2]) {
		return
	}
	l.errs.add(ref[len(ref)-1].Location, fmt.Sprintf("input.%s.%s has no tool %q", path[0], path[1], path[2]), didYouMean(path[2], l.tools))
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

// at returns the schema of a term that is a reference into the input, and its path.
func (l *inputLint) at(t *ast.Term) (m schema, path []string, ok bool) {
	ref, ok := t.Value.(ast.Ref)
	if v, isVar := t.Value.(ast.Var); isVar {
		ref, ok = ast.Ref{ast.NewTerm(v)}, true
	}
	if !ok {
		return schema{}, nil, false
	}
	path, ok = groundInput(l.aliases, ref)
	if !ok {
		return schema{}, nil, false
	}
	m, _, ok = l.schema.at(path)
	return m, path, ok
}

// call checks one call of a built-in function, operators included.
func (l *inputLint) call(call []*ast.Term) {
	name := call[0].String()
	switch {
	case name == "object.get" && len(call) == 4:
		l.get(call[1], call[2])
	case len(call) == 3 && slices.Contains([]string{"eq", "equal", "neq", "assign"}, name):
		l.enum(call[1], call[2])
		l.enum(call[2], call[1])
	case name == "internal.member_2" && len(call) == 3:
		if _, isObject := call[2].Value.(ast.Object); isObject {
			return
		}
		if list, ok := call[2].Value.(interface{ Foreach(func(*ast.Term)) }); ok {
			list.Foreach(func(t *ast.Term) { l.enum(call[1], t) })
		}
	}
}

// enum checks that a part of the input can have the value that it is compared with.
func (l *inputLint) enum(ref, value *ast.Term) {
	m, path, ok := l.at(ref)
	if !ok || !ast.IsScalar(value.Value) {
		return
	}
	allowed := m.values()
	if slices.Equal(path, []string{"tool", "name"}) {
		for _, name := range l.tools {
			allowed = append(allowed, name)
		}
	}
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
	hint := "it is one of " + strings.Join(texts, ", ")
	if name, isString := value.Value.(ast.String); isString && len(texts) > 10 {
		hint = didYouMean(string(name), l.tools)
	}
	l.errs.add(value.Location, fmt.Sprintf("%s is never %v", inputName(path), value), hint)
}

// inputName writes a path into the input.
func inputName(path []string) string { return strings.Join(append([]string{"input"}, path...), ".") }

// get checks that the member that object.get looks for is declared.
func (l *inputLint) get(object, key *ast.Term) {
	m, path, ok := l.at(object)
	if !ok {
		return
	}
	keys := []*ast.Term{key}
	if list, isArray := key.Value.(*ast.Array); isArray {
		keys = nil
		list.Foreach(func(t *ast.Term) { keys = append(keys, t) })
	}
	for _, t := range keys {
		name, ok := t.Value.(ast.String)
		if !ok {
			return
		}
		next, _, found, closed := m.member(string(name))
		if closed {
			l.errs.add(t.Location, fmt.Sprintf("%s has no member %q", inputName(path), string(name)), didYouMean(string(name), m.names()))
		}
		if !found {
			return
		}
		m, path = next, append(path, string(name))
	}
}

// lintOptional refuses an entry that takes a member of the input which a valid
// call may leave out: then the entry is undefined, and a refusal is silently lost.
func (b *bundle) lintOptional(m *ast.Module, r *ast.Rule, errs *Errors) {
	l := b.newInputLint(m, errs)
	if l.schema.node == nil {
		return
	}
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
		path, ok := groundInput(l.aliases, ref)
		if !ok {
			return false
		}
		if _, optional, ok := l.schema.at(path); ok && optional && !mentions(r.Body, ref) {
			errs.add(t.Location, fmt.Sprintf("%v may be absent, and this entry would vanish with it", t),
				"use object.get with a default, or require it in the rule's body")
		}
		return false
	})
}

// lintPointer checks that a constant pointer leads to a declared argument.
func (b *bundle) lintPointer(m *ast.Module, entry ast.Object, errs *Errors) {
	term := entry.Get(ast.StringTerm("pointer"))
	if term == nil {
		return
	}
	pointer, _ := term.Value.(ast.String)
	s, _, _ := b.schemaOf(m.Package.Path).at([]string{"args"})
	for name := range strings.SplitSeq(strings.TrimPrefix(string(pointer), "/"), "/") {
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		next, _, found, closed := s.member(name)
		if closed && pointer != "" {
			errs.add(term.Location, fmt.Sprintf("pointer %q leads nowhere: there is no %q", string(pointer), name), didYouMean(name, s.names()))
		}
		if !found {
			return
		}
		s = next
	}
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
