package opa

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// An Error is one thing that is wrong with a policy directory.
type Error struct {
	File      string // path inside the directory; "ambit:" and a name for a file of the library
	Line, Col int    // from 1; zero when the file as a whole is meant
	Message   string
	Hint      string // what to do about it; may be empty
	Excerpt   string // the line of the file; empty when Line is zero
	Code      string // of a warning, for programs: unmatchable_ask, foreign_name, optional_member
}

// Error returns file:line:col: message, and the hint in parentheses.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(e.Line))
		if e.Col > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(e.Col))
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(e.Message)
	if e.Hint != "" {
		b.WriteString(" (" + e.Hint + ")")
	}
	return b.String()
}

// Errors are all the things that are wrong with a policy directory, sorted by position.
type Errors []*Error

// Error returns one line per error.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// add appends an error at a location of a parsed file.
func (es *Errors) add(at *ast.Location, message, hint string) {
	e := &Error{Message: message, Hint: hint}
	if at != nil {
		e.File, e.Line, e.Col = at.File, at.Row, at.Col
	}
	*es = append(*es, e)
}

// addFile appends an error about a whole file.
func (es *Errors) addFile(file, message, hint string) {
	*es = append(*es, &Error{File: file, Message: message, Hint: hint})
}

// suggests says that an error proposes a name already: the rule of that name is then
// unused only by a typing mistake.
func (es Errors) suggests(name string) bool {
	return slices.ContainsFunc(es, func(e *Error) bool { return strings.HasPrefix(e.Hint, "did you mean "+strconv.Quote(name)+"?") })
}

// holds says that there is an error in a line already.
func (es Errors) holds(file string, line int) bool {
	return slices.ContainsFunc(es, func(e *Error) bool { return e.File == file && e.Line == line })
}

// err sorts the errors and drops repetitions; nil when there are none.
func (es Errors) err() error {
	if len(es) == 0 {
		return nil
	}
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return slices.CompactFunc(es, func(a, b *Error) bool { return *a == *b })
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
