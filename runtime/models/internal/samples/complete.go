package samples

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Complete returns the schema of an object that has what JSON Schema 2020-12 has and Random does not: unions
// that no constant tells apart, intersections, conditions, what it says of names, and mixed lists. The same seed
// gives the same schema.
func Complete(seed uint64) Sample {
	c := &completer{maker: maker{r: rand.New(rand.NewPCG(seed, 18))}}
	props, required := node{}, []string{}
	for i := range 1 + c.r.IntN(3) {
		name := fmt.Sprintf("m%d", i)
		props[name] = c.any(1)
		if c.coin() {
			required = append(required, name)
		}
	}
	root := node{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": props, "required": required, "additionalProperties": false,
		"$defs": node{"Q": node{"$anchor": "q", "type": "string", "minLength": 1}, "P": node{"type": "object", "properties": node{"a": node{"type": "string"}}, "unevaluatedProperties": c.coin()}},
	}
	if c.r.IntN(8) == 0 {
		root["dependentRequired"] = node{"m0": []string{"m1"}}
	}
	text, err := json.Marshal(root)
	if err != nil {
		panic(err) // maps, lists and texts have a JSON form
	}
	return Sample{fmt.Sprintf("complete_%d", seed), text}
}

type completer struct{ maker }

// any returns the schema of any value.
func (c *completer) any(depth int) node {
	if depth >= maxDepth {
		return c.scalar()
	}
	return []func(int) node{c.listed, c.union, c.members, c.members, c.all, c.condition, c.list, c.list, c.refer, func(int) node { return c.scalar() }}[c.r.IntN(10)](depth)
}

// listed returns a list of values of several types.
func (c *completer) listed(int) node {
	one := []any{node{"a": 1}, []any{1, "a"}, json.Number("1.0"), 2, "a", true, nil}[c.r.IntN(7)]
	switch c.r.IntN(4) {
	case 0:
		return node{"const": one}
	case 1:
		return node{"type": "integer", "enum": []any{json.Number("1.0"), 2}}
	case 2:
		return node{"const": "a", "enum": []any{"a", "b"}}
	}
	return node{"enum": []any{one, "b", 4}}
}

// fields returns the schema of a closed object with some of three members.
func (c *completer) fields() node {
	props, required := node{}, []string{}
	for _, name := range []string{"a", "b", "c"} {
		if c.r.IntN(3) == 0 {
			continue
		}
		props[name] = []node{{"type": "string"}, {"type": "integer"}, {"type": []any{"string", "null"}}}[c.r.IntN(3)]
		if c.coin() {
			required = append(required, name)
		}
	}
	return node{"type": "object", "properties": props, "required": required, "additionalProperties": false}
}

// union returns a union that names, types or nothing tells apart.
func (c *completer) union(depth int) node {
	keyword := []string{"anyOf", "oneOf"}[c.r.IntN(2)]
	branches := []any{c.fields(), c.fields()}
	if c.coin() {
		branches = append(branches, c.any(depth+1))
	}
	n := node{keyword: branches}
	if c.r.IntN(4) == 0 {
		n["not"] = node{"required": []string{"a", "b"}}
	}
	return n
}

// members returns an object of which other keywords than properties say what its members are.
func (c *completer) members(depth int) node {
	n := c.fields()
	delete(n, "additionalProperties")
	switch c.r.IntN(8) {
	case 0:
		n["additionalProperties"] = c.any(depth + 1)
	case 1:
		n["patternProperties"] = node{"^x-": c.any(depth + 1)}
		n["additionalProperties"] = c.coin()
	case 2:
		n["unevaluatedProperties"] = false
	case 3:
		n["propertyNames"] = node{"maxLength": 1}
	case 4:
		n["dependentSchemas"] = node{"a": node{"required": []string{"b"}}}
	case 5:
		n["required"] = []string{"more"}
	case 6:
		n["properties"].(node)["c"] = false
	default:
		n["dependentRequired"], n["additionalProperties"] = node{"a": []string{"b"}}, false
	}
	return n
}

// all returns an intersection, which may have no merged form.
func (c *completer) all(depth int) node {
	if c.coin() {
		more := []node{{"pattern": "b"}, {"maxLength": 2}}[c.r.IntN(2)]
		return node{"allOf": []any{node{"type": "string", "pattern": "^[ab]+$"}, more}, "minLength": 1}
	}
	one, two := c.fields(), c.fields()
	if c.coin() {
		delete(one, "additionalProperties")
		delete(two, "additionalProperties")
	}
	if c.coin() {
		one["unevaluatedProperties"] = false
	}
	n := node{"allOf": []any{one, two}}
	if c.coin() {
		n["allOf"] = []any{one, two, c.any(depth + 1)}
	}
	if c.coin() {
		n["unevaluatedProperties"] = false
	}
	return n
}

// condition returns a schema that says more of some values.
func (c *completer) condition(depth int) node {
	n := []node{c.fields(), c.scalar(), {}}[c.r.IntN(3)]
	if c.coin() {
		n["not"] = c.any(depth + 1)
		return n
	}
	n["if"], n["then"] = node{"type": "object", "required": []string{"a"}}, node{"required": []string{"b"}}
	if c.coin() {
		n["else"] = node{"type": []string{"string", "object"}}
	}
	return n
}

// list returns an array, which may be a tuple that goes on.
func (c *completer) list(depth int) node {
	n := node{"type": "array"}
	if c.coin() {
		n["prefixItems"] = []any{c.any(depth + 1), c.any(depth + 1)}
		switch c.r.IntN(4) {
		case 0:
			n["items"] = c.any(depth + 1)
		case 1:
			n["unevaluatedItems"] = false
		case 2:
			n["items"] = false
		}
		if c.coin() {
			n["maxItems"] = 1 + c.r.IntN(3)
		}
		return n
	}
	n["items"] = c.any(depth + 1)
	switch c.r.IntN(3) {
	case 0:
		n["contains"], n["maxContains"] = c.scalar(), 1
	case 1:
		n["uniqueItems"] = true
	}
	return n
}

// refer returns a reference, alone or beside more.
func (c *completer) refer(int) node {
	n := node{"$ref": []string{"#/$defs/Q", "#q", "#/$defs/P"}[c.r.IntN(3)]}
	switch c.r.IntN(3) {
	case 0:
		n["maxLength"] = 2
	case 1:
		n["properties"] = node{"b": node{"type": "string"}}
	}
	return n
}
