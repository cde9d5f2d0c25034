package consent

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A Predicate is met by arguments in which one member compares to a value.
type Predicate struct {
	Member string          `json:"member"` // the name of a top-level member, or a JSON Pointer
	Op     Op              `json:"op"`
	Value  json.RawMessage `json:"value"`
}

// A matcher is a compiled Predicate.
type matcher struct {
	path   []string
	op     Op
	form   []byte     // OpEqual: canonical
	prefix string     // OpPrefix
	above  wire.Token // OpGreater
}

// compile checks and compiles p.
func (p *Predicate) compile() (matcher, error) {
	m := matcher{op: p.Op}
	var err error
	if m.path, err = parseMember(p.Member); err != nil {
		return m, err
	}
	value, violations := wire.ParseRaw(p.Value, wire.Limits{})
	if violations != nil {
		return m, fmt.Errorf("the value for %q is no JSON: %s", p.Member, violations[0])
	}
	first := find(value, nil)[0]
	switch {
	case p.Op == OpEqual:
		m.form, err = wire.AppendCanonical(nil, value)
		return m, err
	case p.Op == OpPrefix && first.Kind == wire.KindString:
		m.prefix = first.Str
	case p.Op == OpGreater && isNumber(first.Kind):
		m.above = first
	default:
		return m, fmt.Errorf("%q cannot be compared by %s to %s", p.Member, p.Op, p.Value)
	}
	return m, nil
}

// Met reports whether arguments meet p. The error says why p makes no sense.
func (p *Predicate) Met(args wire.Value) (bool, error) {
	m, err := p.compile()
	if err != nil {
		return false, err
	}
	return m.meets(args), nil
}

// compileAll compiles predicates.
func compileAll(where []Predicate) ([]matcher, error) {
	list := make([]matcher, len(where))
	for i := range where {
		var err error
		if list[i], err = where[i].compile(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// meets reports whether arguments meet m. A sensitive member, or one that is
// not there, meets nothing (SEMANTICS 5.3).
func (m *matcher) meets(args wire.Value) bool {
	found := find(args, m.path)
	if found == nil || slices.ContainsFunc(found, func(t wire.Token) bool { return t.Sensitive }) {
		return false
	}
	switch t := found[0]; m.op {
	case OpEqual:
		form, err := wire.AppendCanonical(nil, found)
		return err == nil && bytes.Equal(form, m.form)
	case OpPrefix:
		return t.Kind == wire.KindString && strings.HasPrefix(t.Str, m.prefix)
	default: // OpGreater
		return isNumber(t.Kind) && greater(t, m.above)
	}
}

func isNumber(k wire.Kind) bool { return k == wire.KindInt || k == wire.KindFloat }

// greater compares two numbers exactly, for all exponents (SEMANTICS 5.3).
func greater(a, b wire.Token) bool {
	x, y := decimalOf(a), decimalOf(b)
	switch {
	case x.sign != y.sign:
		return x.sign > y.sign
	case x.sign < 0:
		x, y = y, x
	}
	return cmp.Or(cmp.Compare(x.scale, y.scale), cmp.Compare(x.digits, y.digits)) > 0
}

// A decimal is 0.digits times ten to the scale. The digits neither begin nor
// end with a zero.
type decimal struct {
	sign   int
	digits string
	scale  int64
}

// decimalOf returns a number as it is written in JSON.
func decimalOf(t wire.Token) decimal {
	text := t.Str
	switch {
	case t.Kind == wire.KindInt:
		text = strconv.FormatInt(t.Int, 10)
	case text == "":
		text = strconv.FormatFloat(t.Float, 'e', -1, 64)
	}
	d := decimal{sign: 1}
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		text, d.sign = rest, -1
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	d.scale, _ = strconv.ParseInt(exponent, 10, 64) // 0 when there is none
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	d.scale += int64(len(digits) - len(fraction))
	if d.digits = strings.TrimRight(digits, "0"); d.digits == "" {
		return decimal{}
	}
	return d
}

// names reports whether p looks at one of the members at pointers, or into or around it.
func (p *Predicate) names(pointers []string) bool {
	path, err := parseMember(p.Member)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(pointers, func(pointer string) bool {
		if pointer == "" {
			return true
		}
		other, err := parseMember(pointer)
		n := min(len(path), len(other))
		return err == nil && slices.Equal(path[:n], other[:n])
	})
}
