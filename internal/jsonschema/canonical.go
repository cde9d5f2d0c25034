package jsonschema

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Equal reports whether two values are written alike, but for white space: the order of members and the digits of
// numbers count.
func Equal(a, b *Value) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Bool == b.Bool && a.Text == b.Text && slices.EqualFunc(a.Items, b.Items, Equal) &&
		slices.EqualFunc(a.Members, b.Members, func(m, n *Member) bool { return m.Name == n.Name && Equal(m.Value, n.Value) })
}

// JSON writes a value without white space, and keeps <, > and &. A nil value is null.
func JSON(v *Value) []byte {
	var b bytes.Buffer
	write(&b, v)
	return b.Bytes()
}

func write(b *bytes.Buffer, v *Value) {
	switch {
	case v == nil || v.Kind == Null:
		b.WriteString("null")
	case v.Kind == Bool:
		b.WriteString(strconv.FormatBool(v.Bool))
	case v.Kind == Number:
		b.WriteString(v.Text)
	case v.Kind == String:
		quote(b, v.Text)
	case v.Kind == Array:
		b.WriteByte('[')
		for i, item := range v.Items {
			if i > 0 {
				b.WriteByte(',')
			}
			write(b, item)
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		for i, m := range v.Members {
			if i > 0 {
				b.WriteByte(',')
			}
			quote(b, m.Name)
			b.WriteByte(':')
			write(b, m.Value)
		}
		b.WriteByte('}')
	}
}

func quote(b *bytes.Buffer, text string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text)      // of a string, into memory
	b.Truncate(b.Len() - 1) // the end of the line
}

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
