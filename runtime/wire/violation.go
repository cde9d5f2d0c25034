package wire

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Violation is one way in which a JSON text breaks its schema.
type Violation struct {
	Pointer  string `json:"pointer"`  // JSON Pointer of the value; empty is the whole text
	Keyword  string `json:"keyword"`  // of JSON Schema, or json, duplicate, size, depth, number, utf8, argument, violations
	Expected string `json:"expected"` // what the schema wants
	Actual   string `json:"actual"`   // what the text has; "(sensitive)" when that must not be shown
}

// String returns the violation as one line of text.
func (v Violation) String() string {
	p := v.Pointer
	if p == "" {
		p = "(root)"
	}
	return p + ": " + v.Keyword + ": want " + v.Expected + ", have " + v.Actual
}

const (
	maxViolations = 100 // listed per text
	maxActual     = 64  // characters of Violation.Actual
	hidden        = "(sensitive)"
)

// A problem is a violation that has an offset instead of a pointer.
type problem struct {
	at       int    // where the value begins
	member   string // with sub: the member of that value that is meant
	sub      bool
	keyword  string
	expected string
	actual   string
}

// A site is the place of an absent member whose default is being read.
type site struct {
	at     int
	member string
}

// notes collects the problems of one text.
type notes struct {
	bad    []problem
	more   int   // problems left out of bad
	secret int   // how many sensitive values enclose the cursor
	masks  int   // how many of them have names that the text gives
	maskAt int   // where the outermost of those begins
	from   int   // where a sensitive value of several types begins
	to     int   // and ends
	quiet  bool  // looking ahead: nothing is noted
	dflt   *site // not nil while a default is read
}

func (n *notes) reset() {
	clear(n.bad)
	*n = notes{bad: n.bad[:0]}
}

// count is how many problems were met.
func (n *notes) count() int { return len(n.bad) + n.more }

// full reports whether further problems are only counted.
func (n *notes) full() bool { return len(n.bad) == maxViolations }

func (n *notes) add(p problem, secret bool) {
	if n.quiet {
		return
	}
	if n.full() {
		n.more++
		return
	}
	if secret || n.secret > 0 {
		p.actual = hidden
	}
	if n.masks > 0 {
		p.at, p.sub = n.maskAt, false
	}
	if n.dflt != nil {
		p.at, p.member, p.sub = n.dflt.at, n.dflt.member, true
	}
	if p.at >= n.from && p.at < n.to {
		p.at, p.sub, p.actual = n.from, false, hidden
	}
	n.bad = append(n.bad, p)
}

// mask begins a sensitive value in which even the names of members come from
// the text: what is noted until unmask is said of the whole value.
func (n *notes) mask(at int) {
	if n.masks == 0 {
		n.maskAt = at
	}
	n.masks++
	n.secret++
}

func (n *notes) unmask() {
	n.masks--
	n.secret--
}

// note records that the value at an offset breaks a keyword. Inlined it would make
// every check longer than what it does when nothing is wrong (SEMANTICS 7.3).
//
//go:noinline
func (n *notes) note(at int, secret bool, keyword, expected, actual string) {
	n.add(problem{at: at, keyword: keyword, expected: expected, actual: actual}, secret)
}

// noteMember is like note, for a member of the value at the offset that is not in the text.
func (n *notes) noteMember(at int, member, keyword, expected, actual string) {
	n.add(problem{at: at, member: member, sub: true, keyword: keyword, expected: expected, actual: actual}, false)
}

// violations returns the problems with their pointers; nil when there are none.
func (n *notes) violations(b []byte) []Violation {
	if len(n.bad) == 0 {
		return nil
	}
	return n.located(b)
}

// located is violations when there are some.
func (n *notes) located(b []byte) []Violation {
	paths := pointers(b, n.bad)
	out := make([]Violation, len(n.bad), len(n.bad)+1)
	for i, p := range n.bad {
		if p.sub {
			paths[i] += "/" + EscapePointer(p.member)
		}
		out[i] = Violation{Pointer: paths[i], Keyword: p.keyword, Expected: p.expected, Actual: p.actual}
	}
	if n.more > 0 {
		out = append(out, Violation{
			Keyword:  "violations",
			Expected: "at most " + strconv.Itoa(maxViolations) + " violations listed",
			Actual:   strconv.Itoa(n.more) + " more left out",
		})
	}
	return out
}

// show returns a string as an Actual: quoted, control characters escaped, at most maxActual characters.
func show(s string) string {
	if len(s) > 4*maxActual {
		s = s[:4*maxActual] // a cut code point is dropped below, as the whole is too long then
	}
	return clip(strconv.Quote(s))
}

// clip shortens a text to maxActual characters.
func clip(s string) string { return cut(s, maxActual) }

// cut shortens a text to most characters, the last of which is then an ellipsis.
func cut(s string, most int) string {
	if len(s) <= most || utf8.RuneCountInString(s) <= most {
		return s
	}
	n := 0
	for i := range s {
		if n++; n == most {
			return s[:i] + "…"
		}
	}
	return s
}

// list joins quoted names for an Expected.
func list(names []string) string {
	const most = 40
	var b strings.Builder
	for i, s := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(s))
	}
	return b.String()
}
