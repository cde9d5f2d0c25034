package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// codeLoop is the code of warnings about inequalities with some element.
const codeLoop = "not_equal_in_loop"

// A bodyScope is a body that is being checked, with what is made of its variables.
type bodyScope struct {
	body   ast.Body
	heads  []*ast.Term
	filter bool // the heads are elements of a collection or the value of a rule: the body selects them
}

// refuses says that what is being checked makes a call be refused, or asked about, when it holds.
func (l *valueLint) refuses() bool { return (l.root == "deny" || l.root == "ask") != l.inverted }

// differs checks a comparison that requires two values to differ, of which one is some element of a collection, or made of
// one: of two different elements one is always another value. unequal says that the comparison itself requires it; an
// equality does so for elements that were passed to its function behind a not.
func (l *valueLint) differs(x, y *ast.Term, unequal bool, e *ast.Expr, f *values.Frame) {
	if e.Location == nil || l.Defines(x, e, f) || l.Defines(y, e, f) {
		return
	}
	sides := []values.Set{l.Side(x, f, e), l.Side(y, f, e)}
	terms := []*ast.Term{x, y}
	loops := 0
	var all values.Set
	at := -1
	for i, side := range sides {
		collection, ok := side.LoopOver()
		if !ok || side.BehindNot() == unequal || side.BehindNot() && ofSeveral(sides[1-i]) || l.selected(terms[i], e, f) {
			continue
		}
		loops++
		if kind := l.ownerOf(collection); at < 0 || kind == ofPolicy {
			at, all = i, collection
		}
	}
	if at < 0 {
		return
	}
	owner := l.ownerOf(all)
	if owner == ofInput && l.refuses() != sides[at].BehindNot() {
		return
	}
	one, many := shownSide(terms[1-at], sides[1-at], f), l.shownList(terms[at], all, f)
	message := fmt.Sprintf("%s differs from one element of %s whenever the list has two: this is not that it differs from all", one, many)
	hint := fmt.Sprintf("write not %s in %s", one, many)
	if many == "the list" {
		hint = fmt.Sprintf("write not %s in the list, or every element in the list { element != %s }", one, one)
	}
	if sides[at].Made() {
		hint = fmt.Sprintf("write every element in %s { ... }, with this inequality in it", many)
	}
	note := l.notes.at("loop", e.Location)
	if owner == ofPolicy && loops == 1 && l.several(all) {
		note.wrong(e.Location, message, hint)
	} else {
		note.unsure(e.Location, codeLoop, message, hint)
	}
}

// ofSeveral says that a value behind a not is written out, or any element of another collection: to be equal to none of
// these is to differ from all.
func ofSeveral(s values.Set) bool {
	_, loops := s.LoopOver()
	_, constant := s.AllConstants()
	return constant || loops && !s.BehindNot()
}

// Who writes the elements of a collection.
const (
	ofPolicy  = iota // policies and their data
	ofInput          // the caller
	ofUnknown        // it is not known
)

// ownerOf says who writes the elements of a collection.
func (l *valueLint) ownerOf(collection values.Set) int {
	elements := l.Elements(collection)
	switch {
	case len(elements.Parts()) > 0 || len(collection.Parts()) > 0:
		return ofInput
	case elements.Open() || slices.ContainsFunc(elements.Candidates(), func(c values.Candidate) bool { _, ok := c.(values.Made); return ok }):
		return ofUnknown
	}
	return ofPolicy
}

// several says that a collection is not a constant of fewer than two elements. Data may come to have more.
func (l *valueLint) several(collection values.Set) bool {
	for _, c := range collection.Candidates() {
		if c, ok := c.(values.Constant); ok && !c.InData() {
			if list, ok := c.Value.(policydir.Collection); ok && list.Len() < 2 {
				return false
			}
		}
	}
	return true
}

// shownList names the collection of which a term is some element.
func (l *valueLint) shownList(t *ast.Term, s values.Set, f *values.Frame) string {
	for _, p := range s.Parts() {
		return p.Path.String()
	}
	for _, ref := range l.origins(t, f, map[ast.Var]bool{}) {
		for i := range ref {
			if text := shownName(ref[:i].String(), f); i > 0 && l.Ranges(ref[i], f) && !strings.Contains(text, "__local") {
				return text
			}
		}
	}
	return "the list"
}

// origins returns the references that a term is made of.
func (l *valueLint) origins(t *ast.Term, f *values.Frame, seen map[ast.Var]bool) (refs []ast.Ref) {
	switch v := t.Value.(type) {
	case ast.Ref:
		refs = append(refs, v)
		if name, isVar := v[0].Value.(ast.Var); isVar && !v[0].Equal(ast.InputRootDocument) && !v[0].Equal(ast.DefaultRootDocument) {
			refs = append(refs, l.origins(ast.NewTerm(name), f, seen)...)
		}
	case *ast.Array:
		v.Foreach(func(t *ast.Term) { refs = append(refs, l.origins(t, f, seen)...) })
	case ast.Var:
		if seen[v] {
			return nil
		}
		seen[v] = true
		for _, scope := range l.bodies {
			for _, e := range scope.body {
				if made, ok := l.makesVar(e, nil, f); ok && made == v {
					for _, t := range e.Terms.([]*ast.Term)[1:] {
						refs = append(refs, l.origins(t, f, seen)...)
					}
				}
			}
		}
	}
	return refs
}

// selected says that other conditions choose the element, or that the body selects elements for a collection.
func (l *valueLint) selected(t *ast.Term, e *ast.Expr, f *values.Frame) bool {
	derived := map[ast.Var]bool{}
	ast.WalkVars(t, func(v ast.Var) bool {
		if !v.Equal(ast.InputRootDocument.Value) && !v.Equal(ast.DefaultRootDocument.Value) {
			derived[v] = true
		}
		return false
	})
	for changed := true; changed; {
		changed = false
		for _, s := range l.bodies {
			for _, o := range s.body {
				if v, ok := l.makesVar(o, e, f); ok && derived[v] {
					changed = l.sources(o, derived, f) || changed
				}
				if v, ok := l.makesVar(o, e, f); ok && !derived[v] && !contains(o, e) && mentionsAny(o, derived) {
					derived[v], changed = true, true
				}
			}
		}
	}
	for i, s := range l.bodies {
		if s.filter && i == len(l.bodies)-1 && slices.ContainsFunc(s.heads, func(h *ast.Term) bool { return mentionsAny(h, derived) }) {
			return true
		}
		for _, o := range s.body {
			if !mentionsAny(o, derived) || contains(o, e) {
				continue
			}
			if v, ok := l.makesVar(o, e, f); ok && derived[v] {
				continue
			}
			if terms, ok := o.Terms.([]*ast.Term); ok && !o.Negated && terms[0].String() == "neq" {
				continue
			}
			return true
		}
	}
	return false
}

// sources adds the variables that choose the element which an expression gives to a variable. It says whether there
// are any new ones.
func (l *valueLint) sources(e *ast.Expr, derived map[ast.Var]bool, f *values.Frame) (changed bool) {
	add := func(t *ast.Term) {
		if v, ok := t.Value.(ast.Var); ok && !derived[v] {
			derived[v], changed = true, true
		}
	}
	terms := e.Terms.([]*ast.Term)[1:]
	for i := 0; i < len(terms); i++ {
		t := terms[i]
		switch v := t.Value.(type) {
		case *ast.Array:
			v.Foreach(func(t *ast.Term) { terms = append(terms[:len(terms):len(terms)], t) })
		case ast.Var:
			if _, loops := l.Values(t, f).LoopOver(); loops {
				add(t)
			}
		case ast.Ref:
			if _, loops := l.RefValues(v[:1], f).LoopOver(); loops {
				add(v[0])
			}
			for _, index := range v[1:] {
				if l.Ranges(index, f) {
					add(index)
				}
			}
		}
	}
	return changed
}

// contains says that an expression is inside of another one.
func contains(outer, inner *ast.Expr) bool {
	found := false
	ast.WalkExprs(outer, func(e *ast.Expr) bool {
		found = found || e == inner
		return found
	})
	return found
}

// makesVar returns the variable to which an expression gives its value, whatever another one compares it with.
func (l *valueLint) makesVar(e, compares *ast.Expr, f *values.Frame) (ast.Var, bool) {
	terms, ok := e.Terms.([]*ast.Term)
	if !ok || e.Negated {
		return "", false
	}
	candidates := terms[1:]
	if terms[0].String() != "eq" {
		if n := l.Arity(terms[0]); n < 0 || len(terms) != n+2 {
			return "", false
		}
		candidates = terms[len(terms)-1:]
	}
	for _, t := range candidates {
		if v, ok := t.Value.(ast.Var); ok && l.DefinesBut(t, e, compares, f) {
			return v, true
		}
	}
	return "", false
}

// mentionsAny says that one of some variables stands in a part of a policy.
func mentionsAny(x any, vars map[ast.Var]bool) bool {
	found := false
	ast.WalkVars(x, func(v ast.Var) bool {
		found = found || vars[v]
		return found
	})
	return found
}

// passed returns what a call passes, where an element that other conditions choose is one value.
func (l *valueLint) passed(args []*ast.Term, rules []*ast.Rule, e *ast.Expr, f *values.Frame) []values.Set {
	sets := l.Passed(args, f)
	for i, t := range args {
		if _, ok := sets[i].LoopOver(); ok && l.selected(t, e, f) {
			sets[i] = sets[i].Single()
			continue
		}
		if e.Negated {
			sets[i] = sets[i].PassedBehindNot()
		}
		if sets[i].BehindNot() && (len(rules) > 1 || rules[0].Else != nil) {
			sets[i] = sets[i].Single() // it differs from what each of the rules requires
		}
	}
	return sets
}
