package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

func TestParse(t *testing.T) {
	for _, name := range dialect.Names() {
		d, err := dialect.Parse(name)
		require.NoError(t, err)
		assert.Equal(t, name, d.String())
	}
	_, err := dialect.Parse("openai-strict")
	require.EqualError(t, err, `"openai-strict" is no dialect: there are json_schema, openai, openai_strict, anthropic, anthropic_strict, gemini`)
	_, err = dialect.Rewrite([]byte(`{}`), 99)
	require.Error(t, err)
}

func TestHostileSchemas(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":   `{`,
		"a list":    `[]`,
		"a boolean": `true`,
		"more":      `{} {}`,
		"twice":     `{"type":"object","type":"string"}`,
		"deep":      strings.Repeat(`{"items":`, 200) + `{}` + strings.Repeat(`}`, 200),
		"long":      `{"description":"` + strings.Repeat("x", 5<<20) + `"}`,
	} {
		_, err := dialect.Rewrite([]byte(text), dialect.OpenAIStrict)
		assert.Error(t, err, name)
	}
}

// rewrite returns the schema in a dialect, and its notes as lines.
func rewrite(t *testing.T, schema string, d dialect.Dialect) (*dialect.Schema, []string) {
	t.Helper()
	s, err := dialect.Rewrite([]byte(schema), d)
	require.NoError(t, err)
	require.True(t, json.Valid(s.JSON), string(s.JSON))
	var notes []string
	for _, n := range s.Notes {
		notes = append(notes, n.String())
	}
	return s, notes
}

const (
	closed = `"additionalProperties":false`
	head   = `{"type":"object","properties":{"a":`
	tail   = `},"required":["a"],` + closed + `}`
)

// members are schemas of a member, and what the dialects make of them.
var members = []struct {
	name, schema, openai, anthropic, gemini string
	notes                                   int // of anthropic
}{
	{
		name: "constraints", schema: `{"type":"string","maxLength":3,"pattern":"^a","x-sensitive":true}`,
		openai: `{"type":"string","maxLength":3,"pattern":"^a"}`, anthropic: `{"type":"string","description":"{maxLength: 3, pattern: \"^a\"}"}`,
		gemini: `{"type":"string","description":"{maxLength: 3, pattern: \"^a\"}"}`, notes: 2,
	},
	{
		name: "lookahead", schema: `{"type":"string","description":"A name.","pattern":"^(?!a)"}`,
		openai:    `{"description":"A name.\n\n{pattern: \"^(?!a)\"}","type":"string"}`,
		anthropic: `{"description":"A name.\n\n{pattern: \"^(?!a)\"}","type":"string"}`,
		gemini:    `{"description":"A name.\n\n{pattern: \"^(?!a)\"}","type":"string"}`, notes: 1,
	},
	{
		name: "null", schema: `{"type":["integer","null"],"minimum":1}`,
		openai: `{"type":["integer","null"],"minimum":1}`, anthropic: `{"anyOf":[{"type":"integer","description":"{minimum: 1}"},{"type":"null"}]}`,
		gemini: `{"type":["integer","null"],"minimum":1}`, notes: 1,
	},
	{
		name: "values", schema: `{"type":["string","null"],"enum":["x","y",null]}`,
		openai:    `{"anyOf":[{"type":"string","enum":["x","y"]},{"type":"null"}]}`,
		anthropic: `{"anyOf":[{"enum":["x","y"]},{"type":"null"}]}`,
		gemini:    `{"anyOf":[{"type":"string","enum":["x","y"]},{"type":"null"}]}`,
	},
	{
		name: "const", schema: `{"const":"x"}`,
		openai: `{"type":"string","const":"x"}`, anthropic: `{"const":"x"}`, gemini: `{"type":"string","enum":["x"]}`,
	},
	{
		name: "tuple", schema: `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"items":false,"minItems":2}`,
		openai:    `{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]},"maxItems":2,"minItems":2,"description":"At most 2 elements, in this order: 1. string 2. integer"}`,
		anthropic: `{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]},"description":"{minItems: 2}\n\nAt most 2 elements, in this order: 1. string 2. integer"}`,
		gemini:    `{"type":"array","prefixItems":[{"type":"string"},{"type":"integer"}],"minItems":2,"maxItems":2}`, notes: 3,
	},
	{
		name: "several types", schema: `{"type":["string","integer"],"minimum":1,"maxLength":2}`,
		openai:    `{"anyOf":[{"type":"integer","minimum":1},{"type":"string","maxLength":2}]}`,
		anthropic: `{"anyOf":[{"type":"integer","description":"{minimum: 1}"},{"type":"string","description":"{maxLength: 2}"}]}`,
		gemini:    `{"anyOf":[{"type":"integer","minimum":1},{"type":"string","description":"{maxLength: 2}"}]}`, notes: 2,
	},
	{
		name: "intersection", schema: `{"allOf":[{"type":"object","properties":{"b":{"type":"string"}},"required":["b"]},{"properties":{"c":{"type":"boolean"}},"required":["c"]}]}`,
		openai:    `{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"boolean"}},"required":["b","c"],` + closed + `}`,
		anthropic: `{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"boolean"}},"required":["b","c"],` + closed + `}`,
		gemini:    `{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"boolean"}},"required":["b","c"]}`, notes: 1,
	},
	{
		name: "beside a union", schema: `{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"}},"anyOf":[{"required":["b"]},{"required":["b","c"]}]}`,
		openai: `{"anyOf":[{"type":"object","properties":{"b":{"type":"string"},"c":{"type":["string","null"]}},"required":["b","c"],` + closed + `},` +
			`{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"}},"required":["b","c"],` + closed + `}]}`,
		anthropic: `{"anyOf":[{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"}},"required":["b"],` + closed + `},` +
			`{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"}},"required":["b","c"],` + closed + `}]}`,
		gemini: `{"anyOf":[{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"}},"required":["b"]},` +
			`{"type":"object","properties":{"b":{"type":"string"},"c":{"type":"string"}},"required":["b","c"]}]}`, notes: 2,
	},
}

func TestMembers(t *testing.T) {
	for _, c := range members {
		t.Run(c.name, func(t *testing.T) {
			openai, _ := rewrite(t, head+c.schema+tail, dialect.OpenAIStrict)
			assert.JSONEq(t, head+c.openai+tail, string(openai.JSON))
			anthropic, notes := rewrite(t, head+c.schema+tail, dialect.AnthropicStrict)
			assert.JSONEq(t, head+c.anthropic+tail, string(anthropic.JSON))
			assert.Len(t, notes, c.notes)
			gemini, _ := rewrite(t, head+c.schema+tail, dialect.Gemini)
			assert.JSONEq(t, head+c.gemini+tail, string(gemini.JSON))
			assert.True(t, openai.Strict && anthropic.Strict && !gemini.Strict)
		})
	}
}

func TestLeftOutMembers(t *testing.T) {
	s, notes := rewrite(t, `{"$schema":"x","type":"object","properties":{
		"z":{"type":"string","title":"Z","description":"Last letter.","default":"q"},
		"e":{"enum":["x"]},
		"o":{"type":"object","properties":{"in":{"type":"integer"}},"additionalProperties":false},
		"r":{"$ref":"#/$defs/R"},"d":{"$ref":"#/$defs/R","description":"Other."},
		"u":{"oneOf":[{"type":"string"},{"type":"integer"}]},
		"n":{"type":["boolean","null"]},
		"f":{"type":"number"}},
		"required":["f"],"additionalProperties":false,
		"$defs":{"R":{"type":"string","maxLength":4,"description":"A text."}}}`, dialect.OpenAIStrict)
	assert.Equal(t, `{"type":"object","properties":{`+
		`"z":{"title":"Z","description":"Last letter.\n\n{default: \"q\"}","type":["string","null"]},`+
		`"e":{"anyOf":[{"type":"string","enum":["x"]},{"type":"null"}]},`+
		`"o":{"anyOf":[{"type":"object","properties":{"in":{"type":["integer","null"]}},"required":["in"],"additionalProperties":false},{"type":"null"}]},`+
		`"r":{"anyOf":[{"$ref":"#/$defs/R"},{"type":"null"}]},"d":{"description":"Other.","type":["string","null"],"maxLength":4},`+
		`"u":{"anyOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]},`+
		`"n":{"type":["boolean","null"]},"f":{"type":"number"}},`+
		`"required":["z","e","o","r","d","u","n","f"],"additionalProperties":false,`+
		`"$defs":{"R":{"description":"A text.","type":"string","maxLength":4}}}`, string(s.JSON))
	assert.Equal(t, []string{"/properties/z", "/properties/e", "/properties/o/properties/in", "/properties/o", "/properties/r", "/properties/d", "/properties/u"}, s.Nullable)
	assert.Equal(t, []string{
		"/properties/z: default: described: the description says it, the schema does not",
		"/properties/n: required: changed: the member cannot be left out: null is null, as the schema says",
	}, notes)
}

func TestStrictIsOff(t *testing.T) {
	both := []dialect.Dialect{dialect.OpenAIStrict, dialect.AnthropicStrict}
	for why, c := range map[string]struct {
		schema string
		in     []dialect.Dialect
	}{
		"/properties/a: additionalProperties: refused: the object takes members that are not declared": {
			head + `{"type":"object","additionalProperties":{"type":"string"}}` + tail, both,
		},
		"/properties/a: properties: refused: the object declares no member and is not closed: any object is allowed": {head + `{"type":"object"}` + tail, both},
		"/properties/a: type: refused: any value is allowed here: say which":                                         {head + `{"description":"?"}` + tail, both},
		"/properties/a: true: refused: any value is allowed here: say which":                                         {head + `true` + tail, both},
		"/properties/a: items: refused: the elements of the array may be any value: say which":                       {head + `{"type":"array"}` + tail, both[:1]},
		"/properties/a: $ref: refused: it leads out of the schema, or nowhere":                                       {head + `{"$ref":"https://example.com/a"}` + tail, both},
		"/properties/a: allOf: refused: its branches cannot be merged into one schema ": {
			head + `{"allOf":[{"type":"object","properties":{"b":{"type":"string"}},"unevaluatedProperties":false},{"properties":{"c":{"type":"string"}},"required":["c"]}]}` + tail, both,
		},
		"/properties/b: $ref: refused: it leads out of the schema, or nowhere":                                {`{"$id":"https://example.com/a","properties":{"b":{"$ref":"b"}}}`, both},
		"/properties/a: $dynamicRef: refused: what it leads to depends on the schemas that refer to this one": {head + `{"type":"string","$dynamicRef":"#n"}` + tail, both},
		"/properties/a/allOf/1: required: refused: the member \"b\" is required and not declared":             {head + `{"allOf":[{"type":"object","properties":{"c":{"type":"string"}}},{"required":["b"]}]}` + tail, both},
		"/properties/a: allOf: refused: its branches cannot be merged into one schema":                        {head + `{"allOf":[{"type":"string"},{"type":"integer"}]}` + tail, both},
		"(root): anyOf: refused: no value is allowed here":                                                    {`{"anyOf":[{"type":"string"},false]}`, both},
		"/anyOf/1: additionalProperties: refused: the object takes members that are not declared": {
			`{"anyOf":[{"type":"object"},{"type":"object","additionalProperties":{"type":"string"}}]}`, both,
		},
		"(root): anyOf: refused: the member \"a\" may be null in one alternative, and has to be left out in another": {
			`{"anyOf":[{"type":"object","properties":{"a":{"type":["string","null"]}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`, both[:1],
		},
		"(root): type: refused: the arguments of a tool are an object": {`{"type":"string"}`, both},
		"/$defs/T: $ref: refused: the schema refers to itself, which the grammar of a strict tool cannot": {
			`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","properties":{"a":{"$ref":"#/$defs/T"}}}}}`, both[1:],
		},
	} {
		for _, d := range c.in {
			s, notes := rewrite(t, c.schema, d)
			assert.False(t, s.Strict, why)
			assert.Contains(t, notes, strings.TrimSpace(why))
			assert.Empty(t, s.Nullable)
			plain := dialect.OpenAI
			if d == dialect.AnthropicStrict {
				plain = dialect.Anthropic
			}
			want, _ := rewrite(t, c.schema, plain)
			assert.JSONEq(t, string(want.JSON), string(s.JSON), why)
		}
	}
}

func TestPlain(t *testing.T) {
	const text = `{"$schema":"x","type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"additionalProperties":true,"anyOf":[{"required":["a"]}]}`
	s, _ := rewrite(t, text, dialect.JSONSchema)
	assert.Equal(t, text, string(s.JSON))
	for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.Anthropic} {
		s, notes := rewrite(t, text, d)
		assert.JSONEq(t, `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}},"additionalProperties":true,"required":["a"]}`, string(s.JSON), "an alternative alone is merged")
		assert.Empty(t, notes)
		s, _ = rewrite(t, `{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","required":["a"]}}}`, d)
		assert.JSONEq(t, `{"type":"object","properties":{},"required":["a"],"$defs":{"T":{"type":"object","required":["a"]}}}`, string(s.JSON))
	}
}
