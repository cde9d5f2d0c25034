package values

import (
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// A ToolSet is the tools that a call can be of at some point of a policy.
type ToolSet struct {
	Names   []string // sorted
	Fixed   bool     // else any tool
	Foreign bool     // or one that is not declared here
}

// None says that no call gets there.
func (s ToolSet) None() bool { return s.Fixed && len(s.Names) == 0 && !s.Foreign }

// Abroad says that only calls of tools that are not declared here get there.
func (s ToolSet) Abroad() bool { return s.Fixed && len(s.Names) == 0 && s.Foreign }

func (s ToolSet) equal(other ToolSet) bool {
	return s.Fixed == other.Fixed && s.Foreign == other.Foreign && slices.Equal(s.Names, other.Names)
}

// And returns the tools that are in both sets.
func (s ToolSet) And(other ToolSet) ToolSet {
	switch {
	case !s.Fixed:
		return other
	case !other.Fixed:
		return s
	}
	both := ToolSet{Fixed: true, Foreign: s.Foreign && other.Foreign}
	for _, name := range s.Names {
		if slices.Contains(other.Names, name) {
			both.Names = append(both.Names, name)
		}
	}
	return both
}

// or returns the tools that are in one of the sets.
func (s ToolSet) or(other ToolSet) ToolSet {
	if !s.Fixed || !other.Fixed {
		return ToolSet{}
	}
	all := append(slices.Clone(s.Names), other.Names...)
	slices.Sort(all)
	return ToolSet{slices.Compact(all), true, s.Foreign || other.Foreign}
}

// String identifies the set.
func (s ToolSet) String() string {
	if !s.Fixed {
		return "*"
	}
	text := strings.Join(s.Names, " ")
	if s.Foreign {
		text += " ?"
	}
	return text
}

// named returns the set of tools with names.
func (a *Analysis) named(names []string) ToolSet {
	s := ToolSet{Fixed: true}
	for _, name := range names {
		if a.IsTool(name) {
			s.Names = append(s.Names, name)
		} else {
			s.Foreign = true
		}
	}
	slices.Sort(s.Names)
	s.Names = slices.Compact(s.Names)
	return s
}

// argsIn returns where input.args leads in a frame: an empty place when the call
// may be of a tool that is not declared here.
func (a *Analysis) argsIn(f *Frame) places.Input {
	switch {
	case !f.Tools.Fixed:
		return places.Args(a.Bundle, a.Tools...)
	case f.Tools.Foreign:
		return nil
	}
	return places.Args(a.Bundle, f.Tools.Names...)
}

// Rooted returns the tools whose calls a package of the contract judges.
func (a *Analysis) Rooted(pkg ast.Ref) ToolSet {
	if kind, name := policydir.ContractPackage(pkg); kind == policydir.ToolPackage {
		return ToolSet{Names: []string{name}, Fixed: true}
	}
	return ToolSet{}
}

// Entering returns the tools of a rule that a rule uses. A package that is imported
// is for all tools: a use of it for one tool does not make a name of another tool in
// it a mistake.
func (a *Analysis) Entering(r *ast.Rule, from *Frame) ToolSet {
	switch kind, _ := policydir.ContractPackage(r.Module.Package.Path); {
	case r.Module.Package.Path.Equal(from.Rule.Module.Package.Path), from.Tools.Foreign:
		return from.Tools
	case kind == policydir.ToolPackage:
		return a.Rooted(r.Module.Package.Path)
	}
	return ToolSet{}
}

// Narrowed returns the tools of a body, of those that get there: what it requires
// of input.tool.name.
func (a *Analysis) Narrowed(body ast.Body, f *Frame) ToolSet {
	tools := f.Tools
	for _, e := range body {
		if !e.Negated && len(e.With) == 0 {
			tools = tools.And(a.Required(e, f))
		}
	}
	return tools
}

// Required returns the tools for which an expression can be true.
func (a *Analysis) Required(e *ast.Expr, f *Frame) ToolSet {
	switch terms := e.Terms.(type) {
	case *ast.Term:
		return a.lookedUp(terms, f)
	case []*ast.Term:
		switch name := terms[0].String(); {
		case name == "eq" && len(terms) == 3:
			x, y := a.Side(terms[1], f, e), a.Side(terms[2], f, e)
			return a.Equated(x, y).And(a.Equated(y, x)).And(a.lookedUp(terms[1], f)).And(a.lookedUp(terms[2], f))
		case name == "internal.member_2" && len(terms) == 3:
			return a.Equated(a.Side(terms[1], f, e), a.Elements(a.Side(terms[2], f, e)))
		case functions.Builtin(name) == nil:
			return a.called(terms, f)
		}
	}
	return ToolSet{}
}

// Equated returns the tools for which the name of the tool is one of some constants.
func (a *Analysis) Equated(x, y Set) ToolSet {
	parts, ok := x.AllParts()
	if !ok || !parts[0].IsToolName() {
		return ToolSet{}
	}
	names, ok := y.AllConstants()
	if !ok {
		return ToolSet{}
	}
	return a.named(texts(names))
}

// texts returns the strings among constants.
func texts(all []Constant) []string {
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
func (a *Analysis) lookedUp(t *ast.Term, f *Frame) ToolSet {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return ToolSet{}
	}
	var tools ToolSet
	for i := 1; i < len(ref); i++ {
		parts, ok := a.Values(ref[i], f).AllParts()
		if !ok || !parts[0].IsToolName() {
			continue
		}
		if keys, ok := a.Keys(a.RefValues(ref[:i], f)).AllConstants(); ok {
			tools = tools.And(a.named(texts(keys)))
		}
	}
	if rules := a.RulesOf(ref); f.Depth < MaxNested && needed(rules, ref) {
		tools = tools.And(a.anyOf(rules, nil, f))
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
func (a *Analysis) called(terms []*ast.Term, f *Frame) ToolSet {
	ref, ok := terms[0].Value.(ast.Ref)
	if !ok || f.Depth >= MaxNested {
		return ToolSet{}
	}
	return a.anyOf(a.Compiler.GetRulesExact(ref), a.Passed(terms[1:], f), f)
}

// anyOf returns the tools for which one of some rules can be true.
func (a *Analysis) anyOf(rules []*ast.Rule, args []Set, from *Frame) ToolSet {
	tools := ToolSet{Fixed: true}
	for _, r := range rules {
		if r.Default || r.Else != nil || r.Module == nil {
			return ToolSet{}
		}
		f := NewFrame(r, args, ToolSet{}, from.Depth+1)
		one := a.Narrowed(r.Body, f)
		for i, arg := range r.Head.Args {
			if i < len(args) {
				one = one.And(a.Equated(args[i], a.pattern(arg)))
			}
		}
		if tools = tools.or(one); !tools.Fixed {
			return ToolSet{}
		}
	}
	if len(rules) == 0 {
		return ToolSet{}
	}
	return tools
}

// pattern returns the constant that an argument of a function must be.
func (a *Analysis) pattern(arg *ast.Term) Set {
	if ast.IsConstant(arg.Value) {
		return Only(Constant{Term: arg})
	}
	return Anything()
}

// Covers says that a set has all tools of another one.
func (s ToolSet) Covers(other ToolSet) bool {
	if !s.Fixed {
		return true
	}
	return other.Fixed && (s.Foreign || !other.Foreign) &&
		!slices.ContainsFunc(other.Names, func(name string) bool { return !slices.Contains(s.Names, name) })
}
