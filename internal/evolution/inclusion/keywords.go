package inclusion

import (
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// silent are the keywords that say nothing of a value by themselves.
var silent = set("title", "description", "deprecated", "x-sensitive", "examples", "default", "$comment", "readOnly", "writeOnly", "$defs",
	"$schema", "contentEncoding", "contentMediaType", "contentSchema", "then", "else", "minContains", "maxContains", "$anchor", "$dynamicAnchor")

// applicators are the keywords by which members and elements are evaluated.
var applicators = []string{"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "properties",
	"patternProperties", "additionalProperties", "items", "prefixItems", "contains", "minContains", "maxContains"}

func set(words ...string) map[string]bool {
	m := map[string]bool{}
	for _, w := range words {
		m[w] = true
	}
	return m
}

// types is a set of the types of JSON, with whole numbers apart.
type types uint8

const (
	null types = 1 << iota
	boolean
	whole
	fraction
	str
	array
	object
	every = 1<<7 - 1
)

// about are the types of which a keyword says something.
func about(key string) types {
	switch key {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		return whole | fraction
	case "minLength", "maxLength", "pattern", "format":
		return str
	case "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "unevaluatedItems":
		return array
	case "properties", "patternProperties", "additionalProperties", "propertyNames", "required", "dependentRequired", "dependentSchemas",
		"minProperties", "maxProperties", "unevaluatedProperties":
		return object
	}
	return every
}

// named are the types that the value of type names.
func named(v *dsl.Value) (all types) {
	words := []*dsl.Value{v}
	if v.Kind == dsl.ValueArray {
		words = v.Items
	}
	for _, w := range words {
		switch w.Text {
		case "null":
			all |= null
		case "boolean":
			all |= boolean
		case "integer":
			all |= whole
		case "number":
			all |= whole | fraction
		case "string":
			all |= str
		case "array":
			all |= array
		case "object":
			all |= object
		}
	}
	return all
}

func typeOf(v *dsl.Value) types {
	switch v.Kind {
	case dsl.ValueNull:
		return null
	case dsl.ValueBool:
		return boolean
	case dsl.ValueString:
		return str
	case dsl.ValueArray:
		return array
	case dsl.ValueObject:
		return object
	}
	if r := number(v); r != nil && !r.IsInt() {
		return fraction
	}
	return whole | fraction
}

// types are those that values of n may have, or more.
func (c *comparer) types(n node, depth int) types {
	n = n.plain()
	all := types(every)
	if c.steps++; n.any() || depth > 20 || c.steps > effort {
		return all
	}
	if n.never() {
		return 0
	}
	if t := n.get("type"); t != nil {
		all &= named(t)
	}
	if values := n.values(); values != nil {
		var of types
		for _, v := range values {
			of |= typeOf(v)
		}
		all &= of
	}
	if to, ok := n.target(); ok {
		all &= c.types(to, depth+1)
	}
	for _, part := range n.list("allOf") {
		all &= c.types(part, depth+1)
	}
	for _, union := range []string{"anyOf", "oneOf"} {
		if n.has(union) {
			var of types
			for _, branch := range n.list(union) {
				of |= c.types(branch, depth+1)
			}
			all &= of
		}
	}
	return all
}

// bounds are the keywords with a number, a text or a flag, which a says as narrow as b.
var bounds = map[string]func(a, b node, key string) bool{
	"minimum":          atLeast,
	"exclusiveMinimum": atLeast,
	"maximum":          atMost,
	"exclusiveMaximum": atMost,
	"minLength":        least, "minItems": least, "minProperties": least,
	"maxLength": most, "maxItems": most, "maxProperties": most,
	"pattern": func(a, b node, key string) bool {
		return a.has(key) && Spelling(a.get(key).Text) == Spelling(b.get(key).Text)
	},
	"format": equalText,
	"multipleOf": func(a, b node, key string) bool {
		x, y := number(a.get(key)), number(b.get(key))
		return x != nil && y != nil && y.Sign() > 0 && new(big.Rat).Quo(x, y).IsInt()
	},
	"uniqueItems": func(a, b node, key string) bool { return !b.get(key).Bool || a.has(key) && a.get(key).Bool },
}

// Spelling returns a pattern as ECMA-262 has it with the flag u.
func Spelling(pattern string) string {
	if _, err := wire.CompilePattern(pattern); err == nil {
		return pattern
	}
	if out, ok := wire.RespellPattern(pattern); ok {
		return out
	}
	return pattern
}

func equalText(a, b node, key string) bool { return a.has(key) && a.get(key).Text == b.get(key).Text }

func least(a, b node, key string) bool {
	x, y := number(a.get(key)), number(b.get(key))
	return y != nil && (y.Sign() <= 0 || x != nil && x.Cmp(y) >= 0)
}

func most(a, b node, key string) bool {
	x, y := number(a.get(key)), number(b.get(key))
	return x != nil && y != nil && x.Cmp(y) <= 0
}

// atLeast: a bound of a that is reached is a bound that is passed where it is greater.
func atLeast(a, b node, key string) bool { return within(a, b, key, "minimum", "exclusiveMinimum", 1) }
func atMost(a, b node, key string) bool  { return within(a, b, key, "maximum", "exclusiveMaximum", -1) }

func within(a, b node, key, reached, passed string, sign int) bool {
	limit := number(b.get(key))
	if limit == nil {
		return false
	}
	if x := number(a.get(passed)); x != nil {
		if a.onlyWhole() { // the next one is the first that is taken
			x = new(big.Rat).Add(nearest(x, sign), big.NewRat(int64(sign), 1))
			return x.Cmp(limit) == sign || key == reached && x.Cmp(limit) == 0
		}
		if x.Cmp(limit) != -sign {
			return true
		}
	}
	x := number(a.get(reached))
	return x != nil && (x.Cmp(limit) == sign || key == reached && x.Cmp(limit) == 0)
}

// onlyWhole reports whether the numbers of a schema are integers.
func (n node) onlyWhole() bool {
	t := n.get("type")
	return t != nil && named(t)&fraction == 0
}

// nearest is the integer that a number is, or the one before it in a direction.
func nearest(x *big.Rat, sign int) *big.Rat {
	n := new(big.Int).Div(x.Num(), x.Denom())
	if sign < 0 && !x.IsInt() {
		n.Add(n, big.NewInt(1))
	}
	return new(big.Rat).SetInt(n)
}

// number is the value of a number; nil for none, and for one of so many digits that only its
// text is compared.
func number(v *dsl.Value) *big.Rat {
	if v == nil || v.Kind != dsl.ValueNumber {
		return nil
	}
	if f, _, err := big.ParseFloat(v.Text, 10, 64, big.ToZero); err != nil || f.Sign() != 0 && (f.MantExp(nil) > 4000 || f.MantExp(nil) < -4000) {
		return nil
	}
	r, ok := new(big.Rat).SetString(v.Text)
	if !ok {
		return nil
	}
	return r
}

// listedIn: all values that a lists are listed by b.
func (c *comparer) listedIn(a, b node) bool {
	was, now := a.values(), b.values()
	return was != nil && !slices.ContainsFunc(was, func(v *dsl.Value) bool { return !Holds(now, v) && typeOf(v)&c.types(a, 0) != 0 })
}

// listedWithin: all values that a lists keep a bound of b.
func listedWithin(a, b node, key string) bool {
	values, limit := a.values(), number(b.get(key))
	return len(values) > 0 && limit != nil && !slices.ContainsFunc(values, func(v *dsl.Value) bool { return !keeps(v, key, limit) })
}

// keeps reports whether a value is known to keep a bound.
func keeps(v *dsl.Value, key string, limit *big.Rat) bool {
	if typeOf(v)&about(key) == 0 {
		return true
	}
	n := number(v)
	if v.Kind == dsl.ValueString {
		n = big.NewRat(int64(utf8.RuneCountInString(v.Text)), 1)
	}
	if n == nil {
		return false
	}
	switch key {
	case "minimum", "minLength":
		return n.Cmp(limit) >= 0
	case "exclusiveMinimum":
		return n.Cmp(limit) > 0
	case "maximum", "maxLength":
		return n.Cmp(limit) <= 0
	case "exclusiveMaximum":
		return n.Cmp(limit) < 0
	case "multipleOf":
		return limit.Sign() > 0 && new(big.Rat).Quo(n, limit).IsInt()
	}
	return false
}

// Holds reports whether a list has a value.
func Holds(list []*dsl.Value, v *dsl.Value) bool {
	return slices.ContainsFunc(list, func(other *dsl.Value) bool { return Equal(other, v) })
}

// Equal compares values as JSON Schema does: 1 and 1.0 are one value, and members have no order.
func Equal(a, b *dsl.Value) bool {
	if a.Kind != b.Kind || len(a.Items) != len(b.Items) || len(a.Members) != len(b.Members) {
		return false
	}
	switch a.Kind {
	case dsl.ValueBool:
		return a.Bool == b.Bool
	case dsl.ValueString:
		return a.Text == b.Text
	case dsl.ValueNumber:
		x, y := number(a), number(b)
		return a.Text == b.Text || x != nil && y != nil && x.Cmp(y) == 0
	}
	for i := range a.Items {
		if !Equal(a.Items[i], b.Items[i]) {
			return false
		}
	}
	for _, m := range a.Members {
		other := get(b, m.Name)
		if other == nil || !Equal(m.Value, other) {
			return false
		}
	}
	return true
}
