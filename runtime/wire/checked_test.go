package wire_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// member loads a tool whose input has one member, x, of a schema.
func member(t *testing.T, schema string) *dynamic.Tool {
	t.Helper()
	f, err := dsl.Parse("tools.yaml", []byte(`ambit: v1
package: checked
types:
  Short: {type: string, maxLength: 3}
  Hushed: {type: string, maxLength: 8, x-sensitive: true}
  Closed: {type: object, properties: {a: {type: integer, description: A.}}}
  Deep: {anyOf: [{type: integer}, {type: array, items: {$ref: "#"}}]}
  X: `+schema+`
tools:
  try:
    version: 1.0.0
    description: Try.
    effect: read
    input: {type: object, properties: {x: {$ref: "#/types/X", description: X.}}}
    output: {type: object, properties: {}}
`), dsl.WithPatterns(gen.PatternFault))
	require.NoError(t, err, schema)
	tools, err := dynamic.Load(f)
	require.NoError(t, err, schema)
	return tools[0]
}

// checks is a schema, a value on each line, and behind a value what is wrong with it.
var checks = []struct{ schema, values string }{
	{`{type: [string, integer], not: false}`, `
		"a"
		1.0
		1.5 => /x: type: want integer or string, have number
		null => /x: type: want integer or string, have null`},
	{`{type: "null"}`, `
		null
		0 => /x: type: want null, have number`},
	{`{const: {a: [1, "b", null]}}`, `
		{"a":[1.0,"b",null]}
		{"a":[1,"b"]} => /x: const: want {"a":[1,"b",null]}, have object`},
	{`{enum: [1, a, [x], false]}`, `
		1e0
		["x"]
		false
		0 => /x: enum: want one of 1, "a", ["x"], false, have 0
		null => /x: enum: want one of 1, "a", ["x"], false, have null`},
	{`{minimum: 1, exclusiveMaximum: 3, multipleOf: 0.01}`, `
		1
		2.99
		"any text"
		0.5 => /x: minimum: want at least 1, have 0.5
		3 => /x: exclusiveMaximum: want less than 3, have 3
		1.001 => /x: multipleOf: want a multiple of 0.01, have 1.001`},
	{`{maximum: 1, exclusiveMinimum: 0}`, `
		1
		0 => /x: exclusiveMinimum: want more than 0, have 0
		1.00000000000000001 => /x: maximum: want at most 1, have 1.00000000000000001`},
	{`{minLength: 2, maxLength: 3, pattern: "^é"}`, `
		"éé"
		7
		"é" => /x: minLength: want at least 2 characters, have 1
		"éééé" => /x: maxLength: want at most 3 characters, have 4
		"ab" => /x: pattern: want a match of ^é, have "ab"`},
	{`{anyOf: [{oneOf: [{type: object, properties: {type: {const: page}, page: {type: string}}, required: [type, page]},
  {type: object, properties: {type: {const: root}}, required: [type]}]}, {type: string}]}`, `
		{"type":"page","page":"a"}
		"a"
		{"page":"a"} => /x: anyOf: want a member "type" that is "page" (anyOf/0/oneOf/0, the nearest branch); or string; or a member "type" that is "root", have object
		{"type":"page","page":7} => /x: anyOf: want in "page" string (anyOf/0/oneOf/0, the nearest branch); or string; or in "type" the value "root", have object
		{} => /x: anyOf: want string; or a member "type" that is "page"; or a member "type" that is "root", have object
		7 => /x: anyOf: want object; or string, have 7`},
	{`{anyOf: [{properties: {kind: {const: ""}}}, {properties: {kind: {const: null}}}, {properties: {kind: {const: []}}}, {properties: {kind: {enum: [2, 3]}}}]}`, `
		{"kind":""}
		{"kind":1} => /x: anyOf: want in "kind" one of 2, 3; or in "kind" the value ""; or in "kind" the value []; or in "kind" the value null, have object`},
	{`{anyOf: [{items: {const: ""}, type: array}, {items: {const: null}, type: array}]}`, `
		[""]
		["a"] => /x: anyOf: want in an item the value ""; or in an item the value null, have array`},
	{`{oneOf: [{anyOf: [{anyOf: [{type: integer, minimum: 5}, {type: boolean}]}, {type: "null"}]}, {type: string, minLength: 3}]}`, `
		5
		"abc"
		3 => /x: oneOf: want at least 5 (oneOf/0/anyOf/0/anyOf/0, the nearest branch); or null; or string; or boolean, have 3
		"a" => /x: oneOf: want at least 3 characters (oneOf/1, the nearest branch); or null; or integer; or boolean, have "a"`},
	{`{format: date, anyOf: [{type: string}]}`, `
		"2026-11-23"
		"today" => /x: format: want date, have "today"`},
	{`{not: {type: string}}`, `
		1
		"a" => /x: not: want another value than the schema of not describes, have "a"`},
	{`false`, `
		1 => /x: not: want no value here, have 1`},
	{`{anyOf: [{type: string, minLength: 2}, {type: integer, minimum: 5}, {type: object, required: [k], not: {required: [z]}}]}`, `
		"ab"
		5
		{"k":null}
		"a" => /x: anyOf: want object; or integer; or at least 2 characters, have "a"
		{"j":1} => /x: anyOf: want string; or integer; or a member "k", have object`},
	{`{anyOf: [{const: 1}, {const: 22}, {const: 333}, {const: 4444}, {const: 55555}, {const: 666666}, {const: 1}]}`, `
		22
		0 => /x: anyOf: want 1; or 22; or 333; or 4444; or 55555; or 1 more, have 0`},
	{`{oneOf: [{type: object, properties: {a: {type: string}}, required: [a]}, {type: object, required: [b]}]}`, `
		{"a":"x"}
		{"b":1}
		{"a":1} => /x: oneOf: want a member "b"; or in "a" string, have object
		{"a":"x","b":1} => /x: oneOf: want a value of one of 2 schemas only, have a value of number 1 and of number 2`},
	{`{allOf: [{minimum: 2}, {maximum: 4}, {$ref: "#/types/Short"}]}`, `
		"abc"
		3 => /x: type: want string, have number
		"abcd" => /x: maxLength: want at most 3 characters, have 4`},
	{`{if: {type: string}, then: {minLength: 2}, else: {type: integer}}`, `
		"ab"
		1
		"a" => /x: minLength: want at least 2 characters, have 1
		true => /x: type: want integer, have boolean`},
	{`{patternProperties: {"^n": {type: integer}}, properties: {nx: {minimum: 3}}, additionalProperties: false}`, `
		{"n":1,"nx":3}
		[]
		{"nx":2} => /x/nx: minimum: want at least 3, have 2
		{"nx":"a"} => /x/nx: type: want integer, have string
		{"n":"a"} => /x/n: type: want integer, have string
		{"m":1} => /x/m: additionalProperties: want only "nx" and names that match ^n, have "m"`},
	{`{propertyNames: {maxLength: 2}, minProperties: 1, maxProperties: 2}`, `
		{"ab":1}
		{} => /x: minProperties: want at least 1 member, have 0
		{"a":1,"b":1,"c":1} => /x: maxProperties: want at most 2 members, have 3
		{"abc":1} => /x/abc: propertyNames: want a name that is at most 2 characters, have "abc"`},
	{`{dependentRequired: {a: [b]}, dependentSchemas: {c: {minProperties: 2}}, dependencies: {d: [e], f: {required: [g]}}}`, `
		{"a":1,"b":1}
		{"c":1,"x":1}
		{"a":1} => /x/b: dependentRequired: want a member "b" beside "a", have nothing
		{"c":1} => /x: minProperties: want at least 2 members, have 1
		{"d":1} => /x/e: dependentRequired: want a member "e" beside "d", have nothing
		{"f":1} => /x/g: required: want a member "g", have nothing`},
	{`{contains: {const: 1}, minContains: 2, maxContains: 3, minItems: 2, uniqueItems: false}`, `
		[1,0,1]
		[1,0] => /x: contains: want at least 2 items of the kind that contains describes, have 1
		[1,1,1,1] => /x: maxContains: want at most 3 items of the kind that contains describes, have 4`},
	{`{contains: {const: 1}}`, `
		[1]
		[] => /x: contains: want at least 1 item of the kind that contains describes, have 0`},
	{`{uniqueItems: true, maxItems: 3, items: {}}`, `
		[1,true,{"a":1}]
		[{"a":1,"b":2},{"b":2.0,"a":1}] => /x: uniqueItems: want no two equal items, have equal items 0 and 1
		[1,2,3,4] => /x: maxItems: want at most 3 items, have 4`},
	{`{prefixItems: [{type: string}, {type: integer}], items: {type: boolean}}`, `
		[]
		["a",1,true]
		[1] => /x/0: type: want string, have number
		["a",1,2] => /x/2: type: want boolean, have number`},
	{`{type: array, prefixItems: [{}], minItems: 0, items: false, maxItems: 1, anyOf: [{}]}`, `
		[1]
		[1,2] => /x: maxItems: want at most 1 item, have 2; /x/1: items: want no more than 1 item, have 2`},
	{`{allOf: [{properties: {a: {}}}], unevaluatedProperties: false}`, `
		{"a":1}
		{"b":1} => /x/b: unevaluatedProperties: want nothing that no other keyword describes, have "b"`},
	{`{anyOf: [{properties: {a: {const: 1}}, required: [a]}, {properties: {b: {}}, required: [b]}], unevaluatedProperties: {type: string}}`, `
		{"a":1,"b":2}
		{"a":2,"b":2} => /x/a: type: want string, have number`},
	{`{prefixItems: [{}], contains: {type: string}, unevaluatedItems: false}`, `
		[1,"a"]
		["a",2] => /x/1: unevaluatedItems: want nothing that no other keyword describes, have 2`},
	{`{$ref: "#/$defs/A", minLength: 2, $defs: {A: {type: string, maxLength: 3}}}`, `
		"ab"
		"a" => /x: minLength: want at least 2 characters, have 1
		"abcd" => /x: maxLength: want at most 3 characters, have 4`},
	{`{anyOf: [{$ref: "#/types/Closed"}, {$ref: "#/types/Deep"}]}`, `
		{"a":1}
		[1,[2]]
		{"b":1} => /x: anyOf: want in "b" only "a" (anyOf/0, the nearest branch); or array; or integer, have object`},
	{`{$id: "https://example.com/tree", $dynamicAnchor: node, type: object, properties: {next: {$dynamicRef: "#node"}, v: {type: integer}}}`, `
		{"next":{"next":{"v":1}}}
		{"next":{"v":"a"}} => /x/next/v: type: want integer, have string`},
	{`{$id: "https://example.com/strict", $dynamicAnchor: node, $ref: loose, unevaluatedProperties: false, $defs: {loose: {$id: loose, $dynamicAnchor: node, properties: {v: {}, all: {items: {$dynamicRef: "#node"}}}}}}`, `
		{"all":[{"v":1},{"all":[{"v":2}]}]}
		{"all":[{"w":1}]} => /x/all/0/w: unevaluatedProperties: want nothing that no other keyword describes, have "w"`},
	{`{anyOf: [{allOf: [{$ref: "#/$defs/A"}, false]}, {$ref: "#/$defs/A"}], unevaluatedProperties: false, $defs: {A: {properties: {a: {}}}}}`, `
		{"a":1}
		{"b":1} => /x/b: unevaluatedProperties: want nothing that no other keyword describes, have "b"`},
	{`{anyOf: [{$ref: "#/$defs/S"}, {allOf: [{$ref: "#/$defs/S"}]}], $defs: {S: {minLength: 2}}}`, `
		"ab"
		"a" => /x: anyOf: want at least 2 characters, have "a"`},
	{`{properties: {a: {enum: [1, 2]}, b: {enum: [2, 1]}}}`, `
		{"a":1,"b":2}
		{"a":1,"b":3} => /x/b: enum: want one of 2, 1, have 3`},
	{`{type: object, properties: {a: {type: integer, description: A.}, b: {type: string, description: B.}}, anyOf: [{required: [a]}, {required: [b]}]}`, `
		{"a":1}
		{} => /x: anyOf: want a member "a"; or a member "b", have object
		{"c":1} => /x/c: additionalProperties: want only "a", "b", have "c"`},
	{`{anyOf: [{not: {type: string}, if: {minimum: 3}, then: false}, {type: "null"}]}`, `
		2
		3 => /x: anyOf: want null; or no value here, have 3`},
	{`{type: object, properties: {a: {type: integer, description: A.}}, patternProperties: {"^x-": {type: string}}}`, `
		{"a":1,"x-b":"c"}`},
}

// TestChecked holds values against schemas for which Go has no type, and writes those that
// fit again.
// SEMANTICS 7.6.1
func TestChecked(t *testing.T) { checked(t) }

// TestCheckedFromMemory is the same with a checker that remembers from the start.
func TestCheckedFromMemory(t *testing.T) {
	wire.Remember(t)
	checked(t)
}

func checked(t *testing.T) {
	t.Helper()
	for _, c := range checks {
		tool := member(t, c.schema)
		for line := range strings.Lines(strings.TrimSpace(c.values)) {
			value, want, bad := strings.Cut(strings.TrimSpace(line), " => ")
			v, violations := tool.Input.Decode([]byte(`{"x":`+value+`}`), wire.Limits{})
			var have []string
			for _, one := range violations {
				have = append(have, one.String())
			}
			assert.Equal(t, want, strings.Join(have, "; "), "%s: %s", c.schema, value)
			if !bad && len(have) == 0 {
				_, again := wire.Append(nil, v)
				assert.Empty(t, again, "%s: %s", c.schema, value)
			}
		}
	}
}

// TestCheckedSecrets: what is wrong with a sensitive value shows nothing of it, whichever part
// of a schema says that it is sensitive, and its walk is marked.
// SEMANTICS 7.6.3
func TestCheckedSecrets(t *testing.T) {
	for schema, values := range map[string][2]string{
		`{anyOf: [{type: string, minLength: 9, x-sensitive: true}, {type: "null"}]}`:                                                             {`"SECRET"`, `"SECRETSECRET"`},
		`{anyOf: [{$ref: "#/$defs/S"}, {type: "null"}], $defs: {S: {type: string, minLength: 9, x-sensitive: true}}}`:                            {`"SECRET"`, `"SECRETSECRET"`},
		`{not: {$ref: "#/types/X/$defs/S"}, type: string, $defs: {S: {maxLength: 8, x-sensitive: true}}}`:                                        {`"SECRET"`, `"SECRETSECRET"`},
		`{not: {$ref: "#/types/Hushed"}, type: string}`:                                                                                          {`"SECRET"`, `"SECRETSECRET"`},
		`{type: object, properties: {a: {type: string, x-sensitive: true, description: A.}}, not: {properties: {a: {pattern: "^SECRET$"}}}}`:     {`{"a":"SECRET"}`, `{"a":"SECRETSECRET"}`},
		`{type: object, properties: {a: {type: string, x-sensitive: true, description: A.}}, anyOf: [{properties: {a: {const: SECRETSECRET}}}]}`: {`{"a":"SECRET"}`, `{"a":"SECRETSECRET"}`},
	} {
		tool := member(t, schema)
		_, bad := tool.Input.Decode([]byte(`{"x":`+values[0]+`}`), wire.Limits{})
		require.NotEmpty(t, bad, schema)
		for _, one := range bad {
			assert.Equal(t, "/x", one.Pointer, schema)
			assert.Equal(t, "(sensitive)", one.Actual, schema)
		}
		v, bad := tool.Input.Decode([]byte(`{"x":`+values[1]+`}`), wire.Limits{})
		require.Empty(t, bad, schema)
		var seen secrets
		v.Walk(&seen)
		assert.Equal(t, secrets(1), seen, schema)
	}
}

// secrets counts the sensitive texts of a walk, and the others ten times.
type secrets int

func (s *secrets) Visit(t wire.Token) {
	switch {
	case t.Kind == wire.KindString && t.Sensitive:
		*s++
	case t.Kind == wire.KindString:
		*s += 10
	}
}

// TestFewOfManyMembers: a node that describes few of many members finds them, in their
// order, and what is left over is the others; also when names are looked up.
func TestFewOfManyMembers(t *testing.T) {
	tool := member(t, `{properties: {m30: {type: integer}, m20: {type: integer}}, required: [m30], unevaluatedProperties: {type: string}}`)
	value := func(special map[string]string) []byte {
		var all []string
		for i := range 60 {
			name := fmt.Sprintf("m%d", i)
			all = append(all, fmt.Sprintf("%q:%s", name, cmp.Or(special[name], `"a"`)))
		}
		return []byte(`{"x":{` + strings.Join(all, ",") + `}}`)
	}
	for range 2 {
		for _, c := range []struct {
			special map[string]string
			want    []string
		}{
			{map[string]string{"m20": "1", "m30": "2"}, nil},
			{map[string]string{"m20": "1"}, []string{"/x/m30: type: want integer, have string"}},
			{nil, []string{"/x/m20: type: want integer, have string", "/x/m30: type: want integer, have string"}},
			{map[string]string{"m20": "1", "m30": "2", "m0": "3"}, []string{"/x/m0: type: want string, have number"}},
		} {
			_, bad := tool.Input.Decode(value(c.special), wire.Limits{})
			var got []string
			for _, v := range bad {
				got = append(got, v.String())
			}
			assert.Equal(t, c.want, got)
		}
		wire.Remember(t)
	}
}
