package wire

import (
	"bytes"
	"slices"
)

// equalItems returns the first two elements of an array that are equal as
// values: 1 equals 1.0, and the order of members does not matter.
func equalItems(text []byte) (i, j int, dup bool) {
	c := canonical{Reader: Reader{lim: Limits{Size: len(text), Depth: len(text), Number: len(text)}, b: text}}
	c.open()
	var ends []int // of the canonical forms in c.out
	for n := 0; c.element(n); n++ {
		c.value()
		ends = append(ends, len(c.out))
	}
	first := make(map[string]int, len(ends))
	start := 0
	for j, end := range ends {
		form := alias(c.out[start:end])
		if i, dup := first[form]; dup {
			return i, j, true
		}
		first[form] = j
		start = end
	}
	return 0, 0, false
}

// A canonical appends to out a form of each value that is the same for equal
// values. The text is known to be valid.
type canonical struct {
	Reader
	out []byte
}

func (c *canonical) value() {
	switch b := c.ws(); b {
	case '"':
		s, _ := c.str()
		c.out = appendString(c.out, alias(s))
	case '{':
		c.object()
	case '[':
		c.out = append(c.out, '[')
		c.open()
		for n := 0; c.element(n); n++ {
			c.value()
			c.out = append(c.out, ',')
		}
		c.out = append(c.out, ']')
	case 't', 'f', 'n':
		c.out = append(c.out, b)
		c.skip()
	case 0: // a syntax error was met before
	default:
		if lit, _, ok := c.number(); ok {
			c.out = parseDecimal(lit).appendTo(c.out)
		}
	}
}

// object appends the members sorted by name.
func (c *canonical) object() {
	base := len(c.out)
	var members [][]byte
	c.open()
	for n := 0; ; n++ {
		name, ok := c.member(n)
		if !ok {
			break
		}
		c.out = append(appendString(c.out[:base], alias(name)), ':')
		c.value()
		members = append(members, bytes.Clone(c.out[base:]))
	}
	sortBytes(members)
	c.out = append(c.out[:base], '{')
	for _, m := range members {
		c.out = append(append(c.out, m...), ',')
	}
	c.out = append(c.out, '}')
}

func sortBytes(s [][]byte) { slices.SortFunc(s, bytes.Compare) }
