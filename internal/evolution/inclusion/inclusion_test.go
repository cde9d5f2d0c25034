package inclusion_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/evolution/inclusion"
)

const frame = `ambit: v1
package: shop
types:
  Word: {type: string, maxLength: 5, description: W.}
  Loop: {description: L., anyOf: [{type: string}, {type: array, items: {$ref: "#/types/Loop"}}]}
tools:
  buy: {version: 1.0.0, description: Buy., input: {type: object, properties: {v: %s}}, output: {type: object, properties: {}}}
`

func schema(t *testing.T, text string) (*inclusion.Side, *dsl.Schema) {
	t.Helper()
	f, err := dsl.Parse("tools.yaml", fmt.Appendf(nil, frame, text))
	require.NoError(t, err, text)
	return inclusion.Of(f), f.Tools[0].Input.Properties[0].Schema
}

// TestIncluded: the narrower schema is part of the wider one, and never the other way round.
func TestIncluded(t *testing.T) {
	for _, c := range []struct{ narrow, wide string }{
		{`{description: D., type: integer, enum: [1, 2, 4]}`, `{description: D., type: integer, minimum: 1, maximum: 4}`},
		{`{description: D., enum: [2, 4, äb]}`, `{description: D., multipleOf: 2, exclusiveMinimum: 1, exclusiveMaximum: 5, minLength: 2, maxLength: 2}`},
		{`{description: D., type: string}`, `{description: D.}`},
		{`{description: D., const: 1.0}`, `{description: D., enum: [a, 1, [2]]}`},
		{`{description: D., const: {a: 1, b: [x]}}`, `{description: D., enum: [{b: [x], a: 1}, 2]}`},
		{`{description: D., type: [string, integer]}`, `{description: D., type: [string, number]}`},
		{`{description: D., type: string}`, `{description: D., anyOf: [{type: string}, {type: string, maxLength: 3}, {type: number}]}`},
		{`{description: D., anyOf: [{const: a}, {type: integer}]}`, `{description: D., type: [string, integer, "null"]}`},
		{`{description: D., allOf: [{type: string}, {minLength: 2}]}`, `{description: D., minLength: 1}`},
		{`{description: D., not: {type: [string, number]}}`, `{description: D., not: {type: string}}`},
		{`{description: D., type: boolean}`, `{description: D., not: {type: string}}`},
		{`{description: D., oneOf: [{type: string}]}`, `{description: D., oneOf: [{type: string}, {type: array}]}`},
		{`{description: D., exclusiveMinimum: 3, type: [number, string]}`, `{description: D., minimum: 3, type: [number, string]}`},
		{`{description: D., exclusiveMaximum: 3, type: [number, string]}`, `{description: D., maximum: 3, type: [number, string]}`},
		{`{description: D., type: [number, string], multipleOf: 0.3}`, `{description: D., type: [number, string], multipleOf: 0.1}`},
		{`{description: D., if: {type: string}, then: {maxLength: 1}}`, `{description: D., if: {type: string}, then: {maxLength: 2}}`},
		{`{description: D., patternProperties: {"^a": {type: integer}}}`, `{description: D., patternProperties: {"^a": {type: number}}}`},
		{`{description: D., propertyNames: {maxLength: 2}}`, `{description: D., propertyNames: {maxLength: 3}}`},
		{`{description: D., dependentRequired: {a: [b, c]}}`, `{description: D., dependentRequired: {a: [b]}}`},
		{`{description: D., required: [b, a], minProperties: 0}`, `{description: D., dependentRequired: {c: [b]}}`},
		{`{description: D., dependentSchemas: {a: {required: [b]}}}`, `{description: D., dependentSchemas: {a: {}}}`},
		{`{description: D., contains: {type: integer}, minContains: 2}`, `{description: D., contains: {type: number}}`},
		{`{description: D., contains: {type: number}, maxContains: 2, minContains: 0}`, `{description: D., contains: {type: integer}, maxContains: 2, minContains: 0}`},
		{`{description: D., type: array, prefixItems: [{type: integer}], items: {type: string}}`, `{description: D., type: array, prefixItems: [{type: number}], items: {type: string}}`},
		{`{description: D., patternProperties: {"^x": {}}, properties: {a: {type: string}}, additionalProperties: false}`, `{description: D., patternProperties: {"^x": {}}, properties: {a: {}}, additionalProperties: {type: boolean}}`},
		{`{description: D., properties: {a: {}}, unevaluatedProperties: {type: string}, patternProperties: {x: {}}}`, `{description: D., properties: {a: {}}, unevaluatedProperties: {type: [string, "null"]}, patternProperties: {x: {}}}`},
		{`{description: D., anyOf: [{$ref: "#/properties/v/%61nyOf/1"}, {type: string, maxLength: 3}]}`, `{description: D., anyOf: [{type: string}, {type: number}]}`},
		{`{description: D., $ref: "#/types/Word", minLength: 1}`, `{description: D., $ref: "#/types/Word"}`},
		{`{description: D., $ref: "#/types/Word", minLength: 1}`, `{description: D., type: [string, integer], maxLength: 6}`},
		{`{description: D., $ref: "#/types/Loop"}`, `{description: D., type: [string, array]}`},
	} {
		t.Run(c.narrow+c.wide, func(t *testing.T) {
			of, narrow := schema(t, c.narrow)
			other, wide := schema(t, c.wide)
			ok, why := of.Included(narrow, other, wide)
			proved := ok
			back, keyword := other.Included(wide, of, narrow)
			assert.False(t, back)
			assert.NotEmpty(t, keyword)
			again, otherWide := schema(t, c.wide)
			ok, _ = other.Included(wide, again, otherWide)
			assert.True(t, ok, "of itself")
			assert.True(t, proved, why)
		})
	}
}

// TestNotIncluded: each would be said to be included by a rule that looks at too little.
func TestNotIncluded(t *testing.T) {
	for _, c := range []struct{ was, now string }{
		{`{description: D., enum: [1, 2, 4]}`, `{description: D., maximum: 3}`},
		{`{description: D., enum: [1, 2, 4]}`, `{description: D., exclusiveMinimum: 1}`},
		{`{description: D., enum: [a, 1]}`, `{description: D., minLength: 2}`},
		{`{description: D., oneOf: [{type: string}]}`, `{description: D., oneOf: [{type: string}, {maxLength: 3}]}`},
		{`{description: D., not: {type: string}}`, `{description: D., not: {type: [string, number]}}`},
		{`{description: D., minimum: 3, type: [number, string]}`, `{description: D., exclusiveMinimum: 3, type: [number, string]}`},
		{`{description: D., contains: {type: integer}, maxContains: 2, minContains: 0}`, `{description: D., contains: {type: number}, maxContains: 2, minContains: 0}`},
		{`{description: D., type: array, prefixItems: [{type: number}], items: {type: string}}`, `{description: D., type: array, items: {type: string}, contains: {}, minContains: 0}`},
		{`{description: D., properties: {a: {}}, additionalProperties: false, patternProperties: {x: {}}}`, `{description: D., additionalProperties: false, patternProperties: {x: {}}}`},
		{`{description: D., properties: {a: {}}, unevaluatedProperties: false, patternProperties: {x: {}}}`, `{description: D., unevaluatedProperties: false, patternProperties: {x: {}}}`},
		{`{description: D., $ref: "#/types/Loop"}`, `{description: D., anyOf: [{type: string}, {type: array, items: {type: string}}]}`},
	} {
		t.Run(c.was, func(t *testing.T) {
			of, was := schema(t, c.was)
			other, now := schema(t, c.now)
			ok, _ := of.Included(was, other, now)
			assert.False(t, ok)
		})
	}
}
