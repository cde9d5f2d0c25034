package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// each is the index of an element that is there, since the rule goes through all.
const each = ast.Var("$each")

// A totalLint finds the parts of an entry that may be undefined: then the whole entry
// is undefined, and a denial is lost without an error.
type totalLint struct {
	*inputLint
	*Checked
	module *ast.Module
	rule   *ast.Rule
	bound  map[ast.Var]bool      // by the rule
	made   map[ast.Var]*ast.Term // what the body assigns for nothing but the entry
	must   []*ast.Expr           // the rest of the body, without which there is no entry
	depth  int                   // of the functions and rules that the entry uses
}

// lintTotals refuses entries that may be undefined.
func (c *Checked) lintTotals(errs *policydir.Errors) {
	for _, e := range c.entries {
		c.lintTotal(e.module, e.rule, errs)
	}
}

// lintTotal refuses an entry that may be undefined although the body of its rule is true.
func (c *Checked) lintTotal(m *ast.Module, r *ast.Rule, errs *policydir.Errors) {
	l := c.newTotalLint(m, r, 0)
	partial := l.partial(r.Head.Key)
	if partial == nil {
		return
	}
	at := partial.Location
	if at == nil {
		at = r.Location
	}
	what, hint := "may be absent", "use object.get with a default"
	require := ", or require it in the rule's body"
	if _, isCall := partial.Value.(ast.Call); isCall {
		what, hint = "may be undefined", "give the function a default"
		require = ", or require the call in the rule's body"
	}
	if name := policydir.RuleName(r); name != "deny" && name != "ask" { // a denial or an ask would not apply either
		hint += require
	}
	errs.Add(at, fmt.Sprintf("%v %s, and this entry would vanish with it", partial, what), hint)
}

// newTotalLint returns the lint of a rule.
func (c *Checked) newTotalLint(m *ast.Module, r *ast.Rule, depth int) *totalLint {
	l := &totalLint{
		inputLint: c.newInputLint(m, r, nil), Checked: c, module: m, rule: r, depth: depth,
		bound: map[ast.Var]bool{}, made: map[ast.Var]*ast.Term{},
	}
	for _, arg := range r.Head.Args {
		ast.WalkVars(arg, l.bind)
	}
	for _, e := range r.Body {
		l.declares(e)
		maps.Copy(l.made, l.assigned(e))
	}
	for changed := true; changed; {
		changed = false
		l.must = nil
		for _, e := range r.Body {
			if some, ok := e.Terms.(*ast.SomeDecl); l.isMade(e) || isTrue(e) || ok && len(some.Symbols) > 0 && isVar(some.Symbols[0]) {
				continue
			}
			l.must = append(l.must, e)
			ast.WalkVars(e, func(used ast.Var) bool {
				changed = changed || l.made[used] != nil
				delete(l.made, used)
				return false
			})
		}
	}
	if tools := l.asked(); len(tools) > 0 {
		l.args = places.Args(c.Bundle, tools...)
	}
	return l
}

// partial returns what in a term may be undefined, or nil.
func (l *totalLint) partial(t *ast.Term) *ast.Term {
	switch v := t.Value.(type) {
	case ast.Var:
		if made := l.made[v]; made != nil {
			delete(l.made, v) // looked at once: it may be made of itself, which the compiler refuses
			l.bound[v] = true
			return l.partial(made)
		}
		if l.bound[v] || l.required(t) || l.whole(ast.Ref{t}) {
			return nil
		}
		return t
	case ast.Ref:
		if l.required(t) || l.whole(v) {
			return nil
		}
		return t
	case ast.Call:
		if p := l.firstPartial(v[1:]); p != nil {
			return p
		}
		if l.required(t) || l.answers(v[0]) || hasExtreme(v) {
			return nil
		}
		return t
	case ast.Object:
		var found *ast.Term
		v.Foreach(func(key, value *ast.Term) {
			if found == nil {
				found = l.firstPartial([]*ast.Term{key, value})
			}
		})
		return found
	case *ast.Array, ast.Set:
		var found *ast.Term
		v.(policydir.Collection).Foreach(func(t *ast.Term) {
			if found == nil {
				found = l.partial(t)
			}
		})
		return found
	}
	return nil // a constant or a comprehension
}

// firstPartial returns the first thing in terms that may be undefined.
func (l *totalLint) firstPartial(terms []*ast.Term) *ast.Term {
	for _, t := range terms {
		if p := l.partial(t); p != nil {
			return p
		}
	}
	return nil
}

// required says that a term is defined in every call that the entry is about:
// the schema requires it, or the body.
func (l *totalLint) required(t *ast.Term) bool {
	p, isInput := l.path(t)
	if isInput && (l.present(p, 0) || l.ensures(p)) {
		return true
	}
	ref, _ := t.Value.(ast.Ref)
	for n := len(ref); n > 1; n-- {
		if prefix := ast.NewTerm(ref[:n]); slices.ContainsFunc(l.must, func(e *ast.Expr) bool { return mentions(e, prefix) }) {
			return n == len(ref) || isInput && l.present(p, len(p)-len(ref)+n)
		}
	}
	return ref == nil && slices.ContainsFunc(l.must, func(e *ast.Expr) bool { return mentions(e, t) })
}

// ensures says that the body holds for no call that lacks a member, as the analysis of compiled rules knows it: the body asks
// for the member by another name, by a helper, by its key, or by object.get with a default that does not do.
func (l *totalLint) ensures(p places.Path) bool {
	names, ok := p.Names()
	if !ok || l.Compiler == nil || l.Compiler.Failed() {
		return false
	}
	var body ast.Body
	for _, r := range l.Compiler.Modules[l.rule.Location.File].Rules {
		for ; r != nil && !r.Location.Equal(l.rule.Location); r = r.Else {
		}
		if r != nil {
			body = r.Body
			break
		}
	}
	must := slices.DeleteFunc(slices.Clone(body), func(e *ast.Expr) bool {
		return !slices.ContainsFunc(l.must, func(m *ast.Expr) bool { return isOf(e, m) })
	})
	with := &absence{Analysis: values.New(l.Bundle), missing: names, keyed: true}
	return with.body(must, findings{}) == fails
}

// isOf says that the compiler made an expression of a written one.
func isOf(e, written *ast.Expr) bool {
	at, of := e.Location, written.Location
	return at != nil && of != nil && at.File == of.File && at.Offset >= of.Offset && at.Offset < of.Offset+len(of.Text)
}

// present says that a path into the input leads somewhere in every call in which
// its first parts, as many as known, do.
func (l *totalLint) present(p places.Path, known int) bool {
	if len(p) == 3 {
		if names, ok := p[:2].Names(); ok && names[0] == "run" && (names[1] == "counts" || names[1] == "succeeded") {
			s, isName := p[2].Value.(ast.String)
			return isName && l.IsTool(string(s)) || l.isToolName(p[2])
		}
	}
	at := places.Input{l.root}
	for i, t := range p {
		if len(at) == 0 || at[0].Node == nil {
			return false
		}
		name, isName := t.Value.(ast.String)
		isThere := func(s schema.Schema) bool { return isName && s.Requires(string(name)) }
		if i >= known && t.Value != ast.Value(each) && slices.ContainsFunc(at, func(s schema.Schema) bool { return !isThere(s) }) {
			return false
		}
		at, _ = at.Step(t)
		if i == 0 && name == "args" {
			at = l.args
		}
	}
	return true
}

// mentions says that an expression cannot be true without a term being defined.
func mentions(e *ast.Expr, wanted *ast.Term) bool {
	if _, isTerm := e.Terms.(*ast.Term); e.Negated || !e.IsCall() && !isTerm {
		return false
	}
	ref, isRef := wanted.Value.(ast.Ref)
	found := false
	ast.WalkTerms(e, func(t *ast.Term) bool {
		if ast.IsComprehension(t.Value) {
			return true
		}
		r, ok := t.Value.(ast.Ref)
		found = found || ok && isRef && r.HasPrefix(ref) || t.Equal(wanted)
		return found
	})
	return found
}

// hasExtreme says that a call is for the least or the most of a list that is
// written out.
func hasExtreme(call ast.Call) bool {
	if name := call[0].String(); name != "max" && name != "min" || len(call) != 2 {
		return false
	}
	list, ok := call[1].Value.(policydir.Collection)
	return ok && list.Len() > 0
}

// answers says that a function is defined for all arguments.
func (l *totalLint) answers(function *ast.Term) bool {
	name := function.String()
	if functions.Builtin(name) != nil {
		return values.AlwaysAnswers(name)
	}
	ref, ok := function.Value.(ast.Ref)
	return ok && l.whole(ref)
}

// whole says that a reference is to data, or to a rule or a function, that is
// always defined.
func (l *totalLint) whole(ref ast.Ref) bool {
	ref, ok := l.global(ref)
	if !ok || l.depth > values.MaxNested {
		return false
	}
	value, isData := any(l.Data), ref.IsGround()
	for _, t := range ref[1:] {
		object, _ := value.(map[string]any)
		name, _ := t.Value.(ast.String)
		if value, ok = object[string(name)]; !ok {
			isData = false
			break
		}
	}
	if isData {
		return true
	}
	for m, r := range l.rulesAt(ref) {
		if r.Default || r.Head.RuleKind() == ast.MultiValue || l.always(m, r) {
			return true
		}
	}
	return l.written(ref)
}

// written says that a reference leads into an object or a list that a rule always has, and to something that is written there.
func (l *totalLint) written(ref ast.Ref) bool {
	for i := len(ref) - 1; i > 1; i-- {
		for m, r := range l.rulesAt(ref[:i]) {
			there := l.always(m, r)
			for branch := r; branch != nil; branch = branch.Else {
				there = there && branch.Head.Value != nil && leads(branch.Head.Value, ref[i:])
			}
			return there
		}
	}
	return false
}

// leads says that a path leads to a part of what is written out.
func leads(t *ast.Term, path ast.Ref) bool {
	for _, index := range path {
		collection, ok := t.Value.(interface{ Get(*ast.Term) *ast.Term })
		if !ok || !ast.IsScalar(index.Value) {
			return false
		}
		if t = collection.Get(index); t == nil {
			return false
		}
	}
	return true
}

// global returns a reference into data as it is in full.
func (l *totalLint) global(ref ast.Ref) (ast.Ref, bool) {
	head, ok := ref[0].Value.(ast.Var)
	switch {
	case !ok || l.bound[head]:
		return nil, false
	case ref[0].Equal(ast.DefaultRootDocument):
		return ref, true
	}
	for _, i := range l.module.Imports {
		if path, ok := i.Path.Value.(ast.Ref); ok && i.Name() == head {
			return path.Concat(ref[1:]), path[0].Equal(ast.DefaultRootDocument)
		}
	}
	return l.module.Package.Path.Append(ast.StringTerm(string(head))).Concat(ref[1:]), true
}

// rulesAt yields the rules at a reference, with their modules.
func (l *totalLint) rulesAt(ref ast.Ref) func(func(*ast.Module, *ast.Rule) bool) {
	return func(yield func(*ast.Module, *ast.Rule) bool) {
		for _, name := range slices.Sorted(maps.Keys(l.Parsed)) {
			m := l.Parsed[name]
			if !ref.HasPrefix(m.Package.Path) || len(ref) != len(m.Package.Path)+1 {
				continue
			}
			last, _ := ref[len(ref)-1].Value.(ast.String)
			for _, r := range m.Rules {
				if len(r.Head.Ref()) == 1 && policydir.RuleName(r) == string(last) && !yield(m, r) {
					return
				}
			}
		}
	}
}

// isTrue says that an expression is true, as the body of a rule that is written without one.
func isTrue(e *ast.Expr) bool { return e.Equal(ast.NewExpr(ast.BooleanTerm(true))) }

// always says that a rule or a function has a value without a condition.
func (l *totalLint) always(m *ast.Module, r *ast.Rule) bool {
	for _, arg := range r.Head.Args {
		if _, isVar := arg.Value.(ast.Var); !isVar {
			return false
		}
	}
	for ; r != nil; r = r.Else {
		if l := l.newTotalLint(m, r, l.depth+1); l.partial(r.Head.Value) != nil {
			return false
		}
		if !slices.ContainsFunc(r.Body, func(e *ast.Expr) bool { return !isTrue(e) }) {
			return true
		}
	}
	return false
}
