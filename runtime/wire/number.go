package wire

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"strconv"
)

// number reads the number at the cursor, whose first byte is known. plain
// tells that it is made of digits and a sign only.
func (r *Reader) number() (lit []byte, plain, ok bool) {
	b, i := r.b, r.i
	if b[i] == '-' {
		i++
	}
	start := i
	i = digits(b, i)
	good := i > start && (b[start] != '0' || i == start+1)
	plain = true
	if good && i < len(b) && b[i] == '.' {
		plain = false
		j := digits(b, i+1)
		good = j > i+1
		i = j
	}
	if good && i < len(b) && b[i]|0x20 == 'e' {
		plain = false
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		j := digits(b, i)
		good = j > i
		i = j
	}
	if !good {
		r.broken("a number", "a malformed number")
		return nil, false, false
	}
	lit = b[r.i:i]
	r.i = i
	return lit, plain, true
}

func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// literalFits reports whether a number literal is short enough, and notes it when not (SEMANTICS 7.2).
func (r *Reader) literalFits(at int, lit []byte, secret bool) bool {
	return len(lit) <= r.lim.Number || r.longLiteral(at, lit, secret)
}

// longLiteral notes a number literal that is too long. It reports false.
func (r *Reader) longLiteral(at int, lit []byte, secret bool) bool {
	r.note(at, secret, "number", "a number of at most "+strconv.Itoa(r.lim.Number)+" characters",
		strconv.Itoa(len(lit))+" characters")
	return false
}

// smallInt returns the value of a plain literal of at most 18 digits.
func smallInt(lit []byte) int64 {
	neg := lit[0] == '-'
	if neg {
		lit = lit[1:]
	}
	var v int64
	for _, c := range lit {
		v = v*10 + int64(c-'0')
	}
	if neg {
		return -v
	}
	return v
}

// A decimal is a number exactly as it was written: digits times ten to the exp.
// The digits neither begin nor end with a zero; zero has none.
type decimal struct {
	neg    bool
	digits []byte
	exp    int64
}

// parseDecimal reads a JSON number literal. An exponent beyond 18 digits is cut
// to one that is still beyond everything that is asked of it.
func parseDecimal(lit []byte) decimal {
	var d decimal
	if lit[0] == '-' {
		d.neg = true
		lit = lit[1:]
	}
	if e := bytes.IndexAny(lit, "eE"); e >= 0 {
		d.exp = parseExponent(lit[e+1:])
		lit = lit[:e]
	}
	if p := bytes.IndexByte(lit, '.'); p >= 0 {
		d.exp -= int64(len(lit) - p - 1)
		joined := make([]byte, 0, len(lit))
		lit = append(append(joined, lit[:p]...), lit[p+1:]...)
	}
	cut := bytes.TrimRight(lit, "0")
	d.exp += int64(len(lit) - len(cut))
	d.digits = bytes.TrimLeft(cut, "0")
	if len(d.digits) == 0 {
		return decimal{}
	}
	return d
}

func parseExponent(b []byte) int64 {
	const beyond = 1e17
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	var e int64
	for _, c := range b {
		if e = e*10 + int64(c-'0'); e > beyond {
			e = beyond
		}
	}
	if neg {
		return -e
	}
	return e
}

// cmp compares two numbers: -1, 0 or 1.
func (d decimal) cmp(e decimal) int {
	switch {
	case d.sign() != e.sign():
		return cmp.Compare(d.sign(), e.sign())
	case d.sign() == 0:
		return 0
	}
	c := cmp.Compare(d.exp+int64(len(d.digits)), e.exp+int64(len(e.digits)))
	if c == 0 {
		c = bytes.Compare(d.digits, e.digits) // as fractions: neither ends with a zero
	}
	return c * d.sign()
}

func (d decimal) sign() int {
	switch {
	case len(d.digits) == 0:
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// integral reports whether the number is an integer.
func (d decimal) integral() bool { return d.exp >= 0 || len(d.digits) == 0 }

// int64 returns the value of an integral number; ok is false when it does not fit.
func (d decimal) int64() (v int64, ok bool) {
	if len(d.digits) == 0 {
		return 0, true
	}
	if int64(len(d.digits))+d.exp > 19 {
		return 0, false
	}
	var u uint64
	for _, c := range d.digits {
		u = u*10 + uint64(c-'0')
	}
	for range d.exp {
		u *= 10
	}
	switch {
	case d.neg && u <= 1<<63:
		return int64(-u), true
	case !d.neg && u <= math.MaxInt64:
		return int64(u), true
	}
	return 0, false
}

// appendTo appends a form that is the same for equal numbers.
func (d decimal) appendTo(dst []byte) []byte {
	if d.neg {
		dst = append(dst, '-')
	}
	dst = append(dst, d.digits...)
	if 0 <= d.exp && d.exp+int64(len(d.digits)) <= defaultNumber { // as people write it
		for range d.exp {
			dst = append(dst, '0')
		}
		return dst
	}
	dst = append(dst, 'e')
	return strconv.AppendInt(dst, d.exp, 10)
}

// multipleOf reports whether d is an integer times m, which is not zero. Huge
// exponents cost nothing: powers of ten are taken modulo m's digits.
func (d decimal) multipleOf(m decimal) bool {
	if len(d.digits) == 0 {
		return true
	}
	shift := d.exp - m.exp
	if shift < 0 {
		return false // d's digits do not end with a zero
	}
	div, _ := new(big.Int).SetString(string(m.digits), 10)
	rem, _ := new(big.Int).SetString(string(d.digits), 10)
	rem.Mul(rem, new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), div))
	return rem.Mod(rem, div).Sign() == 0
}
