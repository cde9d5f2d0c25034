package lint

import (
	"fmt"
	"maps"
	"slices"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/policies"
)

// Codes of warnings.
const (
	codeForeignName = "foreign_name" // a name that is not declared here and may be of another application
	codeAsk         = "unmatchable_ask"
)

// notes are what the analysis found at each place, in all contexts in which the
// place is evaluated. What is right in one of them is no mistake.
type notes map[string]*note

// A note is what was found at a place.
type note struct {
	fine    bool
	mistake *policies.Diagnostic
	doubt   *policies.Diagnostic
}

// at returns the note of a check at a place.
func (n notes) at(check string, at *ast.Location) *note {
	if at == nil {
		return &note{}
	}
	key := fmt.Sprintf("%s %s:%d:%d", check, at.File, at.Row, at.Col)
	if n[key] == nil {
		n[key] = &note{}
	}
	return n[key]
}

// holds says that a mistake in a line is noted.
func (n notes) holds(at *ast.Location) bool {
	for _, note := range n {
		if !note.fine && note.mistake != nil && note.mistake.File == at.File && note.mistake.Line == at.Row {
			return true
		}
	}
	return false
}

// wrong notes a mistake; the first one stays.
func (n *note) wrong(at *ast.Location, message, hint string) {
	if n.mistake == nil && at != nil {
		n.mistake = &policies.Diagnostic{File: at.File, Line: at.Row, Col: at.Col, Message: message, Hint: hint}
	}
}

// unsure notes what may be a mistake; the first one stays.
func (n *note) unsure(at *ast.Location, code, message, hint string) {
	if n.doubt == nil && at != nil {
		n.doubt = &policies.Diagnostic{File: at.File, Line: at.Row, Col: at.Col, Message: message, Hint: hint, Code: code}
	}
}

// collect appends mistakes in lines of which nothing is said yet, and warnings.
func (n notes) collect(errs, warnings *policydir.Errors) {
	var found policydir.Errors
	for _, key := range slices.Sorted(maps.Keys(n)) {
		switch note := n[key]; {
		case note.fine:
		case note.mistake != nil && !errs.Holds(note.mistake.File, note.mistake.Line):
			found = append(found, note.mistake)
		case note.mistake == nil && note.doubt != nil:
			*warnings = append(*warnings, note.doubt)
		}
	}
	*errs = append(*errs, found...)
}
