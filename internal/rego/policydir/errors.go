package policydir

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/policies"
)

// Add appends an error at a location of a parsed file.
func (es *Errors) Add(at *ast.Location, message, hint string) {
	e := &policies.Diagnostic{Message: message, Hint: hint}
	if at != nil {
		e.File, e.Line, e.Col = at.File, at.Row, at.Col
	}
	*es = append(*es, e)
}

// AddFile appends an error about a whole file.
func (es *Errors) AddFile(file, message, hint string) {
	*es = append(*es, &policies.Diagnostic{File: file, Message: message, Hint: hint})
}

// Suggests says that an error proposes a name already: the rule of that name is then
// unused only by a typing mistake.
func (es Errors) Suggests(name string) bool {
	return slices.ContainsFunc(es, func(e *policies.Diagnostic) bool {
		return strings.HasPrefix(e.Hint, "did you mean "+strconv.Quote(name)+"?")
	})
}

// Holds says that there is an error in a line already.
func (es Errors) Holds(file string, line int) bool {
	return slices.ContainsFunc(es, func(e *policies.Diagnostic) bool { return e.File == file && e.Line == line })
}

// Err sorts the errors and drops repetitions; nil when there are none.
func (es Errors) Err() error {
	if len(es) == 0 {
		return nil
	}
	slices.SortStableFunc(es, func(a, b *policies.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return policies.Diagnostics(slices.CompactFunc(es, func(a, b *policies.Diagnostic) bool { return *a == *b }))
}

// DidYouMean returns a hint that names the candidate that is most like name, or nothing.
func DidYouMean(name string, candidates []string) string {
	best, at := "", len(name)/3+2
	for _, c := range slices.Sorted(slices.Values(candidates)) {
		if d := Distance(name, c); d < at {
			best, at = c, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + strconv.Quote(best) + "?"
}

// Distance is the Levenshtein distance of two names.
func Distance(a, b string) int {
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
