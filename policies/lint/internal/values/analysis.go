package values

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
)

// An Analysis computes what terms of the compiled policies can be: constants, also
// through locals and rules, and parts of the input.
//
// Its answers are supersets: a term may be any of the candidates, and anything
// else besides when the set is open. Checks look at closed sets only.
type Analysis struct {
	*policydir.Bundle
	scopes    map[*ast.Rule]*scope
	evaluated *closedRules
	within    int              // calls of Always, one in the other
	steps     int              // that are left to the outermost one
	asked     map[ast.Var]bool // about which Always is being asked
}

// MaxNested bounds how deep rules, functions and references are followed.
const MaxNested = 16

// MaxAlternatives bounds the alternatives that the analysis multiplies.
const MaxAlternatives = 64

// New returns an analysis of the compiled policies.
func New(b *policydir.Bundle) *Analysis {
	return &Analysis{Bundle: b, asked: map[ast.Var]bool{}, scopes: map[*ast.Rule]*scope{}, evaluated: newClosedRules(b)}
}

// IsClosed says that a rule depends on nothing but constants and base data.
func (a *Analysis) IsClosed(r *ast.Rule) bool { return a.evaluated.closed(r) }

// Run evaluates a closed rule and returns with which error it fails.
func (a *Analysis) Run(r *ast.Rule) error { return a.evaluated.run(r) }
