package lint

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies/lint/internal/places"
)

// lintModify checks that a constant pointer leads to a declared argument, and
// that a constant value fits there.
func (c *Checked) lintModify(m *ast.Module, r *ast.Rule, entry ast.Object, errs *policydir.Errors) {
	term, value := entry.Get(ast.StringTerm("pointer")), entry.Get(ast.StringTerm("value"))
	if term == nil {
		return
	}
	pointer, ok := term.Value.(ast.String)
	if !ok {
		return
	}
	names, ok := parsePointer(term, string(pointer), errs)
	if !ok {
		return
	}
	l := c.newInputLint(m, r, errs)
	at := l.args
	for _, name := range names {
		next, closed := at.Step(ast.StringTerm(name))
		if closed {
			errs.Add(term.Location, fmt.Sprintf("pointer %q leads nowhere: there is no %q", string(pointer), name), policydir.DidYouMean(name, at.Names()))
			return
		}
		at = next
	}
	if value != nil {
		l.fits(string(pointer), at, value)
	}
}

// fits checks that a value, as far as it is constant, is valid at a place.
func (l *inputLint) fits(pointer string, at places.Input, value *ast.Term) {
	wanted, have := at.Kinds(), l.kindsOf(value)
	if wanted&have == 0 {
		l.errs.Add(value.Location, fmt.Sprintf("the argument at %q is %v, and this value is %v", pointer, wanted, have), "no call could run with it: write a value that fits")
		return
	}
	if !ast.IsScalar(value.Value) {
		return
	}
	if hint, never := neverOneOf(value, at.Values()); never {
		l.errs.Add(value.Location, fmt.Sprintf("the argument at %q is never %v", pointer, value), hint)
	}
}
