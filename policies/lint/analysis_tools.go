package lint

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// A toolSet is the tools that a call can be of at some point of a policy.
type toolSet struct {
	names   []string // sorted
	fixed   bool     // else any tool
	foreign bool     // or one that is not declared here
}

// none says that no call gets there.
func (s toolSet) none() bool { return s.fixed && len(s.names) == 0 && !s.foreign }

// abroad says that only calls of tools that are not declared here get there.
func (s toolSet) abroad() bool { return s.fixed && len(s.names) == 0 && s.foreign }

func (s toolSet) equal(other toolSet) bool {
	return s.fixed == other.fixed && s.foreign == other.foreign && slices.Equal(s.names, other.names)
}

// and returns the tools that are in both sets.
func (s toolSet) and(other toolSet) toolSet {
	switch {
	case !s.fixed:
		return other
	case !other.fixed:
		return s
	}
	both := toolSet{fixed: true, foreign: s.foreign && other.foreign}
	for _, name := range s.names {
		if slices.Contains(other.names, name) {
			both.names = append(both.names, name)
		}
	}
	return both
}

// or returns the tools that are in one of the sets.
func (s toolSet) or(other toolSet) toolSet {
	if !s.fixed || !other.fixed {
		return toolSet{}
	}
	all := append(slices.Clone(s.names), other.names...)
	slices.Sort(all)
	return toolSet{slices.Compact(all), true, s.foreign || other.foreign}
}

// String identifies the set.
func (s toolSet) String() string {
	if !s.fixed {
		return "*"
	}
	text := strings.Join(s.names, " ")
	if s.foreign {
		text += " ?"
	}
	return text
}

// named returns the set of tools with names.
func (a *analysis) named(names []string) toolSet {
	s := toolSet{fixed: true}
	for _, name := range names {
		if a.IsTool(name) {
			s.names = append(s.names, name)
		} else {
			s.foreign = true
		}
	}
	slices.Sort(s.names)
	s.names = slices.Compact(s.names)
	return s
}

// argsIn returns where input.args leads in a frame: an empty place when the call
// may be of a tool that is not declared here.
func (a *analysis) argsIn(f *frame) places.Input {
	switch {
	case !f.tools.fixed:
		return places.Args(a.Bundle, a.Tools...)
	case f.tools.foreign:
		return nil
	}
	return places.Args(a.Bundle, f.tools.names...)
}

// rooted returns the tools whose calls a package of the contract judges.
func (a *analysis) rooted(pkg ast.Ref) toolSet {
	if kind, name := policydir.ContractPackage(pkg); kind == policydir.ToolPackage {
		return toolSet{names: []string{name}, fixed: true}
	}
	return toolSet{}
}

// entering returns the tools of a rule that a rule uses. A package that is imported
// is for all tools: a use of it for one tool does not make a name of another tool in
// it a mistake.
func (a *analysis) entering(r *ast.Rule, from *frame) toolSet {
	switch kind, _ := policydir.ContractPackage(r.Module.Package.Path); {
	case r.Module.Package.Path.Equal(from.rule.Module.Package.Path), from.tools.foreign:
		return from.tools
	case kind == policydir.ToolPackage:
		return a.rooted(r.Module.Package.Path)
	}
	return toolSet{}
}

// narrowed returns the tools of a body, of those that get there: what it requires
// of input.tool.name.
func (a *analysis) narrowed(body ast.Body, f *frame) toolSet {
	tools := f.tools
	for _, e := range body {
		if !e.Negated && len(e.With) == 0 {
			tools = tools.and(a.required(e, f))
		}
	}
	return tools
}

// required returns the tools for which an expression can be true.
func (a *analysis) required(e *ast.Expr, f *frame) toolSet {
	switch terms := e.Terms.(type) {
	case *ast.Term:
		return a.lookedUp(terms, f)
	case []*ast.Term:
		switch name := terms[0].String(); {
		case name == "eq" && len(terms) == 3:
			x, y := a.side(terms[1], f, e), a.side(terms[2], f, e)
			return a.equated(x, y).and(a.equated(y, x)).and(a.lookedUp(terms[1], f)).and(a.lookedUp(terms[2], f))
		case name == "internal.member_2" && len(terms) == 3:
			return a.equated(a.side(terms[1], f, e), a.elements(a.side(terms[2], f, e)))
		case functions.Builtin(name) == nil:
			return a.called(terms, f)
		}
	}
	return toolSet{}
}

// equated returns the tools for which the name of the tool is one of some constants.
func (a *analysis) equated(x, y valueSet) toolSet {
	parts, ok := x.allParts()
	if !ok || !parts[0].isToolName() {
		return toolSet{}
	}
	names, ok := y.allConstants()
	if !ok {
		return toolSet{}
	}
	return a.named(texts(names))
}

// texts returns the strings among constants.
func texts(all []constant) []string {
	var list []string
	for _, c := range all {
		if s, ok := c.Value.(ast.String); ok {
			list = append(list, string(s))
		}
	}
	return list
}

// lookedUp returns the tools for which a reference that is indexed by the name of
// the tool leads somewhere, and those that a rule requires that it names.
func (a *analysis) lookedUp(t *ast.Term, f *frame) toolSet {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return toolSet{}
	}
	var tools toolSet
	for i := 1; i < len(ref); i++ {
		parts, ok := a.values(ref[i], f).allParts()
		if !ok || !parts[0].isToolName() {
			continue
		}
		if keys, ok := a.keys(a.refValues(ref[:i], f)).allConstants(); ok {
			tools = tools.and(a.named(texts(keys)))
		}
	}
	if rules := a.rulesOf(ref); f.depth < maxNested && needed(rules, ref) {
		tools = tools.and(a.anyOf(rules, nil, f))
	}
	return tools
}

// needed says that a reference is undefined unless one of some rules holds. A set
// as a whole is always defined.
func needed(rules []*ast.Rule, ref ast.Ref) bool {
	for _, r := range rules {
		if len(r.Ref()) > len(ref) || r.Head.RuleKind() == ast.MultiValue && len(r.Ref()) == len(ref) {
			return false
		}
	}
	return len(rules) > 0
}

// called returns the tools for which a function is defined.
func (a *analysis) called(terms []*ast.Term, f *frame) toolSet {
	ref, ok := terms[0].Value.(ast.Ref)
	if !ok || f.depth >= maxNested {
		return toolSet{}
	}
	return a.anyOf(a.Compiler.GetRulesExact(ref), a.passed(terms[1:], f), f)
}

// anyOf returns the tools for which one of some rules can be true.
func (a *analysis) anyOf(rules []*ast.Rule, args []valueSet, from *frame) toolSet {
	tools := toolSet{fixed: true}
	for _, r := range rules {
		if r.Default || r.Else != nil || r.Module == nil {
			return toolSet{}
		}
		f := newFrame(r, args, toolSet{}, from.depth+1)
		one := a.narrowed(r.Body, f)
		for i, arg := range r.Head.Args {
			if i < len(args) {
				one = one.and(a.equated(args[i], a.pattern(arg)))
			}
		}
		if tools = tools.or(one); !tools.fixed {
			return toolSet{}
		}
	}
	if len(rules) == 0 {
		return toolSet{}
	}
	return tools
}

// pattern returns the constant that an argument of a function must be.
func (a *analysis) pattern(arg *ast.Term) valueSet {
	if ast.IsConstant(arg.Value) {
		return only(constant{Term: arg})
	}
	return anything()
}

// covers says that a set has all tools of another one.
func (s toolSet) covers(other toolSet) bool {
	if !s.fixed {
		return true
	}
	return other.fixed && (s.foreign || !other.foreign) &&
		!slices.ContainsFunc(other.names, func(name string) bool { return !slices.Contains(s.names, name) })
}
