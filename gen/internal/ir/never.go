package ir

import (
	"math/big"
	"strconv"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A demand is what one place says of a value.
type demand struct {
	types wire.Types
	text  string // how a message names it
	pos   dsl.Pos
}

// refuseNever reports schemas that no value fits, because of what two places say of it: of
// the whole value, and of its members and elements. A schema that is false says so itself.
func (c *compiler) refuseNever(s *dsl.Schema) {
	var first []demand
	if s.Composed {
		first = []demand{{wire.TypeObject, "object", s.Pos}}
	}
	seen := map[int]bool{}
	var visit func(id int, known []demand)
	visit = func(id int, known []demand) {
		if seen[id] {
			return
		}
		seen[id] = true
		all := c.together(id, map[int]bool{}, nil)
		types := c.refuseTypes(all, known)
		c.refuseBounds(all, types)
		for _, part := range all {
			n := &c.out.Nodes[part-1]
			for _, p := range n.Properties {
				visit(p.Node, nil)
			}
			for _, p := range n.Prefix {
				visit(p, nil)
			}
			if n.Rest > 0 {
				visit(n.Rest, nil)
			}
		}
	}
	visit(1, first)
}

// together lists the nodes that a value has to fit that fits one.
func (c *compiler) together(id int, seen map[int]bool, all []int) []int {
	if seen[id] {
		return all
	}
	seen[id] = true
	all = append(all, id)
	n := &c.out.Nodes[id-1]
	for _, part := range n.All {
		all = c.together(part, seen, all)
	}
	if n.Ref > 0 && n.Anchor == "" {
		all = c.together(n.Ref, seen, all)
	}
	return all
}

const anyType = wire.TypeNull | wire.TypeBoolean | wire.TypeInteger | wire.TypeNumber | wire.TypeString | wire.TypeArray | wire.TypeObject

// refuseTypes reports a type, or constants, of which an earlier place allows none. It
// returns the types that are left.
func (c *compiler) refuseTypes(nodes []int, known []demand) wire.Types {
	for _, id := range nodes {
		n, v := &c.out.Nodes[id-1], c.from[id]
		if n.Types != 0 {
			known = append(known, demand{n.Types, n.Types.String(), get(v, "type").Pos})
		}
		for _, key := range []string{"const", "enum"} {
			if values := get(v, key); values != nil && n.Enum != nil {
				known = append(known, demand{typesOfValues(key, values), key, values.Pos})
			}
		}
	}
	left := anyType
	var narrowed demand
	for _, d := range known {
		types := d.types
		if types&wire.TypeNumber != 0 {
			types |= wire.TypeInteger
		}
		if left&types == 0 {
			c.b.errorf(d.pos, "let one of them go", "no value fits: %s here, and %s in line %d", d.text, narrowed.text, narrowed.pos.Line)
			return anyType
		}
		if left&^types != 0 {
			left, narrowed = left&types, d
		}
	}
	return left
}

// typesOfValues are the types of constants; a number may be an integer.
func typesOfValues(key string, v *dsl.Value) wire.Types {
	all := []*dsl.Value{v}
	if key == "enum" {
		all = v.Items
	}
	var types wire.Types
	for _, value := range all {
		types |= map[dsl.ValueKind]wire.Types{
			dsl.ValueNull: wire.TypeNull, dsl.ValueBool: wire.TypeBoolean, dsl.ValueNumber: wire.TypeNumber, dsl.ValueString: wire.TypeString,
			dsl.ValueArray: wire.TypeArray, dsl.ValueObject: wire.TypeObject,
		}[value.Kind]
	}
	if len(all) == 0 {
		return anyType // the schema says itself that it has no values
	}
	return types
}

// boundPairs are the keywords that bound a type from below and from above.
var boundPairs = []struct {
	types     wire.Types
	low, high []string
	exclusive string // prefix of keywords whose bound is outside
}{
	{wire.TypeNumber | wire.TypeInteger, []string{"minimum", "exclusiveMinimum"}, []string{"maximum", "exclusiveMaximum"}, "exclusive"},
	{wire.TypeString, []string{"minLength"}, []string{"maxLength"}, ""},
	{wire.TypeArray, []string{"minItems"}, []string{"maxItems"}, ""},
	{wire.TypeObject, []string{"minProperties"}, []string{"maxProperties"}, ""},
}

// refuseBounds reports bounds of two places that leave no value of the only types there are.
func (c *compiler) refuseBounds(nodes []int, types wire.Types) {
	for _, pair := range boundPairs {
		if types&^pair.types != 0 {
			continue
		}
		low, lowKey := c.bound(nodes, pair.low, 1)
		high, highKey := c.bound(nodes, pair.high, -1)
		if low == nil || high == nil {
			continue
		}
		order := decimalOf(low).Cmp(decimalOf(high))
		outside := pair.exclusive != "" && (lowKey == "exclusiveMinimum" || highKey == "exclusiveMaximum")
		if order > 0 || order == 0 && outside {
			c.b.errorf(low.Pos, "widen one of them", "no value fits: %s %s here, and %s %s in line %s",
				lowKey, low.Text, highKey, high.Text, strconv.Itoa(high.Pos.Line))
		}
	}
}

// bound returns the narrowest of the bounds that nodes have, and its keyword: the greatest
// where sign is 1, the least where it is -1.
func (c *compiler) bound(nodes []int, keys []string, sign int) (v *dsl.Value, keyword string) {
	for _, id := range nodes {
		for _, key := range keys {
			if w := get(c.from[id], key); w != nil && (v == nil || decimalOf(w).Cmp(decimalOf(v)) == sign) {
				v, keyword = w, key
			}
		}
	}
	return v, keyword
}

// decimalOf is a number of a schema, zero where it has been refused.
func decimalOf(v *dsl.Value) *big.Rat {
	if d, err := parseDecimal(v.Text); err == nil {
		return d
	}
	return new(big.Rat)
}
