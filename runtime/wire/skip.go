package wire

import (
	"fmt"
	"math"
	"strconv"
)

// skip checks the value at the cursor and moves behind it.
func (r *Reader) skip() {
	switch c := r.ws(); {
	case c == '"':
		r.str()
	case c == '{':
		r.skipObject()
	case c == '[':
		if r.open() {
			for n := 0; r.element(n); n++ {
				r.skip()
			}
		}
	case c == 't' || c == 'f':
		r.boolean()
	case c == 'n':
		r.literal("null")
	case c == '-' || c-'0' <= 9:
		r.skipNumber()
	default:
		r.syntax("a value")
	}
}

func (r *Reader) boolean() (v, ok bool) {
	if r.b[r.i] == 't' {
		return true, r.literal("true")
	}
	return false, r.literal("false")
}

func (r *Reader) skipNumber() {
	at := r.i
	lit, plain, ok := r.number()
	const alwaysFinite = 308 // digits
	if !ok || !r.literalFits(at, lit, false) || short(lit) {
		return
	}
	if r.raw && !boundedNumber(lit) {
		r.note(at, false, "number", fmt.Sprintf("a number of at most %d significant digits with an exponent within ±%d", maxDigits, maxExponent), clip(string(lit)))
		return
	}
	if plain && len(lit) <= alwaysFinite {
		return
	}
	if f, err := strconv.ParseFloat(alias(lit), 64); err != nil {
		r.noteHuge(at, false, f, lit)
	}
}

// What a number without a schema may be (SEMANTICS section 7.2): a handler that reads its
// text, a policy and the digest of a request see the same number.
const (
	maxDigits   = 19
	maxExponent = 308
)

// short reports whether a literal is inside of the bounds by its length alone: at most
// maxDigits bytes with an exponent of one or two digits, or none.
func short(lit []byte) bool {
	if len(lit) > maxDigits {
		return false
	}
	for i, c := range lit {
		if c|0x20 == 'e' {
			return len(lit)-i <= len("e99") || len(lit)-i == len("e-99") && lit[i+1]-'0' > 9
		}
	}
	return true
}

// boundedNumber says that a literal is inside of maxDigits and maxExponent. Zeros
// that change nothing do not count: 1.000 has one digit.
func boundedNumber(lit []byte) bool {
	d := parseDecimal(lit)
	n := int64(len(d.digits))
	first := d.exp + n - 1 // the exponent of the first digit
	return n == 0 || n <= maxDigits && -maxExponent <= first && first <= maxExponent
}

// noteHuge records a number that no float64 can hold.
func (r *Reader) noteHuge(at int, secret bool, f float64, lit []byte) {
	keyword, bound := "maximum", "at most "+FormatFloat(math.MaxFloat64)
	if f < 0 {
		keyword, bound = "minimum", "at least "+FormatFloat(-math.MaxFloat64)
	}
	r.note(at, secret, keyword, bound, clip(string(lit)))
}

// fewNames is how many names are compared one by one before a map is made.
const fewNames = 16

// skipObject is skip for an object: it remembers the names to find duplicates.
func (r *Reader) skipObject() {
	if !r.open() {
		return
	}
	var seen map[string]struct{}
	base := len(r.names)
	for n := 0; ; n++ {
		name, ok := r.member(n)
		if !ok {
			break
		}
		dup := false
		switch {
		case seen != nil:
			_, dup = seen[alias(name)]
			seen[string(name)] = struct{}{}
		case n == fewNames:
			seen = make(map[string]struct{}, 2*fewNames)
			for _, s := range r.names[base:] {
				seen[s] = struct{}{}
			}
			_, dup = seen[alias(name)]
			seen[string(name)] = struct{}{}
		default:
			for _, s := range r.names[base:] {
				dup = dup || s == alias(name)
			}
			r.names = append(r.names, r.keep(name))
		}
		if dup {
			r.noteDuplicate(name)
		}
		r.skip()
	}
	clear(r.names[base:])
	r.names = r.names[:base]
}

// keep returns a name that stays valid while the text is read.
func (r *Reader) keep(name []byte) string {
	if len(name) > 0 && len(r.scratch) > 0 && &name[0] == &r.scratch[0] {
		return string(name)
	}
	return alias(name)
}

// noteDuplicate records that the member at the cursor has the name of an earlier one.
func (r *Reader) noteDuplicate(name []byte) {
	r.note(r.i, false, "duplicate", "every member once", show(string(name))+" again")
}
