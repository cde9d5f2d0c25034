package plan

import (
	"strings"
	"unicode/utf8"

	"github.com/open-policy-agent/opa/v1/ast"
)

// common compiles the built-in functions that most policies are made of, which need no
// context and no list of operands; nil for any other.
func common(name string, args []operand, result int) op {
	if ok := comparisons[name]; ok != nil && len(args) == 2 {
		a, b := args[0], args[1]
		return func(f *frame) int {
			f.locals[result] = ast.InternedTerm(ok(a.of(f).Value.Compare(b.of(f).Value)))
			return next
		}
	}
	if ok := textTests[name]; ok != nil && len(args) == 2 {
		return texts(ok, args, result)
	}
	if ok := kindTests[name]; ok != nil && len(args) == 1 {
		a := args[0]
		return func(f *frame) int { f.locals[result] = ast.InternedTerm(ok(a.of(f).Value)); return next }
	}
	if ok := pairTests[name]; ok != nil && len(args) == 2 {
		a, b := args[0], args[1]
		return func(f *frame) int { f.locals[result] = ast.InternedTerm(ok(a.of(f), b.of(f))); return next }
	}
	if name == "count" && len(args) == 1 {
		return count(args[0], result)
	}
	return nil
}

// pairTests ask about two values.
var pairTests = map[string]func(a, b *ast.Term) bool{
	"equal":             func(a, b *ast.Term) bool { return a.Equal(b) },
	"neq":               func(a, b *ast.Term) bool { return !a.Equal(b) },
	"internal.member_2": isMember,
}

// isMember says that a collection has a value.
func isMember(t, in *ast.Term) bool {
	switch c := in.Value.(type) {
	case ast.Set:
		return c.Contains(t)
	case *ast.Array:
		return c.Until(t.Equal)
	case ast.Object:
		return c.Until(func(_, v *ast.Term) bool { return t.Equal(v) })
	}
	return false
}

// comparisons say what the comparison of two values must be.
var comparisons = map[string]func(int) bool{
	"gt":  func(c int) bool { return c > 0 },
	"gte": func(c int) bool { return c >= 0 },
	"lt":  func(c int) bool { return c < 0 },
	"lte": func(c int) bool { return c <= 0 },
}

// textTests ask about two strings.
var textTests = map[string]func(a, b string) bool{
	"startswith": strings.HasPrefix,
	"endswith":   strings.HasSuffix,
	"contains":   strings.Contains,
}

// kindTests ask for the kind of a value.
var kindTests = map[string]func(ast.Value) bool{
	"is_string": func(v ast.Value) bool { _, ok := v.(ast.String); return ok },
	"is_number": func(v ast.Value) bool { _, ok := v.(ast.Number); return ok },
	"is_null":   func(v ast.Value) bool { _, ok := v.(ast.Null); return ok },
}

func texts(ok func(a, b string) bool, args []operand, result int) op {
	a, b := args[0], args[1]
	return func(f *frame) int {
		x, ok1 := a.of(f).Value.(ast.String)
		y, ok2 := b.of(f).Value.(ast.String)
		if !ok1 || !ok2 {
			return f.refused(errOperand)
		}
		f.locals[result] = ast.InternedTerm(ok(string(x), string(y)))
		return next
	}
}

func count(a operand, result int) op {
	return func(f *frame) int {
		t := a.of(f)
		n := length(t)
		if s, ok := t.Value.(ast.String); ok {
			n = utf8.RuneCountInString(string(s))
		}
		if n < 0 {
			return f.refused(errOperand)
		}
		f.locals[result] = ast.InternedTerm(n)
		return next
	}
}
