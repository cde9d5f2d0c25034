package ir

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A decimal is a number exactly as it is written.
type decimal = *big.Rat

// maxExponent keeps an exponent from becoming a million digits: every bound
// beyond float64 is as good as infinite.
const maxExponent = 400

func parseDecimal(literal string) (decimal, error) {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(literal), "e")
	if ok {
		n, err := strconv.Atoi(strings.TrimPrefix(exponent, "+"))
		if err != nil || n < -maxExponent || n > maxExponent {
			return nil, fmt.Errorf("the exponent is outside -%d to %d", maxExponent, maxExponent)
		}
	}
	if len(mantissa) > 1000 || strings.ContainsAny(literal, "/xXpP_") {
		return nil, errors.New("not a decimal number")
	}
	d, ok := new(big.Rat).SetString(literal)
	if !ok {
		return nil, errors.New("not a decimal number")
	}
	return d, nil
}

// bound parses one numeric keyword; nil when it is absent or bad.
func (b *builder) bound(s *dsl.Schema, key, literal string) decimal {
	if literal == "" {
		return nil
	}
	d, err := parseDecimal(literal)
	if err != nil {
		b.errorf(b.at(s, key), "write it in full", "%s: %s: %v", key, literal, err)
	}
	return d
}

// A limit is the tighter of an inclusive and an exclusive bound.
type limit struct {
	key       string
	value     decimal // nil: none
	exclusive bool
}

func (b *builder) lowest(s *dsl.Schema) limit {
	l := limit{key: "minimum", value: b.bound(s, "minimum", s.Minimum)}
	if x := b.bound(s, "exclusiveMinimum", s.ExclusiveMinimum); x != nil && (l.value == nil || x.Cmp(l.value) >= 0) {
		l = limit{key: "exclusiveMinimum", value: x, exclusive: true}
	}
	return l
}

func (b *builder) highest(s *dsl.Schema) limit {
	l := limit{key: "maximum", value: b.bound(s, "maximum", s.Maximum)}
	if x := b.bound(s, "exclusiveMaximum", s.ExclusiveMaximum); x != nil && (l.value == nil || x.Cmp(l.value) <= 0) {
		l = limit{key: "exclusiveMaximum", value: x, exclusive: true}
	}
	return l
}

// empty reports bounds that leave no value.
func (b *builder) empty(s *dsl.Schema, lo, hi limit) {
	if lo.value == nil || hi.value == nil {
		return
	}
	if c := lo.value.Cmp(hi.value); c > 0 || c == 0 && (lo.exclusive || hi.exclusive) {
		b.errorf(b.at(s, hi.key), "make it larger than "+lo.key, "%s and %s leave no value", lo.key, hi.key)
	}
}

func (b *builder) intRule(s *dsl.Schema) *wire.IntRule {
	r := &wire.IntRule{Sensitive: s.Sensitive, Const: s.Const != nil}
	lo, hi := b.lowest(s), b.highest(s)
	b.empty(s, lo, hi)
	b.intBound(s, lo, r, wire.Min, wire.ExclusiveMin)
	b.intBound(s, hi, r, wire.Max, wire.ExclusiveMax)
	if m := b.bound(s, "multipleOf", s.MultipleOf); m != nil {
		// x is a multiple of p/q in lowest terms exactly when it is one of p.
		switch p := m.Num(); {
		case p.Sign() <= 0 || !p.IsInt64():
			b.errorf(b.at(s, "multipleOf"), "use a positive number below 2^63", "multipleOf %s cannot be enforced", s.MultipleOf)
		case p.Int64() > 1:
			r.MultipleOf = p.Int64()
		}
	}
	unit := big.NewRat(1, 1)
	if m := b.bound(s, "multipleOf", s.MultipleOf); m != nil {
		unit = new(big.Rat).SetInt(m.Num())
	}
	b.gap(s, lo, hi, unit)
	for _, d := range b.numbers(s) {
		if !d.IsInt() || !d.Num().IsInt64() {
			b.errorf(s.Pos, "remove it", "%s is no 64-bit integer, so that it could never occur", d.RatString())
			continue
		}
		r.Enum = append(r.Enum, d.Num().Int64())
	}
	if r.Has == 0 && r.MultipleOf == 0 && r.Enum == nil && !r.Sensitive {
		return nil
	}
	return r
}

// noMultiple reports whether no multiple of a unit is between two bounds; outside says that
// a bound itself is none of the values.
func noMultiple(unit, low, high decimal, lowOutside, highOutside bool) bool {
	ratio := new(big.Rat).Quo(low, unit)
	n := new(big.Int).Div(ratio.Num(), ratio.Denom()) // Euclidean: the next lower
	if lowOutside || !ratio.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	order := new(big.Rat).Mul(new(big.Rat).SetInt(n), unit).Cmp(high)
	return order > 0 || order == 0 && highOutside
}

// gap reports bounds between which nothing is that the schema takes otherwise: no integer, or no
// multiple of multipleOf.
func (b *builder) gap(s *dsl.Schema, lo, hi limit, unit decimal) {
	if lo.value == nil || hi.value == nil || unit == nil || unit.Sign() <= 0 || lo.value.Cmp(hi.value) > 0 {
		return
	}
	if noMultiple(unit, lo.value, hi.value, lo.exclusive, hi.exclusive) {
		what := "integer"
		if s.MultipleOf != "" {
			what = "multiple of " + s.MultipleOf
		}
		b.errorf(b.at(s, lo.key), "widen one of them", "no value fits: %s %s and %s %s have no %s between them",
			lo.key, literal(s, lo.key), hi.key, literal(s, hi.key), what)
	}
}

// literal is a bound as it is written.
func literal(s *dsl.Schema, key string) string {
	return map[string]string{"minimum": s.Minimum, "exclusiveMinimum": s.ExclusiveMinimum, "maximum": s.Maximum, "exclusiveMaximum": s.ExclusiveMaximum}[key]
}

// intBound enters a bound of an integer. One between two integers is moved to
// the next that can occur; one that every int64 keeps is dropped.
func (b *builder) intBound(s *dsl.Schema, l limit, r *wire.IntRule, has, exclusive wire.Bounds) {
	if l.value == nil {
		return
	}
	n := new(big.Int)
	if l.value.IsInt() {
		n.Set(l.value.Num())
	} else {
		n.Div(l.value.Num(), l.value.Denom()) // Euclidean: the next lower
		if has == wire.Min {
			n.Add(n, big.NewInt(1))
		}
		exclusive, l.exclusive = 0, false
	}
	if !l.exclusive {
		exclusive = 0
	}
	low, high := big.NewInt(math.MinInt64), big.NewInt(math.MaxInt64)
	first, last := n.Cmp(low), n.Cmp(high) // where the bound stands among all int64
	always, never := first <= 0, last > 0 || last == 0 && l.exclusive
	if has == wire.Max {
		always, never = last >= 0, first < 0 || first == 0 && l.exclusive
	}
	if l.exclusive { // the limit itself is still ruled out
		always = always && !(has == wire.Min && first == 0) && !(has == wire.Max && last == 0)
	}
	switch {
	case never:
		b.errorf(b.at(s, l.key), "use a number within 64 bits", "%s %s leaves no 64-bit integer", l.key, l.value.RatString())
	case always:
	case has == wire.Min:
		r.Has, r.Min = r.Has|has|exclusive, n.Int64()
	default:
		r.Has, r.Max = r.Has|has|exclusive, n.Int64()
	}
}

func (b *builder) numberRule(s *dsl.Schema) *wire.NumberRule {
	r := &wire.NumberRule{Sensitive: s.Sensitive, Const: s.Const != nil}
	lo, hi := b.lowest(s), b.highest(s)
	b.empty(s, lo, hi)
	b.floatBound(s, lo, r, wire.Min, wire.ExclusiveMin)
	b.floatBound(s, hi, r, wire.Max, wire.ExclusiveMax)
	if m := b.bound(s, "multipleOf", s.MultipleOf); m != nil {
		if m.Sign() <= 0 {
			b.errorf(b.at(s, "multipleOf"), "use a positive number", "multipleOf %s cannot be enforced", s.MultipleOf)
		}
		r.MultipleOf = s.MultipleOf
		b.gap(s, lo, hi, m)
	}
	for _, d := range b.numbers(s) {
		f, _ := d.Float64()
		if math.IsInf(f, 0) {
			b.errorf(s.Pos, "remove it", "%s is beyond a 64-bit number", d.RatString())
		}
		r.Enum = append(r.Enum, f)
	}
	if r.Has == 0 && r.MultipleOf == "" && r.Enum == nil && !r.Sensitive {
		return nil
	}
	return r
}

// floatBound enters a bound of a number; one that every float64 keeps is dropped.
func (b *builder) floatBound(s *dsl.Schema, l limit, r *wire.NumberRule, has, exclusive wire.Bounds) {
	if l.value == nil {
		return
	}
	if !l.exclusive {
		exclusive = 0
	}
	f, _ := l.value.Float64()
	text := exactly(l.value, f, literal(s, l.key))
	beyond := 1 // the side on which an infinite bound leaves nothing
	if has == wire.Max {
		beyond = -1
	}
	switch {
	case math.IsInf(f, beyond):
		b.errorf(b.at(s, l.key), "use a number within 64 bits", "%s leaves no 64-bit number", l.key)
	case math.IsInf(f, 0):
	case has == wire.Min:
		r.Has, r.Min, r.MinText = r.Has|has|exclusive, f, text
	default:
		r.Has, r.Max, r.MaxText = r.Has|has|exclusive, f, text
	}
}

// exactly is the literal of a number that a float64 is not: one stands for its shortest literal.
func exactly(d decimal, f float64, literal string) string {
	if shortest, err := parseDecimal(wire.FormatFloat(f)); err == nil && shortest.Cmp(d) == 0 || math.IsInf(f, 0) {
		return ""
	}
	return literal
}

// numbers are the exact values of enum or const.
func (b *builder) numbers(s *dsl.Schema) []decimal {
	var all []decimal
	for _, v := range b.allowed(s, dsl.ValueNumber) {
		d, err := parseDecimal(v.Text)
		if err != nil {
			b.errorf(v.Pos, "write a number that a float64 holds", "%v", fmt.Errorf("%s: %w", v.Text, err))
			continue
		}
		all = append(all, d)
	}
	return all
}
