// Package walk holds what several packages do with the walk of a value: follow
// where it is, keep a part of it, put something else in the place of a part.
package walk

import (
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// Tokens is a value in the form of its walk.
type Tokens []wire.Token

// Walk visits the value.
func (ts Tokens) Walk(w wire.Visitor) {
	for _, t := range ts {
		w.Visit(t)
	}
}

// Begins reports whether a value begins with t.
func Begins(t wire.Token) bool { return t.Kind != wire.KindName && t.Kind != wire.KindEnd }

// Deeper returns by how much t changes the depth of a walk.
func Deeper(t wire.Token) int {
	switch t.Kind {
	case wire.KindObject, wire.KindArray:
		return 1
	case wire.KindEnd:
		return -1
	}
	return 0
}

// A level is an object or array that a walk is inside of.
type level struct {
	array bool
	index int    // of the next element
	name  string // of the next member
}

// A Track follows where in a value a walk is. The zero value is at its beginning.
type Track struct{ levels []level }

// Depth returns how many objects and arrays the walk is inside of.
func (tr *Track) Depth() int { return len(tr.levels) }

// Key returns the name or index, in the outermost object or array, of what the
// walk is in or comes to next; empty outside of all.
func (tr *Track) Key() string {
	if len(tr.levels) == 0 {
		return ""
	}
	return tr.levels[0].key()
}

// key returns the name or index of the value that comes next.
func (l *level) key() string {
	if l.array {
		return strconv.Itoa(l.index)
	}
	return l.name
}

// Step is to be called after a token was looked at.
func (tr *Track) Step(t wire.Token) {
	n := len(tr.levels) - 1
	switch t.Kind {
	case wire.KindName:
		if n >= 0 {
			tr.levels[n].name = t.Str
		}
		return
	case wire.KindObject, wire.KindArray:
		tr.levels = append(tr.levels, level{array: t.Kind == wire.KindArray})
		return
	case wire.KindEnd:
		tr.levels = tr.levels[:max(n, 0)]
		n--
	}
	if n >= 0 && tr.levels[n].array {
		tr.levels[n].index++
	}
}

// Pointer returns the JSON Pointer of the value that comes next.
func (tr *Track) Pointer() string {
	var b strings.Builder
	for i := range tr.levels {
		b.WriteString("/" + wire.EscapePointer(tr.levels[i].key()))
	}
	return b.String()
}

// Leads reports whether path leads to the value that comes next.
func (tr *Track) Leads(path []string) bool {
	if len(tr.levels) != len(path) {
		return false
	}
	for i := len(path) - 1; i >= 0; i-- {
		l := &tr.levels[i]
		if !l.array && l.name != path[i] || l.array && path[i] != strconv.Itoa(l.index) {
			return false
		}
	}
	return true
}
