package ir

import (
	"math/big"
	"reflect"
	"slices"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// This file finds schemas that no value fits. What it finds is so; it does not find all: a
// pattern and a length, or what if and not say, are not held against each other.

// A demand is what one place says of a value.
type demand struct {
	types wire.Types
	text  string // how a message names it
	pos   dsl.Pos
}

// A conflict is why no value fits: what two places say. An outright one is a schema that says so
// itself, as false does: nothing is wrong with that unless a value has to be there.
type conflict struct {
	pos         dsl.Pos
	here, there string // how a message names what the places say
	line        int    // of the other place
	hint        string
	outright    bool
}

// refuseNever reports schemas that no value fits, because of what two places say of it: of
// the whole value, and of its members and elements.
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
		switch n := c.conflict(all, known, 0); {
		case n == nil:
		case !n.outright || s.Composed && id == 1:
			c.b.errorf(n.pos, n.hint, "no value fits: %s here, and %s in line %d", n.here, n.there, n.line)
		}
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
	if n := c.conflict(c.together(1, map[int]bool{}, nil), first, 0); n != nil {
		c.b.nevers[c.out] = n
	}
}

// together lists the nodes that a value has to fit that fits one.
func (c *compiler) together(id int, seen map[int]bool, all []int) []int {
	if seen[id] || c.b.looked > maxLooked {
		return all
	}
	c.b.looked++
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

// maxNested bounds how deep branches and members are looked into, maxConflicts how often in a table, and
// maxLooked at how many nodes in all tables.
const (
	maxNested    = 12
	maxConflicts = 20_000
	maxLooked    = 1_000_000
)

// conflict returns why no value fits all the nodes, nil where that is not known.
func (c *compiler) conflict(nodes []int, known []demand, depth int) *conflict {
	c.conflicts++
	if c.b.looked++; depth > maxNested || c.conflicts > maxConflicts || c.b.looked > maxLooked || len(c.anchors) > 0 {
		return nil // what a dynamic reference leads to is not known
	}
	for _, id := range nodes {
		n, v := &c.out.Nodes[id-1], c.from[id]
		if n.Never {
			return &conflict{pos: v.Pos, here: "false", there: "false", line: v.Pos.Line, hint: "let a value fit", outright: true}
		}
		if n.Not > 0 && c.takesAll(n.Not) {
			at := get(v, "not")
			return &conflict{pos: at.Pos, here: "not", there: "any value", line: at.Pos.Line, hint: "let a value fit", outright: true}
		}
	}
	left, found := c.typesOf(nodes, known)
	for _, find := range []func() *conflict{
		func() *conflict { return c.bounds(nodes, left) },
		func() *conflict { return c.constants(nodes) },
		func() *conflict { return c.steps(nodes, left) },
		func() *conflict { return c.elements(nodes, left) },
		func() *conflict { return c.members(nodes, left, depth) },
		func() *conflict { return c.unions(nodes, known, depth) },
	} {
		if found == nil {
			found = find()
		}
	}
	return found
}

// takesAll reports whether a node says nothing.
func (c *compiler) takesAll(id int) bool {
	n := c.out.Nodes[id-1]
	n.Resource = 0
	return reflect.DeepEqual(n, wire.Node{})
}

const anyType = wire.TypeNull | wire.TypeBoolean | wire.TypeInteger | wire.TypeNumber | wire.TypeString | wire.TypeArray | wire.TypeObject

// typesOf returns the types that are left of all, or a type or constants of which an earlier
// place allows none.
func (c *compiler) typesOf(nodes []int, known []demand) (wire.Types, *conflict) {
	known = slices.Clone(known)
	for _, id := range nodes {
		n, v := &c.out.Nodes[id-1], c.from[id]
		if n.Types != 0 {
			known = append(known, demand{n.Types, n.Types.String(), get(v, "type").Pos})
		}
		if key, values := constantsOf(v); values != nil && n.Enum != nil {
			known = append(known, demand{typesOfValues(key, values), key, values.Pos})
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
			return anyType, &conflict{pos: d.pos, here: d.text, there: narrowed.text, line: narrowed.pos.Line, hint: "let one of them go"}
		}
		if left&^types != 0 {
			left, narrowed = left&types, d
		}
	}
	return left, nil
}

// constantsOf returns the constants of a schema with their keyword.
func constantsOf(v *dsl.Value) (key string, values *dsl.Value) {
	for _, key := range []string{"const", "enum"} {
		if values := get(v, key); values != nil {
			return key, values
		}
	}
	return "", nil
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

// bounds returns bounds of two places that leave no value of the only types there are.
func (c *compiler) bounds(nodes []int, types wire.Types) *conflict {
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
			return between(low, lowKey, high, highKey)
		}
	}
	return nil
}

// between is that nothing is between two bounds.
func between(low *dsl.Value, lowKey string, high *dsl.Value, highKey string) *conflict {
	return &conflict{pos: low.Pos, here: lowKey + " " + low.Text, there: highKey + " " + high.Text, line: high.Pos.Line, hint: "widen one of them"}
}

// constants holds constants against everything that is said of the value: there are few of them.
func (c *compiler) constants(nodes []int) *conflict {
	for _, id := range nodes {
		key, values := constantsOf(c.from[id])
		if values == nil || c.out.Nodes[id-1].Enum == nil || len(c.out.Nodes[id-1].Enum) > 100 {
			continue
		}
		var why *conflict
		for _, text := range c.out.Nodes[id-1].Enum {
			fits := true
			for _, other := range nodes {
				if at, keyword := c.out.Refusal(other, []byte(text)); at > 0 {
					fits = false
					if why == nil {
						why = c.refusedBy(at, keyword, key, values)
					}
					break
				}
			}
			if fits {
				why = nil
				break
			}
		}
		if why != nil {
			return why
		}
	}
	return nil
}

// refusedBy is that a keyword refuses the constants that stand elsewhere.
func (c *compiler) refusedBy(id int, keyword, constants string, values *dsl.Value) *conflict {
	at := c.from[id]
	if v := get(at, keyword); v != nil {
		at = v
	}
	return &conflict{pos: values.Pos, here: constants, there: keyword, line: at.Pos.Line, hint: "let one of them go"}
}

// steps returns bounds between which no multiple of a number is, and no integer.
func (c *compiler) steps(nodes []int, types wire.Types) *conflict {
	if types&^(wire.TypeNumber|wire.TypeInteger) != 0 {
		return nil
	}
	low, lowKey := c.bound(nodes, []string{"minimum", "exclusiveMinimum"}, 1)
	high, highKey := c.bound(nodes, []string{"maximum", "exclusiveMaximum"}, -1)
	if low == nil || high == nil {
		return nil
	}
	var units []*big.Rat
	if types&wire.TypeNumber == 0 {
		units = append(units, big.NewRat(1, 1))
	}
	for _, id := range nodes {
		m := get(c.from[id], "multipleOf")
		if m == nil || decimalOf(m).Sign() <= 0 {
			continue
		}
		unit := decimalOf(m)
		if types&wire.TypeNumber == 0 { // of p/q in lowest terms the integers among the multiples are those of p
			unit = new(big.Rat).SetInt(unit.Num())
		}
		units = append(units, unit)
	}
	for _, unit := range units {
		if noMultiple(unit, decimalOf(low), decimalOf(high), lowKey == "exclusiveMinimum", highKey == "exclusiveMaximum") {
			return between(low, lowKey, high, highKey)
		}
	}
	return nil
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
