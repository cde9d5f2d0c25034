package jsonschema

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Canonical is a text that equal values share, whatever the order of their members:
// 1 and 1.0 are equal.
func Canonical(v *Value) string {
	var b strings.Builder
	canonical(&b, v)
	return b.String()
}

func canonical(b *strings.Builder, v *Value) {
	switch v.Kind {
	case Null:
		b.WriteString("null")
	case Bool:
		b.WriteString(strconv.FormatBool(v.Bool))
	case Number:
		b.WriteString(number(v.Text))
	case String:
		b.WriteString(strconv.Quote(v.Text))
	case Array:
		b.WriteByte('[')
		for _, item := range v.Items {
			canonical(b, item)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case Object:
		members := slices.Clone(v.Members)
		slices.SortFunc(members, func(a, b *Member) int { return strings.Compare(a.Name, b.Name) })
		b.WriteByte('{')
		for _, m := range members {
			b.WriteString(strconv.Quote(m.Name))
			b.WriteByte(':')
			canonical(b, m.Value)
			b.WriteByte(',')
		}
		b.WriteByte('}')
	}
}

// number is one spelling of a number. One with an exponent that would fill the memory
// stays as it is written.
func number(text string) string {
	if r := Rat(text); r != nil {
		return r.RatString()
	}
	return text
}

// Rat is the value of a number; nil when its exponent is far outside of what a
// declaration takes.
func Rat(text string) *big.Rat {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		if e, err := strconv.Atoi(text[i+1:]); err != nil || e > 400 || e < -400 {
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil
	}
	return r
}
