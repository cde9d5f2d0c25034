package ir_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/internal/ir"
	"github.com/ambit-tools/ambit/internal/battery"
)

// A maker makes schemas whose parts are likely to contradict each other, and values near them.
type maker struct{ *rand.Rand }

func (m maker) number() any {
	return pick(m.Rand, []any{0, 1, 2, 3, 5, 1.5, 2.5})
}

func (m maker) value(depth int) any {
	switch m.IntN(8) {
	case 0:
		return nil
	case 1:
		return m.IntN(2) == 0
	case 2, 3:
		return m.number()
	case 4, 5:
		return pick(m.Rand, []string{"", "a", "b", "ab", "abc"})
	}
	if depth == 0 {
		return m.number()
	}
	if m.IntN(2) == 0 {
		list := []any{}
		for range m.IntN(4) {
			list = append(list, m.value(depth-1))
		}
		return list
	}
	object := map[string]any{}
	for range m.IntN(3) {
		object[pick(m.Rand, []string{"a", "b", "c"})] = m.value(depth - 1)
	}
	return object
}

func (m maker) schema(depth int) any {
	if depth == 0 || m.IntN(12) == 0 {
		return pick(m.Rand, []any{true, false, map[string]any{"type": "integer"}, map[string]any{"const": m.number()}, map[string]any{}})
	}
	s := map[string]any{}
	several := func() (all []any) {
		for range 1 + m.IntN(3) {
			all = append(all, m.schema(depth-1))
		}
		return all
	}
	for range 1 + m.IntN(4) {
		switch m.IntN(16) {
		case 0, 1:
			s["type"] = pick(m.Rand, []any{"integer", "number", "string", "array", "object", []any{"integer", "null"}, []any{"string", "array"}})
		case 2:
			s["const"] = m.value(1)
		case 3:
			s["enum"] = []any{m.value(1), m.number()}
		case 4:
			s[pick(m.Rand, []string{"minimum", "exclusiveMinimum"})] = m.number()
		case 5:
			s[pick(m.Rand, []string{"maximum", "exclusiveMaximum"})] = m.number()
		case 6:
			s["multipleOf"] = pick(m.Rand, []any{2, 3, 0.5, 1.5})
		case 7:
			s[pick(m.Rand, []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"})] = m.IntN(4)
		case 8:
			s[pick(m.Rand, []string{"items", "not", "contains"})] = m.schema(depth - 1)
		case 9:
			s[pick(m.Rand, []string{"minContains", "maxContains"})] = m.IntN(4)
		case 10:
			s["required"] = []any{pick(m.Rand, []string{"a", "b"})}
		case 11:
			s["properties"] = map[string]any{pick(m.Rand, []string{"a", "b"}): m.schema(depth - 1)}
		case 12:
			s["additionalProperties"] = m.schema(depth - 1)
		default:
			s[pick(m.Rand, []string{"allOf", "anyOf", "oneOf"})] = several()
		}
	}
	return s
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// TestNothingFitsWhatIsRefused: a schema that no value is said to fit has none by another validator.
func TestNothingFitsWhatIsRefused(t *testing.T) {
	none := 0
	for seed := range battery.Count(t, 100, 2_000) {
		m := maker{rand.New(rand.NewPCG(uint64(seed), 32))}
		schema := map[string]any{"description": "Any.", "allOf": []any{m.schema(3), m.schema(2), map[string]any{"title": "Checked."}}}
		text, err := json.Marshal(schema)
		require.NoError(t, err)
		f, err := dsl.Parse("never.yaml", fmt.Appendf(nil, "ambit: v1\npackage: never\ntypes: {X: %s}\ntools:\n  try: {version: 1.0.0, description: T., effect: read, "+
			"input: {properties: {x: {$ref: \"#/types/X\"}}}, output: {}}\n", text), dsl.WithPatterns(ir.PatternFault))
		if err != nil {
			continue // bounds of one place
		}
		if !ir.NoValue(f) {
			continue
		}
		none++
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		require.NoError(t, err)
		c := jsonschema.NewCompiler()
		require.NoError(t, c.AddResource("https://never.test/x.json", doc))
		other, err := c.Compile("https://never.test/x.json")
		require.NoError(t, err, string(text))
		for range 1_000 {
			value, err := json.Marshal(m.value(2))
			require.NoError(t, err)
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
			require.NoError(t, err)
			assert.Error(t, other.Validate(v), "%s fits %s", value, text)
		}
	}
	t.Logf("no value fits %d schemas", none)
	assert.Greater(t, none, 9)
}

// TestNoValue: of two schemas that differ in one place no value fits one, and one fits the other.
func TestNoValue(t *testing.T) {
	for none, some := range map[string]string{
		`{"type":"integer","minimum":1.2,"maximum":1.8}`:                                         `{"type":"integer","minimum":1.2,"maximum":2}`,
		`{"type":"number","multipleOf":1.5,"exclusiveMinimum":1.5,"exclusiveMaximum":3}`:         `{"type":"number","multipleOf":1.5,"exclusiveMinimum":1.5,"maximum":3}`,
		`{"type":"object","required":["a"],"properties":{"a":false}}`:                            `{"type":["object","null"],"required":["a"],"properties":{"a":false}}`,
		`{"type":"object","required":["a"],"additionalProperties":false}`:                        `{"type":"object","required":["a"],"additionalProperties":false,"patternProperties":{"^a":{}}}`,
		`{"enum":[1,2],"minimum":3}`:                                                             `{"enum":[1,2],"minimum":2}`,
		`{"enum":[1,2],"not":{"type":"integer"}}`:                                                `{"enum":[1,2],"not":{"const":1}}`,
		`{"anyOf":[{"const":1},{"const":2}],"type":"string"}`:                                    `{"anyOf":[{"const":1},{"const":"a"}],"type":"string"}`,
		`{"oneOf":[{"minLength":1},{"minLength":1},{"maxLength":2},{"maxLength":2}]}`:            `{"oneOf":[{"minLength":1},{"minLength":1},{"maxLength":2}]}`,
		`{"type":"array","contains":{"type":"string"},"minContains":3,"allOf":[{"maxItems":2}]}`: `{"type":"array","contains":{"type":"string"},"minContains":3,"allOf":[{"maxItems":3}]}`,
		`{"type":"array","contains":false}`:                                                      `{"type":"array","contains":false,"minContains":0}`,
		`{"type":"array","prefixItems":[{}],"items":false,"allOf":[{"minItems":2}]}`:             `{"type":"array","prefixItems":[{},{}],"items":false,"allOf":[{"minItems":2}]}`,
		`{"not":{}}`: `{"not":{"type":"object"}}`,
	} {
		for text, want := range map[string]bool{none: true, some: false} {
			f, err := dsl.Parse("never.yaml", fmt.Appendf(nil, "ambit: v1\npackage: never\ntypes: {X: {allOf: [{title: Checked.}, %s]}}\ntools:\n  try: {version: 1.0.0, description: T., effect: read, "+
				"input: {properties: {x: {$ref: \"#/types/X\", description: X.}}}, output: {}}\n", text))
			require.NoError(t, err, text)
			assert.Equal(t, want, ir.NoValue(f), text)
		}
	}
}
