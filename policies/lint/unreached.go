package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// lintUnreached refuses rules that nothing reaches from the decision: they were meant to
// be part of it.
func (c *Checked) lintUnreached(errs *policydir.Errors) {
	reached := reachable(c.Compiler, slices.Concat(c.Compiler.GetRulesExact(ast.MustParseRef(policydir.EntryPoint)),
		c.Compiler.GetRulesExact(ast.MustParseRef(policydir.OperatorEntryPoint))))
	for _, m := range c.HandWritten(c.Compiler.Modules) {
		reported := map[string]bool{}
		for _, r := range m.Rules {
			if name := policydir.RuleName(r); !reached[r] && !reported[name] && !c.stray[r.Location.File] && !errs.Holds(r.Location.File, r.Location.Row) && !errs.Suggests(name) {
				reported[name] = true
				errs.Add(r.Location, fmt.Sprintf("nothing reaches %q from the decision", name), unreachedHint(m, name))
			}
		}
	}
}

// unreachedHint says what to do about a rule that nothing reaches.
func unreachedHint(m *ast.Module, name string) string {
	if strings.HasPrefix(name, "test_") {
		return testFileHint(m.Package.Location.File)
	}
	contract := []string{}
	switch kind, _ := policydir.ContractPackage(m.Package.Path); {
	case kind == policydir.OperatorPackage:
		contract = []string{"allow"}
	case policydir.Contributes(m.Package.Path):
		contract = policydir.ContractRules()
	}
	if hint := policydir.DidYouMean(name, contract); hint != "" {
		return hint
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
