package opa

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"
)

// lintCompiled checks what only the compiled modules show.
func (b *bundle) lintCompiled(errs *Errors) {
	reached := b.reached()
	for _, m := range b.handWritten(b.compiler.Modules) {
		b.lintPaths(m, errs)
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
}

// unreachedHint says what to do about a rule that nothing reaches.
func unreachedHint(m *ast.Module, name string) string {
	if strings.HasPrefix(name, "test_") {
		return "tests stand in files named *" + testSuffix
	}
	if contributes(m.Package.Path) {
		if hint := didYouMean(name, contractRules()); hint != "" {
			return hint
		}
	}
	return "use it, or delete it"
}

// reached returns every rule that a decision can depend on.
func (b *bundle) reached() map[*ast.Rule]bool {
	reached := map[*ast.Rule]bool{}
	var visit func(*ast.Rule)
	visit = func(r *ast.Rule) {
		if reached[r] {
			return
		}
		reached[r] = true
		for dependency := range b.compiler.Graph.Dependencies(r) {
			if r, ok := dependency.(*ast.Rule); ok {
				visit(r)
			}
		}
	}
	for _, r := range b.compiler.GetRulesExact(ast.MustParseRef(entryPoint)) {
		visit(r)
	}
	return reached
}

// lintTypes checks the members of contract entries that are computed, by the
// types that the compiler found.
func (b *bundle) lintTypes(errs *Errors) {
	for _, m := range b.handWritten(b.compiler.Modules) {
		if !contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			for _, f := range b.computed(r) {
				if badType(entryType(b.compiler, r), f) == nil {
					continue
				}
				// One of the rules is wrong, and which costs a look at each.
				if bad := badType(b.ownType(r), f); bad != nil {
					errs.add(r.Location, fmt.Sprintf("%q of %s must be %s, and is %v", f.name, ruleName(r), f.kind, bad), f.kind.remedy())
				}
			}
		}
	}
}

// computed returns the members of a rule's entry that are not written out.
func (b *bundle) computed(r *ast.Rule) []field {
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
func (b *bundle) ownType(r *ast.Rule) types.Type {
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
	if member := object.Select(f.name); member != nil && !f.kind.admits(member) {
		return member
	}
	return nil
}

// admits says that a value of the type can be of the kind.
func (k valueKind) admits(t types.Type) bool {
	if alternatives, ok := t.(types.Any); ok {
		return len(alternatives) == 0 || slices.ContainsFunc(alternatives, k.admits)
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
			return list.Dynamic() == nil || kindString.admits(list.Dynamic())
		case *types.Set:
			return list.Of() == nil || kindString.admits(list.Of())
		}
		return false
	}
	return true
}

// lintPaths checks that ground references into data lead somewhere.
func (b *bundle) lintPaths(m *ast.Module, errs *Errors) {
	ast.WalkRefs(m, func(ref ast.Ref) bool {
		if len(ref) > 1 && ref[0].Equal(ast.DefaultRootDocument) {
			b.lintPath(ref, errs)
		}
		return false
	})
}

// lintPath follows one reference through packages, rules and base data.
func (b *bundle) lintPath(ref ast.Ref, errs *Errors) {
	node := b.compiler.RuleTree.Child(ast.DefaultRootDocument.Value)
	var value any = b.data
	for i, t := range ref[1:] {
		name, ok := t.Value.(ast.String)
		if !ok || node != nil && len(node.Values) > 0 {
			return
		}
		object, isObject := value.(map[string]any)
		if node == nil && !isObject {
			return // into a list or a scalar: the type checker's business
		}
		var next *ast.TreeNode
		if node != nil {
			next = node.Child(t.Value)
		}
		member, inData := object[string(name)]
		if next == nil && !inData {
			errs.add(nearest(t, ref), fmt.Sprintf("there is no %s", ref[:i+2]), didYouMean(string(name), below(node, object)))
			return
		}
		node, value = next, member
	}
}

// below returns the names below a place in data.
func below(node *ast.TreeNode, object map[string]any) []string {
	names := slices.Collect(maps.Keys(object))
	if node != nil {
		for k := range node.Children {
			if s, ok := k.(ast.String); ok {
				names = append(names, string(s))
			}
		}
	}
	return names
}

// nearest returns where a part of a reference stands, or the reference.
func nearest(t *ast.Term, ref ast.Ref) *ast.Location {
	for _, candidate := range []*ast.Term{t, ref[0]} {
		if candidate.Location != nil && strings.TrimSpace(candidate.Location.File) != "" {
			return candidate.Location
		}
	}
	return nil
}
