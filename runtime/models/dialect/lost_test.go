package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// TestGeminiLosesNothingSilently: what Gemini has no keyword for is in the description, or a note says that it is
// dropped. Nothing is forbidden that the schema allows.
func TestGeminiLosesNothingSilently(t *testing.T) {
	for _, c := range []struct {
		schema, want string
		notes        []string // without the place of the member
	}{
		{`{"not":{"const":"x"}}`, `{"description":"{not: {\"const\":\"x\"}}"}`, []string{"not: described"}},
		{`{"if":{"const":1},"then":false}`, `{"description":"{if: {\"const\":1}, then: false}"}`, []string{"if: described", "then: described"}},
		{`{"contains":{"type":"null"}}`, `{"description":"{contains: {\"type\":\"null\"}}"}`, []string{"contains: described"}},
		{`{"propertyNames":{"maxLength":1}}`, `{"description":"{propertyNames: {\"maxLength\":1}}"}`, []string{"propertyNames: described"}},
		{`{"type":"null","not":{}}`, `{"description":"{not: {}}","type":"null"}`, []string{"not: described"}},
		{`{"type":"array","enum":[[1],[2]]}`, `{"description":"{enum: [[1],[2]]}","type":"array"}`, []string{"enum: described"}},
		{`{"const":{"b":1}}`, `{"description":"{const: {\"b\":1}}","type":"object","properties":{}}`, []string{"const: described"}},
		{`{"const":true}`, `{"description":"{const: true}","type":"boolean"}`, []string{"const: described"}},
		{`{"type":"integer","enum":[1.0,2,2.5]}`, `{"type":"integer","enum":[1.0,2]}`, nil},
		{`{"type":"string","enum":[1]}`, `{"description":"{enum: [1]}","type":"string"}`, []string{"enum: described"}},
		{`{"const":"a","enum":["b"]}`, `{"description":"{const: \"a\", enum: [\"b\"]}"}`, []string{"const: described", "enum: described"}},
		{`{"type":"object","patternProperties":{"^x":{"type":"null"}},"additionalProperties":false}`,
			`{"description":"{patternProperties: {\"^x\":{\"type\":\"null\"}}, additionalProperties: false}","type":"object","properties":{}}`,
			[]string{"patternProperties: described", "additionalProperties: described"}},
		{`{"type":"object","properties":{"b":{"type":"null"}},"unevaluatedProperties":false}`,
			`{"type":"object","additionalProperties":false,"properties":{"b":{"type":"null"}}}`, nil},
		{`{"type":"object","if":{"required":["b"]},"unevaluatedProperties":false}`,
			`{"description":"{if: {\"required\":[\"b\"]}, unevaluatedProperties: false}","type":"object","properties":{}}`, []string{"if: described", "unevaluatedProperties: described"}},
		{`{"type":"object","properties":{"b":false}}`, `{"type":"object","properties":{}}`, []string{"properties: dropped"}},
		{`{"type":"object","required":["b"]}`, `{"description":"{required: [\"b\"]}","type":"object","properties":{}}`, []string{"required: described"}},
		{`{"type":"array","prefixItems":[{"type":"null"},{"type":"null"}],"items":false}`, `{"type":"array","prefixItems":[{"type":"null"},{"type":"null"}],"maxItems":2}`, nil},
		{`{"type":"array","prefixItems":[{"type":"null"},{"type":"null"}],"items":false,"maxItems":1}`, `{"type":"array","prefixItems":[{"type":"null"},{"type":"null"}],"maxItems":1}`, nil},
		{`{"type":"array","prefixItems":[{"type":"null"}],"items":{"type":"string"}}`, `{"description":"{items: {\"type\":\"string\"}}","type":"array","prefixItems":[{"type":"null"}]}`, []string{"items: described"}},
		{`{"type":"array","items":[{"type":"null"}],"additionalItems":false}`, `{"type":"array","prefixItems":[{"type":"null"}],"maxItems":1}`, nil},
		{`{"allOf":[{"type":"string","pattern":"a"},{"type":"string","pattern":"b"}]}`,
			`{"description":"{pattern: \"a\", allOf: [{\"type\":\"string\",\"pattern\":\"b\"}]}","type":"string"}`, []string{"/allOf/0: pattern: described", "allOf: described"}},
		{`{"allOf":[{"type":"string"},false]}`, `{"description":"{allOf: [false]}","type":"string"}`, []string{"allOf: described"}},
		{`{"$ref":"https://example.com/a","type":"string"}`, `{"description":"{$ref: \"https://example.com/a\"}","type":"string"}`, []string{"$ref: described"}},
		{`{"$dynamicRef":"#n","type":"string"}`, `{"description":"{$dynamicRef: \"#n\"}","type":"string"}`, []string{"$dynamicRef: described"}},
		{`{"anyOf":[false]}`, `{}`, []string{"anyOf: dropped"}},
		{`{"type":["string","integer"],"enum":[true]}`, `{}`, []string{"enum: dropped"}},
		{`{"type":"array","prefixItems":[false]}`, `{"type":"array","prefixItems":[{}]}`, []string{"/prefixItems/0: false: dropped"}},
		{`{"not":{"const":"` + strings.Repeat("x", 300) + `"}}`, `{}`, []string{"not: dropped"}},
	} {
		s, _ := rewrite(t, head+c.schema+tail, dialect.Gemini)
		assert.JSONEq(t, head+c.want+tail, string(s.JSON), c.schema)
		var notes []string
		for _, n := range s.Notes {
			at := strings.TrimPrefix(n.At, "/properties/a")
			if at != "" {
				at += ": "
			}
			notes = append(notes, fmt.Sprintf("%s%s: %v", at, n.Keyword, n.Effect))
		}
		assert.Equal(t, c.notes, notes, c.schema)
	}
}

// TestRootsThatProvidersDoNotTake: what a plain dialect leaves out at the root is noted.
func TestRootsThatProvidersDoNotTake(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"object","not":{"enum":["` + strings.Repeat("x", 300) + `"]}}`:                                                  "(root): not: dropped: no provider takes it at the root of a schema, and it is too long for a description",
		`{"type":"object","properties":{"b":{}},"allOf":[{"minProperties":1},{"minProperties":2}]}`:                              "(root): allOf: described: the description says it: no provider takes it at the root of a schema",
		`{"$ref":"#/$defs/T","minProperties":1,"$defs":{"T":{"type":"object","minProperties":2}}}`:                               "(root): minProperties: dropped: it contradicts what it stands beside, or cannot be merged with it",
		`{"type":"object","$ref":"#nowhere"}`:                                                                                    "(root): $ref: described: the description says it: no provider takes it at the root of a schema",
		`{"type":"object","$dynamicRef":"#n"}`:                                                                                   "(root): $dynamicRef: described: the description says it: no provider takes it at the root of a schema",
		`{"type":"string"}`:                                                                                                      "(root): type: changed: the arguments of a tool are an object",
		`{"$ref":"#/$defs/T","$defs":{"T":{"type":"object","minProperties":1,"anyOf":[{"required":["a"]},{"required":["b"]}]}}}`: "/$defs/T: anyOf: described: the members of its alternatives are those of one object, and the description says which go together",
	} {
		for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.Anthropic} {
			_, notes := rewrite(t, schema, d)
			assert.Equal(t, []string{want}, notes, schema)
		}
	}
}

// TestNamesOfArguments: a provider that refuses a request for the name of an argument has a note. Names further in
// are not looked at by the providers.
func TestNamesOfArguments(t *testing.T) {
	const schema = `{"type":"object","properties":{"Größe":{"type":"string"},"a.b":{"type":"object","properties":{"é":{"type":"string"}},"additionalProperties":false}},"additionalProperties":false}`
	for d, want := range map[dialect.Dialect][]string{
		dialect.OpenAI: nil, dialect.Anthropic: {"/properties/Größe"}, dialect.AnthropicStrict: {"/properties/Größe"}, dialect.Gemini: {"/properties/Größe", "/properties/a.b"},
	} {
		s, _ := rewrite(t, schema, d)
		var at []string
		for _, n := range s.Notes {
			assert.Equal(t, dialect.Refused, n.Effect)
			assert.Contains(t, n.Text, "the provider refuses a request with this tool")
			at = append(at, n.At)
		}
		assert.Equal(t, want, at, "%v", d)
		assert.False(t, s.Strict)
	}
	openai, notes := rewrite(t, schema, dialect.OpenAIStrict)
	assert.True(t, openai.Strict, "%v", notes)
}

// TestReferences: references by a name, by an absolute $id and in a part with an $id are followed.
func TestReferences(t *testing.T) {
	const defs = `"$defs":{"T":{"$anchor":"t","type":"string"},
		"part":{"$id":"https://example.com/part","type":"object","properties":{"in":{"$ref":"#/$defs/T"},"by":{"$ref":"#t"}},"required":["in","by"],"additionalProperties":false,
			"$defs":{"T":{"$anchor":"t","type":"integer"}}}}`
	for _, c := range []struct{ schema, want string }{
		{`{"$ref":"#t"}`, `{"a":"text"}`},
		{`{"$ref":"https://example.com/part"}`, `{"a":{"in":1,"by":2}}`},
		{`{"$ref":"https://example.com/part#t"}`, `{"a":1}`},
		{`{"$ref":"#/$defs/part"}`, `{"a":{"in":1,"by":2}}`},
	} {
		schema := strings.TrimSuffix(head+c.schema+tail, "}") + "," + defs + "}"
		for _, d := range []dialect.Dialect{dialect.OpenAIStrict, dialect.AnthropicStrict} {
			s, notes := rewrite(t, schema, d)
			assert.True(t, s.Strict, "%s: %v", c.schema, notes)
			rewritten := compile(t, s.JSON)
			assert.NoError(t, rewritten.Validate(parsed(t, []byte(c.want))), "%s", s.JSON)
			assert.Error(t, rewritten.Validate(parsed(t, []byte(`{"a":null}`))))
			assert.Error(t, rewritten.Validate(parsed(t, []byte(`{"a":{"in":"text","by":""}}`))))
		}
	}
}

// TestPlacesOfWhatIsMerged: a note is where the keyword was read, in the schema that refers to another one or in the
// other one.
func TestPlacesOfWhatIsMerged(t *testing.T) {
	s, notes := rewrite(t, `{"type":"object","properties":{"q":{"$ref":"#/$defs/Q","maxLength":2},"r":{"allOf":[{"type":"string"},{"minLength":1}]}},
		"required":["q","r"],"additionalProperties":false,"$defs":{"Q":{"type":"string","pattern":"a"}}}`, dialect.AnthropicStrict)
	assert.True(t, s.Strict)
	assert.Equal(t, []string{
		"/properties/q: maxLength: described: the description says it, the schema does not",
		"/$defs/Q: pattern: described: the description says it, the schema does not",
		"/properties/r/allOf/1: minLength: described: the description says it, the schema does not",
	}, notes)
	_, notes = rewrite(t, `{"type":"object","properties":{"q":{"allOf":[{"type":"object","required":["b"]},{"required":["c"]}]}},"required":["q"]}`, dialect.Gemini)
	assert.Equal(t, []string{
		"/properties/q/allOf/0: required: described: the description says it, the schema does not",
		"/properties/q/allOf/1: required: described: the description says it, the schema does not",
	}, notes)
	s, _ = rewrite(t, `{"type":"object","properties":{"q":{"allOf":[{"type":"object","properties":{"b":{"type":"string"}}},{"properties":{"c":{"type":"string"}}}]}},"required":["q"]}`, dialect.OpenAIStrict)
	assert.Equal(t, []string{"/properties/q/allOf/0/properties/b", "/properties/q/allOf/1/properties/c"}, s.Nullable)
}

// TestRelativeReferences: a reference leads to a part by an $id that is relative, and one from within it to what is there, also
// where the part is published in the place of a reference; one that could lead to several parts leads to none.
func TestRelativeReferences(t *testing.T) {
	const part = `"part":{"$id":"parts/one.json","type":"object","properties":{"in":{"$ref":"#/$defs/a%20b"},"by":{"$ref":"#b"},"back":{"$ref":"../tool.json#n"},"over":{"$ref":"two.json"}},
		"required":["in"],"additionalProperties":false,"$defs":{"a b":{"type":"string","enum":["x"]},"b":{"$anchor":"b","type":"boolean"}}}`
	const rest = `"two":{"$id":"/parts/two.json","type":"integer","enum":[2]},"n":{"$anchor":"n","type":"number","enum":[3]}`
	for name, schema := range map[string]string{
		"a root":     `{"$id":"https://example.com/tool.json","$ref":"parts/one.json","$defs":{` + part + `,` + rest + `}}`,
		"no base":    `{"$ref":"./parts/one.json","$defs":{` + strings.Replace(part, "../tool.json#n", "../#n", 1) + `,` + rest + `}}`,
		"a part":     `{"$id":"https://example.com/tool.json","type":"object","allOf":[{"$ref":"parts/one.json"}],"$defs":{` + part + `,` + rest + `}}`,
		"not at all": `{"$id":"https://example.com/tool.json","type":"object","properties":{"in":{"$ref":"parts/one.json#/$defs/a%20b"},"by":{"$ref":"parts/one.json#b"},"back":{"$ref":"#n"},"over":{"$ref":"parts/two.json"}},"required":["in"],"additionalProperties":false,"$defs":{` + part + `,` + rest + `}}`,
	} {
		for _, d := range everyDialect {
			s, notes := rewrite(t, schema, d)
			if d == dialect.OpenAIStrict || d == dialect.AnthropicStrict {
				require.True(t, s.Strict, "%s in %v: %v", name, d, notes)
			}
			rewritten := compile(t, s.JSON)
			for value, fits := range map[string]bool{
				`{"in":"x","by":true,"back":3,"over":2}`: true, `{"in":"y","by":true,"back":3,"over":2}`: false, `{"in":"x","by":1,"back":3,"over":2}`: false,
				`{"in":"x","by":true,"back":4,"over":2}`: false, `{"in":"x","by":true,"back":3,"over":"2"}`: false,
			} {
				assert.Equal(t, fits, rewritten.Validate(parsed(t, []byte(value))) == nil, "%s in %v: %s\n%s\n%v", name, d, value, s.JSON, notes)
			}
		}
	}
	_, notes := rewrite(t, `{"type":"object","properties":{"a":{"$ref":"x.json"}},"$defs":{"a":{"$id":"x.json","type":"string"},"b":{"$id":"./x.json","type":"integer"}}}`, dialect.OpenAIStrict)
	assert.Contains(t, notes, "/properties/a: $ref: refused: several parts of the schema have its name")
}
