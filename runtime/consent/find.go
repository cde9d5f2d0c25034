package consent

import (
	"errors"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// tokens is a value that was taken out of another.
type tokens []wire.Token

// Walk visits the tokens.
func (ts tokens) Walk(w wire.Visitor) {
	for _, t := range ts {
		w.Visit(t)
	}
}

// A level is an object or array that a walk is inside of.
type level struct {
	array bool
	index int    // of the next element
	name  string // of the next member
}

// key returns the name or index of the value that comes next.
func (l *level) key() string {
	if l.array {
		return strconv.Itoa(l.index)
	}
	return l.name
}

// A track follows where in a value a walk is.
type track []level

// step is to be called after a token was looked at.
func (tr *track) step(t wire.Token) {
	s := *tr
	n := len(s) - 1
	switch t.Kind {
	case wire.KindName:
		if n >= 0 {
			s[n].name = t.Str
		}
		return
	case wire.KindObject, wire.KindArray:
		*tr = append(s, level{array: t.Kind == wire.KindArray})
		return
	case wire.KindEnd:
		s = s[:max(n, 0)]
		n--
	}
	if n >= 0 && s[n].array {
		s[n].index++
	}
	*tr = s
}

// pointer returns the JSON Pointer of the value that comes next.
func (tr track) pointer() string {
	var b strings.Builder
	for i := range tr {
		b.WriteString("/" + wire.EscapePointer(tr[i].key()))
	}
	return b.String()
}

// leads reports whether path leads to the value that comes next.
func (tr track) leads(path []string) bool {
	if len(tr) != len(path) {
		return false
	}
	for i := len(path) - 1; i >= 0; i-- {
		l := &tr[i]
		if !l.array && l.name != path[i] || l.array && path[i] != strconv.Itoa(l.index) {
			return false
		}
	}
	return true
}

// A finder keeps the tokens of the value at a path.
type finder struct {
	track
	path  []string
	found tokens
	depth int // inside of what is kept
}

// find returns the value at a path, nil when there is none.
func find(v wire.Value, path []string) tokens {
	f := finder{path: path}
	v.Walk(&f)
	return f.found
}

// Visit keeps t if it belongs to the value that is looked for.
func (f *finder) Visit(t wire.Token) {
	begins := t.Kind != wire.KindName && t.Kind != wire.KindEnd
	if f.depth > 0 || begins && f.found == nil && f.leads(f.path) {
		f.found = append(f.found, t)
		switch t.Kind {
		case wire.KindObject, wire.KindArray:
			f.depth++
		case wire.KindEnd:
			f.depth--
		}
	}
	f.step(t)
}

// parseMember returns the path that the name of a top-level member or a JSON
// Pointer stands for.
func parseMember(text string) ([]string, error) {
	switch {
	case text == "":
		return nil, errors.New("a predicate names no member: write its name, or a JSON Pointer")
	case text[0] != '/':
		return []string{text}, nil
	}
	return wire.ParsePointer(text)
}
