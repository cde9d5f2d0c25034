package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// lintCompiled checks what only the compiled modules show.
func (b *Checked) lintCompiled(errs *policydir.Errors) {
	reached := reachable(b.Compiler, b.Compiler.GetRulesExact(ast.MustParseRef(policydir.EntryPoint)))
	paths := &pathLint{root: b.rootOf(b.Compiler), errs: errs}
	for _, m := range b.HandWritten(b.Compiler.Modules) {
		paths.module(m)
	}
	for _, m := range b.HandWritten(b.Compiler.Modules) {
		reported := map[string]bool{}
		for _, r := range m.Rules {
			if name := policydir.RuleName(r); !reached[r] && !reported[name] && !b.stray[r.Location.File] && !errs.Holds(r.Location.File, r.Location.Row) && !errs.Suggests(name) {
				reported[name] = true
				errs.Add(r.Location, fmt.Sprintf("nothing reaches %q from the decision", name), unreachedHint(m, name))
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
	if policydir.Contributes(m.Package.Path) {
		if hint := policydir.DidYouMean(name, policydir.ContractRules()); hint != "" {
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
func (b *Checked) lintTypes(errs *policydir.Errors) {
	for _, m := range b.HandWritten(b.Compiler.Modules) {
		if !policydir.Contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			for _, f := range b.computed(r) {
				if badType(entryType(b.Compiler, r), f) == nil {
					continue
				}
				// One of the rules is wrong: ownType checks each by itself.
				if bad := badType(b.ownType(r), f); bad != nil {
					errs.Add(r.Location, fmt.Sprintf("%q of %s must be %s, and is %v", f.Name, policydir.RuleName(r), f.Kind, bad), f.Kind.Remedy())
				}
			}
		}
	}
}

// computed returns the members of a rule's entry that are not written out.
func (b *Checked) computed(r *ast.Rule) []policydir.Field {
	if r.Head.Key == nil {
		return nil
	}
	entry, ok := r.Head.Key.Value.(ast.Object)
	if !ok {
		return nil
	}
	var fields []policydir.Field
	for _, f := range policydir.Contract(policydir.RuleName(r)) {
		if value := entry.Get(ast.StringTerm(f.Name)); value != nil && !ast.IsConstant(value.Value) {
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
	modules := b.Stamped()
	for _, m := range modules {
		if m.Package.Path.Equal(r.Module.Package.Path) {
			m.Rules = slices.DeleteFunc(m.Rules, func(o *ast.Rule) bool {
				return policydir.RuleName(o) == policydir.RuleName(r) && o.Location.Compare(r.Location) != 0
			})
		}
	}
	c := b.NewCompiler()
	c.Compile(modules)
	return entryType(c, r)
}

// badType returns the type of a member that can never be of its kind, or nil.
func badType(entry types.Type, f policydir.Field) types.Type {
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
	if member := object.Select(f.Name); member != nil && !admits(f.Kind, member) {
		return member
	}
	return nil
}

// admits says that a value of the type can be of the kind.
func admits(k policydir.ValueKind, t types.Type) bool {
	if alternatives, ok := t.(types.Any); ok {
		return len(alternatives) == 0 || slices.ContainsFunc(alternatives, func(t types.Type) bool { return admits(k, t) })
	}
	switch k {
	case policydir.KindString:
		return types.Compare(t, types.S) == 0
	case policydir.KindInt:
		return types.Compare(t, types.N) == 0
	case policydir.KindObject:
		_, ok := t.(*types.Object)
		return ok
	case policydir.KindStrings:
		switch list := t.(type) {
		case *types.Array:
			return list.Dynamic() == nil || admits(policydir.KindString, list.Dynamic())
		case *types.Set:
			return list.Of() == nil || admits(policydir.KindString, list.Of())
		}
		return false
	}
	return true
}
