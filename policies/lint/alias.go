package lint

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// A partLint checks references into parts of the input that go by another name:
// the parameter of a function that is called with input.args, a rule that is
// one, an index that is a constant. So it does with parts of data, as far as
// locals and rules name them. Compiled, every name is one of a kind.
type partLint struct {
	*Checked
	defs   map[ast.Var]*ast.Term // what a local is
	in     map[ast.Var]*ast.Rule // where it is so
	params map[ast.Var]param
	calls  map[string][]callSite // by the function
	known  map[ast.Var]piece     // of parameters
	report inputLint
}

// A param is the parameter of a function.
type param struct {
	function ast.Ref
	index    int
}

// A callSite is a call, and the rule that makes it.
type callSite struct {
	rule *ast.Rule
	args []*ast.Term
}

// A piece is a part of the input, or nothing that is known to be one.
type piece struct {
	path   places.Path
	at     places.Input
	common bool        // it is of the input as packages see it that are not a tool's
	mixed  []string    // instead: what the parameter is in different calls
	made   *making     // instead: an object that holds pieces
	data   places.Data // instead: a part of data
}

// A making is an object that is written out, and the rule in which it is.
type making struct {
	object ast.Object
	rule   *ast.Rule
}

// composed says that the piece may have members or elements.
func (p piece) composed() bool {
	return len(p.at) > 0 && p.at.Kinds()&(schema.ObjectKind|schema.ArrayKind) != 0 || p.mixed != nil || p.made != nil
}

// lintParts checks what the compiled modules do with parts of the input.
func (c *Checked) lintParts(errs *policydir.Errors) {
	var found policydir.Errors
	l := &partLint{
		Checked: c, defs: map[ast.Var]*ast.Term{}, in: map[ast.Var]*ast.Rule{}, params: map[ast.Var]param{},
		calls: map[string][]callSite{}, known: map[ast.Var]piece{}, report: inputLint{tools: c.Tools, errs: &found},
	}
	for _, m := range c.Compiler.Modules {
		for _, r := range m.Rules {
			l.collect(r)
		}
	}
	for _, m := range c.HandWritten(c.Compiler.Modules) {
		for _, r := range m.Rules {
			l.rule(r)
		}
	}
	found = slices.DeleteFunc(found, func(e *policies.Diagnostic) bool { return errs.Holds(e.File, e.Line) }) // as it is written
	*errs = append(*errs, found...)
}

// collect notes what the locals of a rule are, and which functions it calls.
func (l *partLint) collect(r *ast.Rule) {
	for i, arg := range r.Head.Args {
		if v, ok := arg.Value.(ast.Var); ok {
			l.params[v] = param{r.Ref(), i}
		}
	}
	outer := ast.NewVarVisitor().WithParams(ast.VarVisitorParams{SkipClosures: true})
	outer.Walk(r.Body)
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		if every, ok := e.Terms.(*ast.Every); ok {
			if v, ok := every.Value.Value.(ast.Var); ok {
				l.define(v, element(every.Domain), r)
			}
		}
		terms, ok := e.Terms.([]*ast.Term)
		if !ok {
			return false
		}
		if name := terms[0].String(); name == "eq" && len(terms) == 3 {
			for i, t := range terms[1:] {
				// Negated, or in a comprehension that did not make the variable, it is compared only.
				if v, ok := t.Value.(ast.Var); ok && !e.Negated && (slices.Contains(r.Body, e) || !outer.Vars().Contains(v)) {
					l.define(v, terms[2-i], r)
				}
			}
		} else {
			l.calls[name] = append(l.calls[name], callSite{r, terms[1:]})
		}
		return false
	})
}

// define notes what a local is, the first time.
func (l *partLint) define(v ast.Var, t *ast.Term, r *ast.Rule) {
	if l.defs[v] == nil && !t.Equal(ast.NewTerm(v)) {
		l.defs[v], l.in[v] = t, r
	}
}

// element returns a reference to any element of a term.
func element(t *ast.Term) *ast.Term {
	return ast.NewTerm(ast.Ref{t, ast.VarTerm(ast.WildcardPrefix)})
}

// resolve returns the piece of the input that a term is in a rule.
func (l *partLint) resolve(t *ast.Term, r *ast.Rule, depth int) piece {
	if depth > values.MaxNested {
		return piece{}
	}
	switch v := t.Value.(type) {
	case ast.Var:
		if p, ok := l.params[v]; ok {
			return l.parameter(v, p, depth)
		}
		if def := l.defs[v]; def != nil {
			return l.resolve(def, l.in[v], depth+1)
		}
	case ast.Ref:
		base, rest := l.base(v, r, depth)
		if len(base.at) == 0 && base.made == nil && len(base.data.Docs) == 0 {
			return piece{mixed: base.mixed}
		}
		for _, t := range rest {
			base = l.step(base, l.index(t, depth))
		}
		return base
	case ast.Object:
		holds := false
		v.Foreach(func(_, value *ast.Term) { holds = holds || l.resolve(value, r, depth+1).composed() })
		if holds {
			return piece{made: &making{v, r}}
		}
	}
	return piece{}
}

// base returns the piece that a reference begins with, and what follows.
func (l *partLint) base(ref ast.Ref, r *ast.Rule, depth int) (piece, ast.Ref) {
	switch {
	case ref[0].Equal(ast.InputRootDocument):
		kind, _ := policydir.ContractPackage(r.Module.Package.Path)
		return piece{at: places.Input{l.SchemaOf(r.Module.Package.Path)}, common: kind != policydir.ToolPackage}, ref[1:]
	case !ref[0].Equal(ast.DefaultRootDocument):
		return l.resolve(ref[0], r, depth+1), ref[1:]
	}
	for i := 2; i <= len(ref); i++ {
		if r := l.value(ref[:i]); r != nil {
			return l.resolve(r.Head.Value, r, depth+1), ref[i:]
		}
	}
	return piece{data: places.Root(l.Bundle, l.Compiler)}, ref[1:]
}

// value returns the rule whose value is all that a reference can be, if there is one.
func (l *partLint) value(ref ast.Ref) *ast.Rule {
	rules := l.Compiler.GetRulesExact(ref)
	if len(rules) != 1 || len(rules[0].Ref()) != len(ref) || len(rules[0].Head.Args) > 0 || rules[0].Head.Value == nil || rules[0].Else != nil {
		return nil
	}
	return rules[0]
}

// step follows one part of a reference, which may be one of several.
func (l *partLint) step(p piece, alternatives []*ast.Term) piece {
	if p.made != nil {
		value := p.made.object.Get(alternatives[0])
		if value == nil || len(alternatives) > 1 {
			return piece{}
		}
		return l.resolve(value, p.made.rule, 1)
	}
	if len(p.data.Docs) > 0 {
		return piece{data: p.data.Any(alternatives)}
	}
	next := piece{path: append(slices.Clone(p.path), alternatives[0]), common: p.common}
	for _, t := range alternatives {
		at, _ := p.at.Step(t)
		if p.common && len(p.path) == 0 && t.Equal(ast.StringTerm("args")) {
			at = places.Args(l.Bundle, l.Tools...)
		}
		next.at = append(next.at, at...)
	}
	return next
}

// index returns the constants that an index can be, or any index.
func (l *partLint) index(t *ast.Term, depth int) []*ast.Term {
	constants, ok := l.constants(t, depth)
	if !ok || len(constants) == 0 {
		return []*ast.Term{ast.VarTerm(ast.WildcardPrefix)}
	}
	for i, c := range constants {
		constants[i] = ast.NewTerm(c.Value).SetLocation(t.Location)
	}
	return constants
}

// constants returns the names that a term can be, if they are known.
func (l *partLint) constants(t *ast.Term, depth int) (all []*ast.Term, ok bool) {
	if depth > values.MaxNested {
		return nil, false
	}
	switch v := t.Value.(type) {
	case ast.String:
		return []*ast.Term{t}, true
	case ast.Var:
		if p, isParam := l.params[v]; isParam {
			return l.each(l.passed(p), depth)
		}
		if def := l.defs[v]; def != nil {
			return l.constants(def, depth+1)
		}
	case ast.Ref:
		if r := l.value(v); r != nil {
			return l.constants(r.Head.Value, depth+1)
		}
		list := v[0]
		if name, isVar := list.Value.(ast.Var); isVar && l.defs[name] != nil {
			list = l.defs[name]
		}
		if array, isArray := list.Value.(*ast.Array); isArray && len(v) == 2 {
			var elements []*ast.Term
			array.Foreach(func(t *ast.Term) { elements = append(elements, t) })
			return l.each(elements, depth)
		}
	}
	return nil, false
}

// each returns the constants that any of some terms can be.
func (l *partLint) each(terms []*ast.Term, depth int) (all []*ast.Term, ok bool) {
	for _, t := range terms {
		more, ok := l.constants(t, depth+1)
		if !ok {
			return nil, false
		}
		all = append(all, more...)
	}
	return all, true
}

// passed returns what the calls of a function pass for a parameter.
func (l *partLint) passed(p param) []*ast.Term {
	var terms []*ast.Term
	for _, site := range l.calls[p.function.String()] {
		if p.index < len(site.args) {
			terms = append(terms, site.args[p.index])
		}
	}
	return terms
}

// parameter returns what all calls of a function pass for a parameter.
func (l *partLint) parameter(v ast.Var, p param, depth int) piece {
	if known, ok := l.known[v]; ok {
		return known
	}
	var all piece
	texts, schemas := map[string]bool{}, map[uintptr]bool{}
	isPart := false
	for _, site := range l.calls[p.function.String()] {
		if p.index >= len(site.args) {
			continue
		}
		passed := l.resolve(site.args[p.index], site.rule, depth+1)
		isPart = isPart || passed.composed()
		switch {
		case passed.mixed != nil:
			all.mixed = passed.mixed
		case passed.made != nil:
			texts["a new object"] = true
			if all.made != nil {
				texts["another one"] = true
			}
			all.made = passed.made
		case passed.path == nil && len(passed.at) == 0:
			texts["something else"] = true
		default:
			texts[passed.path.String()] = true
		}
		all.path, all.common = passed.path, all.common || passed.common
		for _, s := range passed.at {
			seen := reflect.ValueOf(s.Node).Pointer()
			if !schemas[seen] {
				schemas[seen], all.at = true, append(all.at, s)
			}
		}
	}
	switch {
	case !isPart:
		all = piece{}
	case all.mixed != nil:
		all = piece{mixed: all.mixed}
	case len(texts) > 1:
		all = piece{mixed: slices.Sorted(maps.Keys(texts))}
	}
	l.known[v] = all
	return all
}

// rule checks the references of one rule.
func (l *partLint) rule(r *ast.Rule) {
	ast.WalkTerms(r, func(t *ast.Term) bool {
		if ref, ok := t.Value.(ast.Ref); ok {
			base, rest := l.base(ref, r, 0)
			l.follow(ref[0], base, rest, r)
		}
		return false
	})
	ast.WalkExprs(r, func(e *ast.Expr) bool {
		if terms, ok := e.Terms.([]*ast.Term); ok && terms[0].String() == "object.get" && len(terms) >= 3 {
			path := ast.Ref{terms[2]}
			if list, isArray := terms[2].Value.(*ast.Array); isArray {
				path = nil
				list.Foreach(func(t *ast.Term) { path = append(path, t) })
			}
			object := l.resolve(terms[1], r, 0)
			object.data = places.Data{} // data may leave out what has a default
			l.follow(terms[1], object, path, r)
		}
		return false
	})
}

// follow checks that what follows a piece of the input is declared.
func (l *partLint) follow(name *ast.Term, p piece, rest ast.Ref, r *ast.Rule) {
	for _, t := range rest {
		alternatives := l.index(t, 0)
		for _, t := range alternatives {
			t.Location = cmp.Or(t.Location, r.Location)
			if _, isName := t.Value.(ast.String); isName && p.mixed != nil {
				l.report.errs.Add(t.Location,
					fmt.Sprintf("%s is %s, and nothing tells whether it has the member %v", l.original(name), strings.Join(p.mixed, " or "), t),
					"pass the function the members that it needs, not what they belong to")
				return
			}
			if p.common && len(p.path) > 0 && (p.path[0].Equal(ast.StringTerm("args")) || len(p.path) == 2) {
				continue // the analysis knows of which tools the call can be there
			}
			if _, closed := p.at.Step(t); closed {
				l.report.missing(t, p.path, p.at)
				return
			}
			if _, closed := p.data.Step(t); closed && (len(alternatives) == 1 || p.data.Held()) {
				noSuch(p.data, t, t.Location, l.report.errs)
				return
			}
			if len(p.path) == 2 {
				l.report.fact(append(slices.Clone(p.path), t))
			}
		}
		p = l.step(p, alternatives)
	}
}

// original returns the name that a compiled one had in the file.
func (l *partLint) original(t *ast.Term) string {
	v, _ := t.Value.(ast.Var)
	if name, ok := l.Compiler.RewrittenVars[v]; ok {
		return string(name)
	}
	return t.String()
}
