package lint

import (
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// Codes of warnings about conditions.
const (
	codeNeverFalse = "never_false"        // a condition that holds whenever its value is there
	codeConstant   = "constant_condition" // a condition that is the same in every call
)

// condition checks an expression that a body requires. In Rego only false and what is undefined fail: a set, a list, a
// text and a number are true, also when they are empty or 0.
func (l *valueLint) condition(e *ast.Expr, f *values.Frame) {
	t := conditionOf(l.Analysis, e)
	if t == nil || e.Location == nil || strings.HasPrefix(e.Location.File, policydir.LibraryName) {
		return
	}
	if l.constantCondition(e, t, f) || l.enumerates(t, f) {
		return
	}
	if call, ok := t.Value.(ast.Call); ok && call[0].String() == "eq" {
		return // the compiler writes it, at the place of the expression that it was a part of
	}
	note := l.notes.at("condition", e.Location)
	kinds := l.Kinds(l.Values(t, f))
	if kinds&schema.BooleanKind != 0 || l.isElement(t, f) || l.presence(t, e, f) || len(e.With) > 0 && readsInput(l.Values(t, f)) {
		note.fine = true
		return
	}
	what, hint := shownTerm(t, f), l.neverFalseHint(t, kinds, e.Negated, f)
	switch always := l.Always(t, f); {
	case always && e.Negated:
		note.wrong(e.Location, fmt.Sprintf("%s is %v, which is never false: not %s never holds", what, kinds, what), hint)
	case always:
		note.wrong(e.Location, fmt.Sprintf("%s is %v, which is never false: this condition always holds", what, kinds), hint)
	case !e.Negated:
		note.unsure(e.Location, codeNeverFalse, fmt.Sprintf("%s is %v, which is never false: this condition holds whenever it is there", what, kinds), hint)
	}
}

// conditionOf returns the term whose value decides whether an expression holds, nil when the expression gives a
// variable its value.
func conditionOf(a *values.Analysis, e *ast.Expr) *ast.Term {
	switch terms := e.Terms.(type) {
	case *ast.Term:
		return terms
	case []*ast.Term:
		if a.Arity(terms[0]) == len(terms)-1 {
			return ast.NewTerm(ast.Call(terms)).SetLocation(e.Location)
		}
	}
	return nil
}

// enumerates says that a reference goes through what there is by an index that has a name: it gives the name its
// values.
func (l *valueLint) enumerates(t *ast.Term, f *values.Frame) bool {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return false
	}
	for _, index := range ref[1:] {
		if v, isVar := index.Value.(ast.Var); isVar && !v.IsWildcard() && l.Ranges(index, f) {
			return true
		}
	}
	return false
}

// isElement says that a reference asks whether a set has an element.
func (l *valueLint) isElement(t *ast.Term, f *values.Frame) bool {
	ref, ok := t.Value.(ast.Ref)
	if !ok || len(ref) < 2 {
		return false
	}
	return !l.Ranges(ref[len(ref)-1], f) && l.Kinds(l.RefValues(ref[:len(ref)-1], f)) == schema.SetKind
}

// presence says that a reference asks whether something is there that the rule then uses, or a field of the input that
// not every call has, such as input.undo.
func (l *valueLint) presence(t *ast.Term, e *ast.Expr, f *values.Frame) bool {
	ref, ok := t.Value.(ast.Ref)
	if !ok || e.Negated || l.Always(t, f) {
		return false
	}
	if ref[0].Equal(ast.InputRootDocument) && len(ref) == 2 {
		return true
	}
	used, text := 0, l.Written(t, f.Rule)
	ast.WalkRefs(f.Rule, func(other ast.Ref) bool {
		for n := len(ref); n <= len(other); n++ {
			if l.Written(ast.NewTerm(other[:n]), f.Rule) == text {
				used++
				break
			}
		}
		return false
	})
	return used > 1
}

// readsInput says that a value may be a part of the input, which a with replaces.
func readsInput(s values.Set) bool { return s.Open() || len(s.Parts()) > 0 }

// constantCondition warns of a condition that is written out: it is the same in every call.
func (l *valueLint) constantCondition(e *ast.Expr, t *ast.Term, f *values.Frame) bool {
	_, constant := t.Value.(ast.Boolean)
	if call, ok := t.Value.(ast.Call); ok && len(call) == 3 && compares(call[0].String()) {
		constant = ast.IsConstant(call[1].Value) && ast.IsConstant(call[2].Value)
	}
	if !constant || withoutBody(e, t, f.Rule) {
		return constant
	}
	l.notes.at("condition", e.Location).unsure(e.Location, codeConstant, "this condition is the same in every call", "delete it, or compare with what depends on the call")
	return true
}

// withoutBody says that an expression is the true that the parser writes as the body of a rule that has none.
func withoutBody(e *ast.Expr, t *ast.Term, r *ast.Rule) bool {
	if _, isBoolean := t.Value.(ast.Boolean); !isBoolean {
		return false
	}
	return string(e.Location.Text) != t.String() || r.Head.Value != nil && r.Head.Value.Equal(t) && r.Head.Value.Location.Equal(e.Location)
}

// compares says that a function compares two values.
func compares(name string) bool {
	switch name {
	case "eq", "equal", "neq", "gt", "gte", "lt", "lte":
		return true
	}
	return false
}

// shownTerm writes a term as its author did, as far as the compiler has left it so.
func shownTerm(t *ast.Term, f *values.Frame) string {
	switch v := t.Value.(type) {
	case *ast.ArrayComprehension, *ast.SetComprehension, *ast.ObjectComprehension:
		return "this comprehension"
	case ast.Call:
		if b := functions.Builtin(v[0].String()); b != nil && b.Infix != "" {
			return "this value"
		}
		return shownName(v[0].String(), f) + "(...)"
	case ast.Var:
		for _, e := range f.Rule.Body {
			terms, ok := e.Terms.([]*ast.Term)
			if !ok || e.Negated || terms[0].String() != "eq" || len(terms) != 3 {
				continue
			}
			for i, side := range terms[1:] {
				if _, isRef := terms[2-i].Value.(ast.Ref); isRef && side.Value.Compare(v) == 0 {
					return shownTerm(terms[2-i], f)
				}
			}
		}
	}
	text := shownName(t.String(), f)
	if strings.Contains(text, "__local") || len(text) > 80 {
		return "this value"
	}
	return text
}

// shownSide is shownTerm for a term that the compiler may have given a name of its own: what it can be says more.
func shownSide(t *ast.Term, s values.Set, f *values.Frame) string {
	if text := shownTerm(t, f); !strings.HasPrefix(text, "this ") {
		return text
	}
	for _, c := range s.Candidates() {
		switch c := c.(type) {
		case values.InputPart:
			return c.Path.String()
		case values.Made:
			return c.Name + "(...)"
		case values.Constant:
			if c.InData() {
				return "this value of data"
			}
		}
	}
	return shownTerm(t, f)
}

// shownName writes the name of a rule as it is called in its own package.
func shownName(text string, f *values.Frame) string {
	text = strings.TrimPrefix(text, f.Rule.Module.Package.Path.String()+".")
	return strings.TrimPrefix(strings.TrimPrefix(text, "data.ambit.tools."), "data.ambit.policies.")
}

// keyed says that the last index of a reference is a key of an object.
func (l *valueLint) keyed(ref ast.Ref, f *values.Frame) bool {
	return !l.Ranges(ref[len(ref)-1], f) && l.Kinds(l.RefValues(ref[:len(ref)-1], f)) == schema.ObjectKind
}

// neverFalseHint says what to write in place of a condition that is never false.
func (l *valueLint) neverFalseHint(t *ast.Term, kinds schema.Kinds, negated bool, f *values.Frame) string {
	what := shownTerm(t, f)
	if strings.HasPrefix(what, "this ") {
		what = "..."
	}
	if call, ok := t.Value.(ast.Call); ok && !negated && functions.Builtin(call[0].String()) != nil {
		switch call[0].String() {
		case "indexof":
			return "write contains(...), or indexof(...) >= 0: it is -1 where nothing is found"
		case "count":
			return "write count(...) > 0"
		}
	}
	ref, isRef := t.Value.(ast.Ref)
	switch {
	case ast.IsScalar(t.Value):
		return "delete it, or compare with it what depends on the call"
	case isRef && len(ref) > 1 && !ast.IsScalar(ref[len(ref)-1].Value) && !negated && !l.Always(t, f) && l.keyed(ref, f):
		return "if it asks whether there is such a key, say so: write key in object.keys(...)"
	case kinds&(schema.SetKind|schema.ArrayKind|schema.ObjectKind) == kinds && negated:
		return fmt.Sprintf("write count(%s) == 0", what)
	case kinds&(schema.SetKind|schema.ArrayKind|schema.ObjectKind) == kinds:
		return fmt.Sprintf("write count(%s) > 0, or ask with in whether it has an element", what)
	case kinds == schema.NumberKind:
		return fmt.Sprintf("compare it: %s > 0", what)
	case kinds == schema.StringKind:
		return fmt.Sprintf("compare it: %s == \"...\"", what)
	}
	return "compare it with the value that is meant"
}
