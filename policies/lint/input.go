package lint

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// An inputLint checks the use of the input by a rule where OPA's type checker does
// not, or where its message is less clear.
type inputLint struct {
	root    schema.Schema // of the input
	args    places.Input  // of input.args
	shared  bool          // the package is not a tool's: the analysis looks for arguments and tools
	tools   []string
	aliases map[ast.Var]places.Path // what imports call parts of the input
	locals  map[ast.Var]*ast.Term   // what the rule assigns to a name, once
	errs    *policydir.Errors
}

// lintInput checks references into the input, comparisons that are always the
// same, object.get of a member that no schema declares, patterns that are none,
// and facts of unknown tools.
func (c *Checked) lintInput(m *ast.Module, errs *policydir.Errors) {
	for _, r := range m.Rules {
		l := c.newInputLint(m, r, errs)
		ast.WalkTerms(r, func(t *ast.Term) bool {
			switch v := t.Value.(type) {
			case ast.Call:
				l.call(v)
			case ast.Ref:
				l.declared(t)
			}
			return false
		})
		ast.WalkExprs(r, func(e *ast.Expr) bool {
			if terms, ok := e.Terms.([]*ast.Term); ok {
				l.call(terms)
			}
			return false
		})
	}
}

// newInputLint returns the lint of a rule.
func (c *Checked) newInputLint(m *ast.Module, r *ast.Rule, errs *policydir.Errors) *inputLint {
	l := &inputLint{tools: c.Tools, aliases: map[ast.Var]places.Path{}, locals: map[ast.Var]*ast.Term{}, errs: errs}
	l.root = c.SchemaOf(m.Package.Path)
	if kind, name := policydir.ContractPackage(m.Package.Path); kind == policydir.ToolPackage {
		l.args = places.Args(c.Bundle, name)
	} else {
		l.args, l.shared = places.Args(c.Bundle, c.Tools...), true
	}
	l.aliases[ast.InputRootDocument.Value.(ast.Var)] = places.Path{}
	for _, i := range m.Imports {
		if p, ok := l.path(i.Path); ok {
			l.aliases[i.Name()] = p
		}
	}
	assigned := map[ast.Var]int{}
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		if e.IsAssignment() {
			if v, ok := e.Operand(0).Value.(ast.Var); ok {
				assigned[v]++
				l.locals[v] = e.Operand(1)
			}
		}
		return false
	})
	for v, n := range assigned {
		if n > 1 {
			delete(l.locals, v) // one for each body: it is not known which one is used
		}
	}
	return l
}

// declared checks that a reference leads somewhere: a typo is undefined, and a
// refusal that depends on it never happens.
func (l *inputLint) declared(t *ast.Term) {
	p, ok := l.path(t)
	if !ok {
		return
	}
	l.fact(p)
	if _, before, wrong := l.follow(p); wrong >= 0 && !l.leaves(p) {
		l.missing(p[wrong], p[:wrong], before)
	}
}

// leaves says that a path is one that the analysis follows, which knows of which
// tools the call can be there.
func (l *inputLint) leaves(p places.Path) bool {
	return l.shared && len(p) > 1 && (p[0].Equal(ast.StringTerm("args")) || p[0].Equal(ast.StringTerm("run")) && len(p) > 2)
}

// missing reports a member that nothing declares.
func (l *inputLint) missing(t *ast.Term, object places.Path, at places.Input) {
	name := string(t.Value.(ast.String))
	hint := policydir.DidYouMean(name, at.Names())
	if hint == "" && len(at.Names()) > 0 {
		hint = "it has " + listed(at.Names())
	}
	message := fmt.Sprintf("%v has no member %q", object, name)
	if len(at) > 1 {
		message = fmt.Sprintf("%v has no member %q, whatever the tool", object, name)
	}
	l.errs.Add(t.Location, message, hint)
}

// listed writes the names that a hint offers.
func listed(names []string) string {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	if len(names) > 10 {
		names = append(names[:10:10], "...")
	}
	return strings.Join(names, ", ")
}

// fact checks that a count or a success is one of a tool: the schema has a map there.
func (l *inputLint) fact(p places.Path) {
	if len(p) < 3 || l.leaves(p) {
		return
	}
	names, ok := p[:3].Names()
	if !ok || names[0] != "run" || names[1] != "counts" && names[1] != "succeeded" || slices.Contains(l.tools, names[2]) {
		return
	}
	l.errs.Add(p[2].Location, fmt.Sprintf("input.%s.%s has no tool %q", names[0], names[1], names[2]), toolHint(names[2], l.tools))
}

// toolHint names the tool that was meant, or all of them.
func toolHint(name string, tools []string) string {
	if hint := policydir.DidYouMean(name, tools); hint != "" {
		return hint
	}
	return "the tools are " + listed(tools)
}

// call checks one call of a built-in function, operators included.
func (l *inputLint) call(call []*ast.Term) {
	name := call[0].String()
	switch {
	case name == "object.get" && len(call) == 4:
		l.get(call[1], call[2])
	case len(call) == 3 && slices.Contains([]string{"eq", "equal", "neq", "gt", "gte", "lt", "lte"}, name):
		if l.compare(call[1], call[2]) {
			l.enum(call[1], call[2])
			l.enum(call[2], call[1])
		}
	case name == "internal.member_2" && len(call) == 3:
		l.in(call[1], call[2])
	}
	l.pattern(name, call[1:])
}

// compare checks that two terms can be of one kind. Values of different kinds
// are never equal, and which of them is greater is fixed by their kinds.
func (l *inputLint) compare(a, b *ast.Term) bool {
	_, aIsInput := l.path(a)
	_, bIsInput := l.path(b)
	if bIsInput && !aIsInput {
		a, b, aIsInput = b, a, true
	}
	ka, kb := l.kindsOf(a), l.kindsOf(b)
	if ka&kb != 0 || !aIsInput && !ast.IsConstant(a.Value) && !ast.IsConstant(b.Value) {
		return true
	}
	what := a.String()
	if p, ok := l.path(a); ok {
		what = p.String()
	}
	at := b.Location
	if at == nil {
		at = a.Location
	}
	l.errs.Add(at, fmt.Sprintf("%s is %v, and it is compared with %v", what, ka, kb), compareHint(ka, b))
	return false
}

// compareHint says how a constant is written as the kind that is wanted.
func compareHint(wanted schema.Kinds, t *ast.Term) string {
	switch v := t.Value.(type) {
	case ast.String:
		if _, err := strconv.ParseFloat(string(v), 64); err == nil && wanted&schema.NumberKind != 0 {
			return "write " + string(v) + ", without quotes"
		}
		if wanted&schema.BooleanKind != 0 && (v == "true" || v == "false") {
			return "write " + string(v) + ", without quotes"
		}
	case ast.Number, ast.Boolean:
		if wanted&schema.StringKind != 0 {
			return fmt.Sprintf("write %q, in quotes", t.String())
		}
	case ast.Set:
		if wanted&schema.ArrayKind != 0 {
			return "write an array, [...]: the input has no sets"
		}
	}
	if wanted&schema.NumberKind != 0 && wanted&schema.StringKind == 0 {
		return "compare it with a number"
	}
	return fmt.Sprintf("compare it with %v", wanted)
}

// pattern checks that a regular expression that is written out is one.
func (l *inputLint) pattern(function string, args []*ast.Term) {
	if !strings.HasPrefix(function, "regex.") || len(args) < 2 || slices.Contains([]string{"regex.is_valid", "regex.globs_match", "regex.template_match"}, function) {
		return
	}
	t := args[0]
	if function == "regex.replace" {
		t = args[1]
	}
	if s, ok := t.Value.(ast.String); ok {
		if _, err := regexp.Compile(string(s)); err != nil {
			l.errs.Add(t.Location, fmt.Sprintf("%s: %v", function, err), "write a pattern of RE2, which has no look-around and no back-references, best in backquotes")
		}
	}
}

// enum checks that a part of the input can have the value that it is compared with.
func (l *inputLint) enum(ref, value *ast.Term) {
	p, ok := l.path(ref)
	if !ok || !ast.IsScalar(value.Value) {
		return
	}
	at, _, _ := l.follow(p)
	allowed := at.Values()
	if names, ok := p.Names(); ok && !l.shared && slices.Equal(names, []string{"tool", "name"}) {
		for _, name := range l.tools {
			allowed = append(allowed, name)
		}
	}
	if hint, never := neverOneOf(value, allowed); never {
		l.errs.Add(value.Location, fmt.Sprintf("%v is never %v", p, value), hint)
	}
}

// neverOneOf says that a value is none of those allowed, when they are closed, and which they are.
func neverOneOf(value *ast.Term, allowed []any) (hint string, never bool) {
	if len(allowed) == 0 {
		return "", false
	}
	var texts, names []string
	for _, a := range allowed {
		v, err := ast.InterfaceToValue(a)
		if err != nil || v.Compare(value.Value) == 0 {
			return "", false
		}
		if s, ok := a.(string); ok {
			names = append(names, s)
		}
		text, _ := json.Marshal(a)
		texts = append(texts, string(text))
	}
	if name, isString := value.Value.(ast.String); isString && len(texts) > 10 {
		return policydir.DidYouMean(string(name), names), true
	}
	return "it is one of " + strings.Join(texts, ", "), true
}

// get checks that the member that object.get looks for is declared.
func (l *inputLint) get(object, key *ast.Term) {
	p, ok := l.path(object)
	if !ok {
		return
	}
	whole := append(slices.Clone(p), places.PathOf(key)...)
	l.fact(whole)
	if _, before, wrong := l.follow(whole); wrong >= len(p) && !l.leaves(whole) {
		l.missing(whole[wrong], whole[:wrong], before)
	}
}
