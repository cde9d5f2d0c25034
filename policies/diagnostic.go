package policies

import (
	"strconv"
	"strings"
)

// A Diagnostic is one thing that is wrong with a policy directory.
type Diagnostic struct {
	File      string // path inside the directory; "ambit:" and a name for a file of the library
	Line, Col int    // from 1; zero when the file as a whole is meant
	Message   string
	Hint      string // what to do about it; may be empty
	Excerpt   string // the line of the file; empty when Line is zero
	Code      string // of a warning, for programs: unmatchable_ask, foreign_name, optional_member, plan_gives_up
}

// Error returns file:line:col: message, and the hint in parentheses.
func (d *Diagnostic) Error() string {
	var b strings.Builder
	b.WriteString(d.File)
	if d.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(d.Line))
		if d.Col > 0 {
			b.WriteByte(':')
			b.WriteString(strconv.Itoa(d.Col))
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	b.WriteString(d.Message)
	if d.Hint != "" {
		b.WriteString(" (" + d.Hint + ")")
	}
	return b.String()
}

// Diagnostics are all the things that are wrong with a policy directory, sorted by position.
type Diagnostics []*Diagnostic

// Error returns one line per error.
func (ds Diagnostics) Error() string {
	lines := make([]string, len(ds))
	for i, d := range ds {
		lines[i] = d.Error()
	}
	return strings.Join(lines, "\n")
}
