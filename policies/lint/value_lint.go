package lint

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/policies/lint/internal/values"
)

// A valueLint checks the values that the analysis finds: it visits every contract rule
// and what the rule uses. It visits a helper once for each context in which it is used.
type valueLint struct {
	*values.Analysis
	checked *Checked
	visited map[string]bool // contexts of rules
	indexed map[string]bool // names by which the policies index something
	notes   notes
	fuel    int // visits that are left; what is beyond is not checked

	root     string      // the rule of the contract from which the present one is used
	inverted bool        // it is used behind a not
	bodies   []bodyScope // that are being checked, the outermost first
}

// maxVisits bounds the contexts of rules that a valueLint visits. Ordinary policies
// need a few for each rule.
const maxVisits = 20_000

// newValueLint returns the lint of compiled policies.
func newValueLint(c *Checked) *valueLint {
	return &valueLint{Analysis: values.New(c.Bundle), checked: c, visited: map[string]bool{}, notes: notes{}, fuel: maxVisits}
}

// entryLocation returns where a member of a rule's entry is written.
func (l *valueLint) entryLocation(r *ast.Rule, name string) *ast.Location {
	if m := l.Parsed[r.Location.File]; m != nil {
		for _, written := range m.Rules {
			if written.Location.Compare(r.Location) != 0 || written.Head.Key == nil {
				continue
			}
			if object, ok := written.Head.Key.Value.(ast.Object); ok {
				if value := object.Get(ast.StringTerm(name)); value != nil && value.Location != nil {
					return value.Location
				}
			}
		}
	}
	return r.Location
}

// shown writes a value in a message, cut off when it is long.
func shown(v ast.Value) string {
	text := []rune(v.String())
	if len(text) > 60 {
		return string(text[:60]) + "..."
	}
	return string(text)
}
