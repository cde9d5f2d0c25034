package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// doubling returns the schema of an input with a member of the first of 30 definitions, in each of which %s stands twice for a
// reference to the next one.
func doubling(each, last string) string {
	var defs []string
	for i := range 30 {
		next := fmt.Sprintf(`"$ref":"#/$defs/A%d"`, i+1)
		defs = append(defs, fmt.Sprintf(`"A%d":`, i)+strings.ReplaceAll(each, "%s", next))
	}
	return `{"type":"object","properties":{"a":{"$ref":"#/$defs/A0","description":"V."}},` + closed + `,"$defs":{` + strings.Join(defs, ",") + `,"A30":` + last + `}}`
}

// TestSharedReferences: a schema whose references double with each definition is rewritten in little time, into one of a bounded size
// that allows what the schema does, or strict mode is off by name. Without the bounds the test does not end.
func TestSharedReferences(t *testing.T) {
	const most = 1 << 20
	text, whole := `{"type":"string"}`, `{"type":"object","properties":{"q":{"type":"string"}},"required":["q"],`+closed+`}`
	for i, c := range []struct{ name, schema, value string }{
		{"a union", doubling(`{"description":"A.","anyOf":[{%s},{%s}]}`, text), `{"a":"x"}`},
		{"a described union", doubling(`{"anyOf":[{%s,"description":"x"},{%s,"description":"y"}]}`, text), `{"a":"x"}`},
		{"a union of objects", doubling(`{"anyOf":[{%s,"description":"x"},{%s,"title":"y"}]}`, whole), `{"a":{"q":"x"}}`},
		{"intersections", doubling(`{"allOf":[{%s},{%s}]}`, text), ""},
		{"members", doubling(`{"type":"object","properties":{"a":{%s,"description":"a."},"b":{%s,"description":"b."}}}`, text), `{"a":{"a":{"b":{}}}}`},
		{"bounded members", doubling(`{"type":"object","properties":{"a":{%s,"minProperties":0},"b":{%s,"maxProperties":2}}}`, text), `{"a":{"a":{"b":{}}}}`},
		{"members beside a union", doubling(`{"type":"object","anyOf":[{"required":["x"]},{"required":["y"]}],"properties":{"x":{%s,"description":"a."},"y":{%s,"description":"b."}}}`, `{"description":"A.",`+whole[1:]), ""},
		{"tuples", doubling(`{"type":"array","prefixItems":[{%s,"description":"x"},{%s,"description":"y"}],"items":false}`, text), `{"a":[[],[[]]]}`},
		{"other members", doubling(`{"type":"object","additionalProperties":{%s,"description":"a."},"properties":{"b":{%s,"description":"b."}}}`, text), `{"a":{"a":{"b":{}}}}`},
		{"a root of unions", strings.Replace(doubling(`{"anyOf":[{%s},{%s}]}`, text), `"properties"`, `"oneOf":[{"$ref":"#/$defs/A0"},{"$ref":"#/$defs/A0"}],"properties"`, 1), ""},
	} {
		for j, d := range everyDialect {
			if !battery.Full(t) && i%len(everyDialect) != j { // a plain run takes one dialect for each schema
				continue
			}
			s, err := dialect.Rewrite([]byte(c.schema), d)
			require.NoError(t, err)
			require.Less(t, len(s.JSON), most, "%s in %v", c.name, d)
			rewritten := compile(t, s.JSON)
			if c.value != "" && d != dialect.OpenAIStrict { // which wants each member; the validator itself doubles over intersections
				require.NoError(t, rewritten.Validate(parsed(t, []byte(c.value))), "%s in %v", c.name, d)
			}
		}
	}
	s, notes := rewrite(t, doubling(`{"description":"A.","anyOf":[{%s},{%s}]}`, text), dialect.OpenAIStrict)
	assert.True(t, s.Strict, "%v", notes)
	s, notes = rewrite(t, doubling(`{"type":"object","properties":{"a":{%s,"description":"a."},"b":{%s,"description":"b."}}}`, text), dialect.Gemini)
	assert.Contains(t, notes, "/$defs/A3/properties/b: description: dropped: the schema is too large to say it beside a reference")
	assert.Contains(t, string(s.JSON), `"$defs"`)
	for _, d := range []dialect.Dialect{dialect.OpenAIStrict, dialect.AnthropicStrict} {
		s, notes = rewrite(t, doubling(`{"type":"object","properties":{"a":{%s,"minProperties":1},"b":{%s,"minProperties":2}}}`, text), d)
		assert.False(t, s.Strict)
		assert.Contains(t, notes, "(root): $ref: refused: the schema is too large", "%v", d)
	}
	nested := text
	for range 30 {
		nested = `{"type":"object","anyOf":[{"required":["x"]},{"required":["y"]}],"properties":{"x":` + nested + `,"y":{"type":"string"}}}`
	}
	s, notes = rewrite(t, head+nested+tail, dialect.OpenAIStrict)
	assert.False(t, s.Strict)
	assert.Contains(t, notes, "(root): $ref: refused: the schema is too large")
}

// TestNullOfSchemasThatReferToEachOther: each schema of a circle may be null as one of them says, wherever it begins.
func TestNullOfSchemasThatReferToEachOther(t *testing.T) {
	const defs = `"A":{"anyOf":[{"$ref":"#/$defs/B"},{"type":"string"}]},"B":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/C"}]},"C":{"anyOf":[{"$ref":"#/$defs/A"},{"type":%s}]}`
	for null, nullable := range map[string][]string{`"null"`: nil, `"integer"`: {"/properties/a", "/properties/b"}} {
		s, notes := rewrite(t, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/B"}},`+closed+`,"$defs":{`+strings.Replace(defs, "%s", null, 1)+`}}`, dialect.OpenAIStrict)
		require.True(t, s.Strict, "%v", notes)
		assert.Equal(t, nullable, s.Nullable)
		both := `{"type":"object","oneOf":[` + object(`"k":{"const":"x"},"a":{"$ref":"#/$defs/B"}`, "") + `,` + object(`"k":{"const":"y"}`, "") + `],"$defs":{` + strings.Replace(defs, "%s", null, 1) + `}}`
		s, notes = rewrite(t, both, dialect.OpenAIStrict)
		assert.Equal(t, nullable != nil, s.Strict, "the member may be null in one alternative only: %v", notes)
	}
}
