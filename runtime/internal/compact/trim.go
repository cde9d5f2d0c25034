package compact

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// ellipsis begins each note of what was left out.
const ellipsis = "…"

// A trimmer keeps of a walk what fits into its limits, Total aside.
type trimmer struct {
	limits  Limits
	kept    walk.Tokens
	open    []level
	full    bool   // more was kept than fits into Total
	invalid string // why there is no JSON form

	skipped int  // depth inside of something that is left out
	inner   int  // elements or members of that
	object  bool // it is an object
	named   bool // it is told of in its place
}

// A level is an object or array that the walk is inside of, and that is kept.
type level struct {
	object  bool
	dropped bool // the member whose name was last is left out
	seen    int  // elements or members
	kept    int
	last    int      // where in the tokens the one is that has filled it up
	marks   []string // names of members that look like ours
}

// Visit keeps t or leaves it out.
func (m *trimmer) Visit(t wire.Token) {
	t.Rule, t.Sensitive = nil, false // what is cut need not be as the schema wants it
	switch {
	case t.Kind == wire.KindInvalid:
		m.invalid = t.Str
	case m.full || m.invalid != "":
	case m.skipped > 0:
		m.skip(t)
	case t.Kind == wire.KindName:
		m.name(t)
	case t.Kind == wire.KindEnd:
		m.close()
	case !m.admit():
		m.skipped = walk.Deeper(t)
		m.named = false
	case walk.Deeper(t) == 0:
		m.keep(m.scalar(t))
	case len(m.open) >= m.limits.Depth:
		m.skipped, m.inner, m.object, m.named = 1, 0, t.Kind == wire.KindObject, true
	default:
		t.Int = -1 // how many there are is about to change
		m.keep(t)
		m.open = append(m.open, level{object: t.Kind == wire.KindObject})
	}
}

// keep takes a token over. One has a character at least.
func (m *trimmer) keep(t wire.Token) {
	m.kept = append(m.kept, t)
	m.full = len(m.kept) > m.limits.Total
}

// say keeps a string.
func (m *trimmer) say(text string) { m.keep(wire.Token{Kind: wire.KindString, Str: text}) }

// skip counts what is left out.
func (m *trimmer) skip(t wire.Token) {
	if m.skipped == 1 && (t.Kind == wire.KindName || !m.object && walk.Begins(t)) {
		m.inner++
	}
	m.skipped += walk.Deeper(t)
	switch {
	case m.skipped > 0 || !m.named:
	case m.object:
		m.say(ellipsis + " (object with " + count(m.inner, "member") + ")")
	default:
		m.say(ellipsis + " (array with " + count(m.inner, "element") + ")")
	}
}

// name keeps the name of a member, if there is room for one.
func (m *trimmer) name(t wire.Token) {
	l := &m.open[len(m.open)-1]
	l.dropped = utf8.RuneCountInString(t.Str) > longestName || !l.fits(m.limits.Map, len(m.kept))
	if l.seen++; l.dropped {
		return
	}
	if strings.HasPrefix(t.Str, ellipsis) {
		l.marks = append(l.marks, t.Str)
	}
	m.keep(t)
}

// fits takes a place among limit ones, if there is one. What takes it begins at
// the token with the index at.
func (l *level) fits(limit, at int) bool {
	if l.kept >= limit {
		return false
	}
	if l.kept++; l.kept == limit {
		l.last = at
	}
	return true
}

// admit reports whether the value that begins now is kept.
func (m *trimmer) admit() bool {
	if len(m.open) == 0 {
		return true
	}
	l := &m.open[len(m.open)-1]
	if l.object {
		return !l.dropped
	}
	l.seen++
	return l.fits(m.limits.List, len(m.kept))
}

// close ends an object or array. What was left out of it is told in the place of
// its last one, when there is no other.
func (m *trimmer) close() {
	l := m.open[len(m.open)-1]
	m.open = m.open[:len(m.open)-1]
	limit, what := m.limits.List, "element"
	if l.object {
		limit, what = m.limits.Map, "member"
	}
	if left := l.seen - l.kept; left > 0 {
		if l.kept == limit {
			m.kept = m.kept[:l.last]
			left++
		}
		text := "(" + strconv.Itoa(left) + " more " + plural(left, what) + ")"
		if l.object {
			m.keep(wire.Token{Kind: wire.KindName, Str: l.mark()})
		} else {
			text = ellipsis + " " + text
		}
		m.say(text)
	}
	m.keep(wire.Token{Kind: wire.KindEnd})
}

// mark returns a name that no member has.
func (l *level) mark() string {
	name := ellipsis
	for i := 0; i < len(l.marks); i++ {
		if l.marks[i] == name {
			name, i = name+ellipsis, -1
		}
	}
	return name
}

// scalar returns t, or what is shown of it.
func (m *trimmer) scalar(t wire.Token) wire.Token {
	switch {
	case t.Kind == wire.KindString:
		t.Str = cut(t.Str, m.limits.String)
	case t.Kind == wire.KindFloat && len(t.Str) > longestNumber:
		t = wire.Token{Kind: wire.KindString, Str: ellipsis + " (number with " + count(len(t.Str), "character") + ")"}
	}
	return t
}

// cut returns s with at most limit characters, what it says of the rest included.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s
	}
	room := limit - utf8.RuneCountInString(rest(n))
	end := 0
	for range room {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end] + rest(n-room)
}

// rest is said of n characters that are missing.
func rest(n int) string {
	return ellipsis + " (" + strconv.Itoa(n) + " more " + plural(n, "character") + ")"
}

// count returns a number of things, such as 1 member or 2 members.
func count(n int, what string) string { return strconv.Itoa(n) + " " + plural(n, what) }

func plural(n int, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}
