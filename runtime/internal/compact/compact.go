// Package compact makes a short JSON text of a long value, and says in it what it
// has left out. It is a pure function of the value and the limits.
package compact

import (
	"fmt"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// Limits are what a compacted text has at most, what it says of the rest included.
type Limits struct {
	String int // characters of a string
	List   int // elements of an array
	Map    int // members of an object
	Depth  int // arrays and objects inside of each other
	Total  int // characters of the text
}

// Default returns the limits of SEMANTICS 8.1.
func Default() Limits { return Limits{String: 3000, List: 200, Map: 80, Depth: 4, Total: 12000} }

const (
	// minString is the shortest limit of a string: what is said of the rest of it,
	// however long that is, and a character fit in.
	minString = 42
	minMany   = 2
	// minTotal has room for a string of minString characters that all have to be
	// escaped: what always fits, so that an end is found.
	minTotal = 256
	// longestName is how many characters the name of a member may have. A member
	// with a longer one is left out: a name that is cut could be that of another.
	longestName = 200
	// longestNumber is how many characters a number may have: as many as a strict
	// reader takes unless it is told otherwise.
	longestNumber = 32
)

// within returns l with nothing in it that could not be met.
func (l Limits) within() Limits {
	return Limits{max(l.String, minString), max(l.List, 1), max(l.Map, 1), max(l.Depth, 0), max(l.Total, minTotal)}
}

// less returns the limits that are tried next: half of everything, and when there
// is nothing left to halve a level less.
func (l Limits) less() Limits {
	half := l
	half.String = max(l.String/2, minString)
	half.List, half.Map = max(l.List/2, min(l.List, minMany)), max(l.Map/2, min(l.Map, minMany))
	if half == l {
		half.Depth--
	}
	return half
}

// Text returns v as JSON within l. A value that is within l is as wire.Append
// writes it, so that compacting twice changes nothing. A part that is too long is cut
// and ends with a note of what is missing:
//
//	"the beginning of a string… (1042 more characters)"
//	[1, 2, 3, "… (97 more elements)"]
//	{"a": 1, "…": "(12 more members)"}
//	{"deep": "… (object with 3 members)", "digits": "… (number with 90 characters)"}
//
// When the text has more than l.Total characters, Text repeats this with half of the
// limits until it has not. Limits that no text could meet are raised to the least that
// one can: 42 characters of a string, one element and member, 256 characters in all.
func Text(v wire.Value, l Limits) ([]byte, error) {
	for l = l.within(); ; l = l.less() {
		t := trimmer{limits: l}
		v.Walk(&t)
		if t.invalid != "" {
			return nil, fmt.Errorf("the value has no JSON form: %s", t.invalid)
		}
		if t.full {
			continue
		}
		text, violations := wire.Append(nil, t.kept)
		if violations != nil {
			return nil, fmt.Errorf("the value cannot be written: %s", violations[0])
		}
		if utf8.RuneCount(text) <= l.Total {
			return text, nil
		}
	}
}
