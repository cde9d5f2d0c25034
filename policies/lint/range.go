package lint

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// lintGuards refuses what no guard could bound during a decision, and what would
// go around a guard: ranges whose size an argument sets, and built-in functions
// that a with replaces or is replaced by.
func (l *valueLint) lintGuards(errs *policydir.Errors) {
	for _, m := range l.HandWritten(l.Compiler.Modules) {
		for _, r := range m.Rules {
			for ; r != nil; r = r.Else {
				l.lintRanges(r, values.NewFrame(r, nil, l.Rooted(m.Package.Path), 0), errs)
			}
		}
		ast.WalkWiths(m, func(w *ast.With) bool {
			for _, t := range []*ast.Term{w.Target, w.Value} {
				if functions.IsGuarded(t.String()) {
					errs.Add(w.Location, fmt.Sprintf("the built-in function %q in a with", t.String()),
						"write a function of your own that calls it, and replace that")
				}
			}
			return false
		})
	}
}

// lintRanges checks the ranges of a rule, its else branches left out.
func (l *valueLint) lintRanges(r *ast.Rule, f *values.Frame, errs *policydir.Errors) {
	check := func(terms []*ast.Term) {
		name := terms[0].String()
		if name != "numbers.range" && name != "numbers.range_step" {
			return
		}
		bounds := terms[1 : 1+len(functions.Builtin(name).Decl.FuncArgs().Args)]
		calls, known := l.Alternatives(bounds, f)
		if !known {
			errs.Add(terms[0].Location, fmt.Sprintf("%s with a bound that is not constant: an argument could ask for more numbers than fit into the memory", name),
				fmt.Sprintf("write the bounds as numbers, at most %d apart, and compare the argument with them", functions.MaxRange))
			return
		}
		for _, call := range calls {
			if err := functions.GuardRange(call); err != nil {
				errs.Add(terms[0].Location, fmt.Sprintf("%s: %s", name, err), fmt.Sprintf("write integers as bounds that make at most %d numbers", functions.MaxRange))
				return
			}
		}
	}
	ast.NewGenericVisitor(func(x any) bool {
		switch x := x.(type) {
		case *ast.Rule:
			return x != r // an else branch has a frame of its own
		case *ast.Expr:
			if terms, ok := x.Terms.([]*ast.Term); ok {
				check(terms)
			}
		case ast.Call:
			check(x)
		}
		return false
	}).Walk(r)
}
