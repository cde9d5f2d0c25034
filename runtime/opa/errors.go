package opa

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/policies"
	"github.com/open-policy-agent/opa/v1/ast"
)

// add appends an error at a location of a parsed file.
func (es *Errors) add(at *ast.Location, message, hint string) {
	e := &policies.Diagnostic{Message: message, Hint: hint}
	if at != nil {
		e.File, e.Line, e.Col = at.File, at.Row, at.Col
	}
	*es = append(*es, e)
}

// addFile appends an error about a whole file.
func (es *Errors) addFile(file, message, hint string) {
	*es = append(*es, &policies.Diagnostic{File: file, Message: message, Hint: hint})
}

// suggests says that an error proposes a name already: the rule of that name is then
// unused only by a typing mistake.
func (es Errors) suggests(name string) bool {
	return slices.ContainsFunc(es, func(e *policies.Diagnostic) bool {
		return strings.HasPrefix(e.Hint, "did you mean "+strconv.Quote(name)+"?")
	})
}

// holds says that there is an error in a line already.
func (es Errors) holds(file string, line int) bool {
	return slices.ContainsFunc(es, func(e *policies.Diagnostic) bool { return e.File == file && e.Line == line })
}

// err sorts the errors and drops repetitions; nil when there are none.
func (es Errors) err() error {
	if len(es) == 0 {
		return nil
	}
	slices.SortStableFunc(es, func(a, b *policies.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return policies.Diagnostics(slices.CompactFunc(es, func(a, b *policies.Diagnostic) bool { return *a == *b }))
}

// didYouMean returns a hint that names the candidate that is most like name, or nothing.
func didYouMean(name string, candidates []string) string {
	best, at := "", len(name)/3+2
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := distance(name, c); d < at {
			best, at = c, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + strconv.Quote(best) + "?"
}

// distance is the Levenshtein distance of two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// Errors collects what is wrong with a policy directory. Err sorts it.
type Errors []*policies.Diagnostic
