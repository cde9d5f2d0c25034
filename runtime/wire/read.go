package wire

import (
	"math"
	"strconv"
)

// ReadString reads a string.
//
//go:noinline
func ReadString(r *Reader, p *string, rule *StringRule) {
	if s, ok := r.text(rule); ok {
		*p = s
	}
}

// ReadEnum reads a string of a type of its own.
//
//go:noinline
func ReadEnum[S ~string](r *Reader, p *S, rule *StringRule) {
	if s, ok := r.text(rule); ok {
		*p = S(s)
	}
}

// ReadFixed reads a string that can only have one value and therefore no field.
//
//go:noinline
func ReadFixed(r *Reader, rule *StringRule) {
	r.text(rule)
}

func (r *Reader) text(rule *StringRule) (string, bool) {
	if r.ws() != '"' {
		r.mismatch("string", rule != nil && rule.Sensitive)
		return "", false
	}
	at := r.i
	b, ok := r.str()
	if !ok {
		return "", false
	}
	if rule != nil {
		if s, ok := rule.checkText(&r.notes, at, alias(b), rule.Sensitive); ok {
			return s, true
		}
	}
	return string(b), true
}

// ReadInt reads an integer: any number without a fraction, however it is written.
//
//go:noinline
func ReadInt(r *Reader, p *int64, rule *IntRule) {
	secret := rule != nil && rule.Sensitive
	c := r.ws()
	if c != '-' && c-'0' > 9 {
		r.mismatch("integer", secret)
		return
	}
	at := r.i
	lit, plain, ok := r.number()
	if !ok || !r.literalFits(at, lit, secret) {
		return
	}
	if plain && len(lit) <= 18 {
		*p = smallInt(lit)
	} else if *p, ok = r.bigInt(at, lit, secret); !ok {
		return
	}
	if rule != nil {
		rule.checkInt(&r.notes, at, *p, secret)
	}
}

// bigInt is ReadInt for literals that are long or have a fraction or an exponent (SEMANTICS 7.1).
func (r *Reader) bigInt(at int, lit []byte, secret bool) (int64, bool) {
	d := parseDecimal(lit)
	if !d.integral() {
		want := "integer"
		if at == r.nullAt {
			want += " or null"
		}
		r.note(at, secret, "type", want, clip(string(lit)))
		return 0, false
	}
	v, ok := d.int64()
	switch {
	case ok:
	case d.neg:
		r.note(at, secret, "minimum", "at least "+strconv.FormatInt(math.MinInt64, 10), clip(string(lit)))
	default:
		r.note(at, secret, "maximum", "at most "+strconv.FormatInt(math.MaxInt64, 10), clip(string(lit)))
	}
	return v, ok
}

// ReadIntEnum reads an integer of a type of its own.
func ReadIntEnum[N ~int64](r *Reader, p *N, rule *IntRule) {
	var n int64
	ReadInt(r, &n, rule)
	*p = N(n)
}

// ReadFloat reads a number.
//
//go:noinline
func ReadFloat(r *Reader, p *float64, rule *NumberRule) {
	secret := rule != nil && rule.Sensitive
	c := r.ws()
	if c != '-' && c-'0' > 9 {
		r.mismatch("number", secret)
		return
	}
	at := r.i
	lit, plain, ok := r.number()
	if !ok || !r.literalFits(at, lit, secret) {
		return
	}
	if plain && len(lit) <= 15 && lit[0] != '-' {
		*p = float64(smallInt(lit))
	} else {
		f, err := strconv.ParseFloat(alias(lit), 64)
		if err != nil {
			r.noteHuge(at, secret, f, lit)
			return
		}
		*p = f
	}
	if rule != nil {
		rule.checkFloat(&r.notes, at, *p, lit, secret)
	}
}

// ReadBool reads a boolean.
//
//go:noinline
func ReadBool(r *Reader, p *bool, rule *BoolRule) {
	secret := rule != nil && rule.Sensitive
	if c := r.ws(); c != 't' && c != 'f' {
		r.mismatch("boolean", secret)
		return
	}
	at := r.i
	v, ok := r.boolean()
	if !ok {
		return
	}
	*p = v
	if rule != nil {
		rule.checkBool(&r.notes, at, v, secret)
	}
}

// ReadNull reads null or what read reads.
func ReadNull[T, R any](r *Reader, p *Null[T], read func(*Reader, *T, *R), rule *R) {
	if r.ws() == 'n' {
		if r.literal("null") {
			*p = Null[T]{}
		}
		return
	}
	p.Valid = true
	r.nullAt = r.i
	read(r, &p.V, rule)
}

// ReadPointer allocates a value and reads it. It stands where a type contains itself.
func ReadPointer[T, R any](r *Reader, p **T, read func(*Reader, *T, *R), rule *R) {
	v := new(T)
	*p = v
	read(r, v, rule)
}
