package lint

import (
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/schema"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// An absence evaluates a rule for all calls that lack one member of the input. It
// finds out what holds for none of them.
type absence struct {
	*values.Analysis
	missing []string             // the path of the member; anyIndex stands for an element
	only    map[string]*ast.Rule // by the name: the one rule that is evaluated for all of its rules
	pins    map[ast.Var]string   // indexes that go through some names: the one that is meant
	keyed   bool                 // what object.get answers and which keys there are is known, too
	depth   int
}

// A fate is what is known of an expression, a body or a rule.
type fate uint8

const (
	maybe fate = iota
	fails      // it is false or undefined
	holds
)

// A finding is what is known of the value of a term.
type finding struct {
	absent bool      // it is undefined
	value  ast.Value // what it is, nil when that depends
	path   []string  // the part of the input that it is
	isPart bool
	isKeys bool // they are the keys of the part
}

// findings are those of the variables of a body.
type findings map[ast.Var]finding

// body evaluates a body; it notes what its variables are.
func (l *absence) body(body ast.Body, vars findings) fate {
	all := holds
	for _, e := range body {
		switch l.expr(e, vars) {
		case fails:
			return fails
		case maybe:
			all = maybe
		}
	}
	return all
}

// expr evaluates an expression. What a with replaces is not the input of the call.
func (l *absence) expr(e *ast.Expr, vars findings) fate {
	if len(e.With) > 0 {
		l.forget(e, vars)
		return maybe
	}
	if e.Negated {
		positive := e.ComplementNoWith()
		switch l.expr(positive, maps.Clone(vars)) {
		case fails:
			if t, isTerm := e.Terms.(*ast.Term); isTerm && l.names(t, vars) {
				return maybe // the rule is written for the absence
			}
			return holds
		case holds:
			return fails
		}
		return maybe
	}
	switch terms := e.Terms.(type) {
	case *ast.Term:
		return l.truth(l.term(terms, vars))
	case []*ast.Term:
		return l.call(terms, vars)
	case *ast.Every:
		return l.every(terms, vars)
	}
	return maybe
}

// forget notes that nothing is known of the variables of an expression.
func (l *absence) forget(e *ast.Expr, vars findings) {
	ast.WalkVars(e, func(v ast.Var) bool {
		if _, known := vars[v]; !known {
			vars[v] = finding{}
		}
		return false
	})
}

// names says that a term is the missing member itself.
func (l *absence) names(t *ast.Term, vars findings) bool {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return false
	}
	path, ok := l.path(ref, vars)
	return ok && slices.Equal(path, l.missing)
}

// truth says whether a value makes an expression true.
func (l *absence) truth(v finding) fate {
	switch {
	case v.absent:
		return fails
	case v.value == nil:
		return maybe
	case v.value.Compare(ast.Boolean(false)) == 0:
		return fails
	}
	return holds
}

// every evaluates an every.
func (l *absence) every(every *ast.Every, vars findings) fate {
	domain := l.term(every.Domain, vars)
	switch {
	case domain.absent:
		return fails
	case isEmpty(domain.value):
		return holds
	}
	inner := maps.Clone(vars)
	if v, ok := every.Value.Value.(ast.Var); ok {
		inner[v] = l.step(domain, ast.VarTerm(ast.WildcardPrefix), vars)
	}
	if every.Key != nil {
		if v, ok := every.Key.Value.(ast.Var); ok {
			inner[v] = finding{}
		}
	}
	if l.body(every.Body, inner) == fails && (!l.keyed || domain.value != nil) {
		return fails // unless there is no element, of which nothing is said
	}
	return maybe
}

// isEmpty says that a value is a collection without elements.
func isEmpty(v ast.Value) bool {
	switch v := v.(type) {
	case ast.Object:
		return v.Len() == 0
	case policydir.Collection:
		return v.Len() == 0
	}
	return false
}

// term evaluates a term.
func (l *absence) term(t *ast.Term, vars findings) finding {
	switch v := t.Value.(type) {
	case ast.Var:
		return vars[v]
	case ast.Ref:
		return l.ref(v, vars)
	case *ast.ArrayComprehension:
		return l.comprehension(v.Body, ast.NewArray(), vars)
	case *ast.SetComprehension:
		return l.comprehension(v.Body, ast.NewSet(), vars)
	case *ast.ObjectComprehension:
		return l.comprehension(v.Body, ast.NewObject(), vars)
	case ast.Object:
		return l.composed(t, vars, func(f func(*ast.Term)) { v.Foreach(func(key, value *ast.Term) { f(key); f(value) }) })
	case policydir.Collection:
		return l.composed(t, vars, v.Foreach)
	case ast.Call:
		return finding{}
	}
	return finding{value: t.Value}
}

// comprehension returns what a comprehension makes: nothing when its body fails.
func (l *absence) comprehension(body ast.Body, empty ast.Value, vars findings) finding {
	if l.body(body, maps.Clone(vars)) == fails {
		return finding{value: empty}
	}
	return finding{}
}

// composed evaluates a collection that is written out.
func (l *absence) composed(t *ast.Term, vars findings, each func(func(*ast.Term))) finding {
	absent := false
	each(func(t *ast.Term) { absent = absent || l.term(t, vars).absent })
	switch {
	case absent:
		return finding{absent: true}
	case ast.IsConstant(t.Value):
		return finding{value: t.Value}
	}
	return finding{}
}

// path returns the part of the input to which a reference leads.
func (l *absence) path(ref ast.Ref, vars findings) ([]string, bool) {
	var path []string
	if !ref[0].Equal(ast.InputRootDocument) {
		v, _ := ref[0].Value.(ast.Var)
		if base := vars[v]; !base.isPart {
			return nil, false
		} else {
			path = base.path
		}
	}
	path = path[:len(path):len(path)]
	for _, index := range ref[1:] {
		path = append(path, l.index(index, vars))
	}
	return path, true
}

// index returns the name that an index is, or anyIndex.
func (l *absence) index(t *ast.Term, vars findings) string {
	value := t.Value
	if v, ok := value.(ast.Var); ok {
		if name, pinned := l.pins[v]; pinned {
			return name
		}
		if vars[v].value != nil {
			value = vars[v].value
		}
	}
	if name, ok := value.(ast.String); ok {
		return string(name)
	}
	return schema.AnyIndex
}

// within says that a path leads to the missing member, or into it.
func (l *absence) within(path []string) bool {
	return len(path) >= len(l.missing) && slices.Equal(path[:len(l.missing)], l.missing)
}

// ref evaluates a reference.
func (l *absence) ref(ref ast.Ref, vars findings) finding {
	var base finding
	rest := ref[1:]
	switch {
	case ref[0].Equal(ast.InputRootDocument):
		base = finding{isPart: true}
	case ref[0].Equal(ast.DefaultRootDocument):
		base, rest = l.document(ref)
	case isVar(ref[0]):
		base = vars[ref[0].Value.(ast.Var)]
	default:
		base = l.term(ref[0], vars)
	}
	for _, index := range rest {
		base = l.step(base, index, vars)
	}
	return base
}

// step evaluates an index.
func (l *absence) step(base finding, index *ast.Term, vars findings) finding {
	if v, ok := index.Value.(ast.Var); ok && vars[v].absent {
		return finding{absent: true}
	}
	switch {
	case base.absent:
		return base
	case base.isPart:
		path := append(base.path[:len(base.path):len(base.path)], l.index(index, vars))
		return finding{absent: l.within(path), path: path, isPart: true}
	case base.isKeys:
		return finding{absent: l.lacks(base, index.Value, vars)}
	case isEmpty(base.value):
		return finding{absent: true}
	case base.value != nil && ast.IsScalar(index.Value):
		v, err := base.value.Find(ast.Ref{index})
		if err != nil {
			return finding{absent: true}
		}
		return finding{value: v}
	}
	return finding{}
}

// lacks says that the missing member is the one whose name is looked for among keys.
func (l *absence) lacks(keys finding, name ast.Value, vars findings) bool {
	path := append(keys.path[:len(keys.path):len(keys.path)], l.index(ast.NewTerm(name), vars))
	return slices.Equal(path, l.missing)
}

// document evaluates the rules that a reference into data names, and returns what
// follows them.
func (l *absence) document(ref ast.Ref) (finding, ast.Ref) {
	for i := 2; i <= len(ref); i++ {
		if rules := l.Compiler.GetRulesExact(ref[:i]); len(rules) > 0 {
			return l.rules(ref[:i].String(), rules), ref[i:]
		}
	}
	return finding{}, nil
}
