package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/types"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// lintCompiled checks what only the compiled modules show.
func (c *Checked) lintCompiled(errs *policydir.Errors) {
	paths := &pathLint{root: places.Root(c.Bundle, c.Compiler), errs: errs}
	for _, m := range c.HandWritten(c.Compiler.Modules) {
		paths.module(m)
	}
	c.lintUnreached(errs)
	c.lintParts(errs)
	l := newValueLint(c)
	l.lintGuards(errs)
	l.analyze()
	l.notes.collect(errs, &c.warnings)
}

// lintTypes checks the members of contract entries that are computed, by the
// types that the compiler found.
func (c *Checked) lintTypes(errs *policydir.Errors) {
	for _, m := range c.HandWritten(c.Compiler.Modules) {
		if !policydir.Contributes(m.Package.Path) {
			continue
		}
		for _, r := range m.Rules {
			for _, f := range c.computed(r) {
				if badType(entryType(c.Compiler, r), f) == nil {
					continue
				}
				message := fmt.Sprintf("%q of %s must be %s, and is ", f.Name, policydir.RuleName(r), f.Kind)
				if said(*errs, r, message) {
					continue
				}
				// One of the rules is wrong: ownType checks each by itself.
				if bad := badType(c.ownType(r), f); bad != nil {
					errs.Add(r.Location, message+fmt.Sprint(bad), f.Kind.Remedy())
				}
			}
		}
	}
}

// said says that an error about a rule was found already.
func said(errs policydir.Errors, r *ast.Rule, message string) bool {
	last := r.Location.Row + strings.Count(string(r.Location.Text), "\n")
	return slices.ContainsFunc(errs, func(d *policies.Diagnostic) bool {
		return d.File == r.Location.File && d.Line >= r.Location.Row && d.Line <= last && strings.HasPrefix(d.Message, message)
	})
}

// computed returns the members of a rule's entry that are not written out.
func (c *Checked) computed(r *ast.Rule) []policydir.Field {
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
func (c *Checked) ownType(r *ast.Rule) types.Type {
	modules := c.Stamped()
	for _, m := range modules {
		if m.Package.Path.Equal(r.Module.Package.Path) {
			m.Rules = slices.DeleteFunc(m.Rules, func(o *ast.Rule) bool {
				return policydir.RuleName(o) == policydir.RuleName(r) && o.Location.Compare(r.Location) != 0
			})
		}
	}
	compiler := c.NewCompiler()
	compiler.Compile(modules)
	return entryType(compiler, r)
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
	if values.KindsOfType(t)&kindsOfField(k) == 0 {
		return false
	}
	var elements types.Type
	switch list := t.(type) {
	case *types.Array:
		elements = list.Dynamic()
	case *types.Set:
		elements = list.Of()
	}
	return k != policydir.KindStrings || elements == nil || admits(policydir.KindString, elements)
}
