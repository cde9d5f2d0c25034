package opa

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// lintCompiled checks what only the compiled modules show.
func (b *Checked) lintCompiled(errs *Errors) {
	reached := reachable(b.compiler, b.compiler.GetRulesExact(ast.MustParseRef(entryPoint)))
	paths := &pathLint{root: b.rootOf(b.compiler), errs: errs}
	for _, m := range b.handWritten(b.compiler.Modules) {
		paths.module(m)
	}
	for _, m := range b.handWritten(b.compiler.Modules) {
		reported := map[string]bool{}
		for _, r := range m.Rules {
			if name := ruleName(r); !reached[r] && !reported[name] && !b.stray[r.Location.File] && !errs.holds(r.Location.File, r.Location.Row) && !errs.suggests(name) {
				reported[name] = true
				errs.add(r.Location, fmt.Sprintf("nothing reaches %q from the decision", name), unreachedHint(m, name))
			}
		}
	}
	b.lintParts(errs)
	a := b.newAnalysis()
	a.lintGuards(errs)
	a.analyze()
	a.notes.collect(errs, &b.warnings)
}

// unreachedHint says what to do about a rule that nothing reaches.
func unreachedHint(m *ast.Module, name string) string {
	if strings.HasPrefix(name, "test_") {
		return testFileHint(m.Package.Location.File)
	}
	if contributes(m.Package.Path) {
		if hint := didYouMean(name, contractRules()); hint != "" {
			return hint
		}
	}
	return "use it, or delete it"
}

// reachable returns every rule that the given ones can depend on, and these.
func reachable(c *ast.Compiler, from []*ast.Rule) map[*ast.Rule]bool {
	reached := map[*ast.Rule]bool{}
	var visit func(*ast.Rule)
	visit = func(r *ast.Rule) {
		if reached[r] {
			return
		}
		reached[r] = true
		for dependency := range c.Graph.Dependencies(r) {
			if r, ok := dependency.(*ast.Rule); ok {
				visit(r)
			}
		}
	}
	for _, r := range from {
		visit(r)
	}
	return reached
}

// lintTypes checks the members of contract entries that are computed, by the
// types that the compiler found.
func (b *Checked) lintTypes(errs *Errors) {
	for _, m := range b.handWritten(b.compiler.Modules) {
		if !contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			for _, f := range b.computed(r) {
				if badType(entryType(b.compiler, r), f) == nil {
					continue
				}
				// One of the rules is wrong: ownType checks each by itself.
				if bad := badType(b.ownType(r), f); bad != nil {
					errs.add(r.Location, fmt.Sprintf("%q of %s must be %s, and is %v", f.name, ruleName(r), f.kind, bad), f.kind.remedy())
				}
			}
		}
	}
}

// computed returns the members of a rule's entry that are not written out.
func (b *Checked) computed(r *ast.Rule) []field {
	if r.Head.Key == nil {
		return nil
	}
	entry, ok := r.Head.Key.Value.(ast.Object)
	if !ok {
		return nil
	}
	var fields []field
	for _, f := range contract(ruleName(r)) {
		if value := entry.Get(ast.StringTerm(f.name)); value != nil && !ast.IsConstant(value.Value) {
			fields = append(fields, f)
		}
	}
	return fields
}

// entryType returns the type of the entries of a rule; the compiler has one for
// all rules of a name.
func entryType(c *ast.Compiler, r *ast.Rule) types.Type {
	if set, ok := c.TypeEnv.GetByRef(r.Ref().GroundPrefix()).(*types.Set); ok {
		return set.Of()
	}
	return nil
}

// ownType returns the type of the entries of one rule, as if it had its name alone.
func (b *Checked) ownType(r *ast.Rule) types.Type {
	modules := b.stamped()
	for _, m := range modules {
		if m.Package.Path.Equal(r.Module.Package.Path) {
			m.Rules = slices.DeleteFunc(m.Rules, func(o *ast.Rule) bool {
				return ruleName(o) == ruleName(r) && o.Location.Compare(r.Location) != 0
			})
		}
	}
	c := b.newCompiler()
	c.Compile(modules)
	return entryType(c, r)
}

// badType returns the type of a member that can never be of its kind, or nil.
func badType(entry types.Type, f field) types.Type {
	if alternatives, ok := entry.(types.Any); ok {
		for _, a := range alternatives {
			if bad := badType(a, f); bad != nil {
				return bad
			}
		}
		return nil
	}
	object, ok := entry.(*types.Object)
	if !ok {
		return nil
	}
	if member := object.Select(f.name); member != nil && !admits(f.kind, member) {
		return member
	}
	return nil
}

// admits says that a value of the type can be of the kind.
func admits(k valueKind, t types.Type) bool {
	if alternatives, ok := t.(types.Any); ok {
		return len(alternatives) == 0 || slices.ContainsFunc(alternatives, func(t types.Type) bool { return admits(k, t) })
	}
	switch k {
	case kindString:
		return types.Compare(t, types.S) == 0
	case kindInt:
		return types.Compare(t, types.N) == 0
	case kindObject:
		_, ok := t.(*types.Object)
		return ok
	case kindStrings:
		switch list := t.(type) {
		case *types.Array:
			return list.Dynamic() == nil || admits(kindString, list.Dynamic())
		case *types.Set:
			return list.Of() == nil || admits(kindString, list.Of())
		}
		return false
	}
	return true
}
