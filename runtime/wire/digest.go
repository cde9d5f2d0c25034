package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// AppendCanonical appends the canonical form of a value to dst: the same bytes
// for equal values, in any order of their members, and different bytes for
// different values. Digests are computed from it.
//
// Every part carries its length or has a fixed one, and no form is a prefix
// of another, so that forms may be joined. Numbers are equal when their decimals
// are: 1, 1.0 and 1e0 are, and so are 0 and -0; integers are exact, those of a
// [Raw] beyond int64 too. Strings are equal when their bytes are.
//
// A value that has no JSON form, such as one with a NaN, is an error, and dst is
// returned as it was. The form is kept from version to version.
func AppendCanonical(dst []byte, v Value) ([]byte, error) {
	c := canonicalizers.Get().(*canonicalizer)
	defer c.release()
	c.out, c.err = dst, nil
	v.Walk(c)
	switch {
	case c.err != nil:
		return dst, c.err
	case len(c.open) > 0 || c.values != 1:
		return dst, errWalk
	}
	return c.out, nil
}

var (
	canonicalizers = sync.Pool{New: func() any { return new(canonicalizer) }}
	errWalk        = errors.New("the walk of the value is not that of one JSON value")
)

// A canonicalizer is the Visitor behind AppendCanonical. A member begins with an
// m, and an object or array ends with an e, which begins no value.
type canonicalizer struct {
	out     []byte
	err     error
	values  int  // at the root
	named   bool // a name was visited, its value was not
	open    []canonFrame
	members []canonMember // of all open objects
	scratch []byte
}

// A canonFrame is an open object or array.
type canonFrame struct {
	object bool
	first  int // of its members
}

// A canonMember has the offsets of a member and its name in out.
type canonMember struct{ start, name, value, end int }

// release resets c and returns it to its pool.
func (c *canonicalizer) release() {
	c.out, c.values, c.named = nil, 0, false
	c.open, c.members, c.scratch = c.open[:0], c.members[:0], c.scratch[:0]
	canonicalizers.Put(c)
}

// Visit appends one token.
func (c *canonicalizer) Visit(t Token) {
	if c.err != nil {
		return
	}
	n := len(c.open) - 1
	inObject := n >= 0 && c.open[n].object
	switch {
	case t.Kind == KindName && inObject && !c.named:
		c.name(t.Str)
	case t.Kind == KindEnd && n >= 0 && !c.named:
		c.end(c.open[n])
	case t.Kind == KindName, t.Kind == KindEnd, inObject != c.named:
		c.err = errWalk
	default:
		if n < 0 {
			c.values++
		}
		c.named = false
		c.value(t)
	}
}

// value appends a scalar, or the beginning of an object or array.
func (c *canonicalizer) value(t Token) {
	switch t.Kind {
	case KindObject:
		c.open = append(c.open, canonFrame{object: true, first: len(c.members)})
		c.out = append(c.out, 'o')
	case KindArray:
		c.open = append(c.open, canonFrame{first: len(c.members)})
		c.out = append(c.out, 'a')
	case KindString:
		c.text('s', t.Str)
	case KindInt:
		c.int(t.Int)
	case KindFloat:
		c.float(t)
	case KindBool:
		if t.Bool {
			c.out = append(c.out, 't')
		} else {
			c.out = append(c.out, 'f')
		}
	case KindNull:
		c.out = append(c.out, 'n')
	default:
		c.err = fmt.Errorf("the value has no JSON form: %s", t.Str)
	}
}

// text appends a string with its length.
func (c *canonicalizer) text(tag byte, s string) {
	c.out = binary.AppendUvarint(append(c.out, tag), uint64(len(s)))
	c.out = append(c.out, s...)
}

// int appends an integer of int64.
func (c *canonicalizer) int(v int64) {
	c.out = binary.BigEndian.AppendUint64(append(c.out, 'i'), uint64(v))
}

// float appends any other number by its decimal.
func (c *canonicalizer) float(t Token) {
	f := t.Float
	var literal []byte
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		c.err = fmt.Errorf("the value has no JSON form: a number is %v", f)
		return
	case t.Str != "":
		literal = []byte(t.Str)
	case f == math.Trunc(f) && f >= math.MinInt64 && f < -math.MinInt64:
		c.int(int64(f))
		return
	default:
		literal = appendFloat(nil, f)
	}
	c.text('d', string(parseDecimal(literal).appendTo(nil)))
}

// name begins a member.
func (c *canonicalizer) name(name string) {
	c.named = true
	m := canonMember{start: len(c.out)}
	c.text('m', name)
	m.value = len(c.out)
	m.name = m.value - len(name)
	c.members = append(c.members, m)
}

// end closes an object or array and sorts the members of an object.
func (c *canonicalizer) end(f canonFrame) {
	c.open = c.open[:len(c.open)-1]
	members := c.members[f.first:]
	for i := range members {
		if members[i].end = len(c.out); i+1 < len(members) {
			members[i].end = members[i+1].start
		}
	}
	c.sort(members)
	c.members = c.members[:f.first]
	c.out = append(c.out, 'e')
}

// sort puts the members of the object that ends here in the order of their names.
func (c *canonicalizer) sort(members []canonMember) {
	compare := func(a, b canonMember) int {
		return bytes.Compare(c.out[a.name:a.value], c.out[b.name:b.value])
	}
	sorted := slices.IsSortedFunc(members, compare)
	if !sorted {
		base := members[0].start
		c.scratch = append(c.scratch[:0], c.out[base:]...)
		slices.SortFunc(members, compare)
		c.out = c.out[:base]
		for i, m := range members {
			start := len(c.out)
			c.out = append(c.out, c.scratch[m.start-base:m.end-base]...)
			members[i] = canonMember{start: start, name: start + m.name - m.start, value: start + m.value - m.start, end: len(c.out)}
		}
	}
	for i := 1; i < len(members); i++ {
		if compare(members[i-1], members[i]) == 0 {
			c.err = fmt.Errorf("the value has the member %q twice", c.out[members[i].name:members[i].value])
			return
		}
	}
}
