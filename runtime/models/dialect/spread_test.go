package dialect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

const spread = ": described: the members of its alternatives are those of one object, and the description says which go together"

// TestRootUnions: a union at the root becomes one object of the members of its alternatives: a tag lists its values,
// what every alternative requires is required, and the description says which members go together.
func TestRootUnions(t *testing.T) {
	const user = `{"type":"object","properties":{"kind":{"const":"user","description":"To a user."},"user":{"type":"string"}},"required":["kind","user"],` + closed + `}`
	const channel = `{"type":"object","description":"To all of a channel.","properties":{"kind":{"const":"channel","description":"To a channel."},"channel":{"type":"string"},"thread":{"type":"integer"}},` +
		`"required":["kind","channel"],` + closed + `}`
	const both = `{"type":"object","description":"Give the members of exactly one of these alternatives:\n1. kind: \"user\", user.\n` +
		`2. kind: \"channel\", channel, optional thread. To all of a channel.","properties":{` +
		`"kind":{"type":"string","enum":["user","channel"],"description":"\"user\": To a user. \"channel\": To a channel."},` +
		`"user":{"type":"string"},"channel":{"type":"string"},"thread":{"type":"integer"}},"required":["kind"],` + closed + `}`
	for _, c := range []struct {
		name, schema, want string
		notes              []string
	}{
		{"by a tag", `{"oneOf":[` + user + `,` + channel + `]}`, both, []string{"(root): oneOf" + spread}},
		{
			"of references", `{"oneOf":[{"$ref":"#/$defs/U"},{"$ref":"#/$defs/C"}],"$defs":{"U":` + user + `,"C":` + channel + `}}`,
			strings.TrimSuffix(both, "}") + `,"$defs":{"U":` + user + `,"C":` + channel + `}}`, []string{"(root): oneOf" + spread},
		},
		{"in an intersection", `{"allOf":[{"type":"object"},{"oneOf":[` + user + `,` + channel + `]}]}`, both, []string{"/allOf/1: oneOf" + spread}},
		{"in a union", `{"oneOf":[` + user + `,{"anyOf":[` + channel + `]}]}`, both, []string{"(root): oneOf" + spread}},
		{
			"of what is required", `{"type":"object","description":"Find.","properties":{"id":{"type":"string"},"mail":{"type":"string"}},"anyOf":[{"required":["id"]},{"required":["mail"]}],` + closed + `}`,
			`{"type":"object","description":"Find.\n\nGive the members of at least one of these alternatives:\n1. id.\n2. mail.","properties":{"id":{"type":"string"},"mail":{"type":"string"}},` + closed + `}`,
			[]string{"(root): anyOf" + spread},
		},
		{
			"of what nothing declares", `{"type":"object","properties":{},"anyOf":[{"required":["id"]},{"required":["mail"]}]}`,
			`{"type":"object","description":"Give the members of at least one of these alternatives:\n1. id.\n2. mail.","properties":{"id":{},"mail":{}}}`, []string{"(root): anyOf" + spread},
		},
		{
			"whose schemas differ", `{"oneOf":[{"type":"object","properties":{"v":{"type":"string","maxLength":3}},"required":["v"]},{"type":"object","properties":{"v":{"type":"integer"},"odd-name":{"type":"null"}},"minProperties":1}]}`,
			`{"type":"object","description":"Give the members of exactly one of these alternatives:\n1. v: {\"type\":\"string\",\"maxLength\":3}.\n2. optional v: integer, odd-name {minProperties: 1}.",` +
				`"properties":{"v":{"anyOf":[{"type":"string","maxLength":3},{"type":"integer"}]},"odd-name":{"type":"null"}}}`, []string{"(root): oneOf" + spread},
		},
		{
			"beside what it narrows", `{"type":"object","properties":{"kind":{"type":"string"},"n":{"type":"integer"}},"required":["kind"],"oneOf":[{"properties":{"kind":{"const":"a"},"n":false}},{"properties":{"kind":{"const":"b"}},"required":["n"]}],` + closed + `}`,
			`{"type":"object","description":"Give the members of exactly one of these alternatives:\n1. kind: \"a\".\n2. kind: \"b\", n.",` +
				`"properties":{"kind":{"type":"string","enum":["a","b"]},"n":{"type":"integer"}},"required":["kind"],` + closed + `}`, []string{"(root): oneOf" + spread},
		},
		{
			"of which one is none of an object", `{"anyOf":[{"type":"string"},` + object(`"a":`+text, "") + `]}`, object(`"a":`+text, ""),
			[]string{"/anyOf/0: type: changed: the arguments of a tool are an object"},
		},
		{
			"of two kinds", `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"string"}},"required":["b"]}],` +
				`"oneOf":[{"properties":{"c":{"type":"string"}},"required":["c"]},{"properties":{"d":{"type":"string"}},"required":["d"]}],"unevaluatedProperties":false}`,
			`{"type":"object","description":"Give the members of exactly one of these alternatives:\n1. c.\n2. d.\n\nGive the members of at least one of these alternatives:\n1. a.\n2. b.",` +
				`"properties":{"c":{"type":"string"},"d":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"}},` + closed + `}`,
			[]string{"(root): oneOf" + spread, "(root): anyOf" + spread},
		},
		{
			"by a condition", `{"type":"object","properties":{"k":{"type":"string"}},"if":{"required":["k"]},"then":{"properties":{"a":{"type":"string"}},"required":["a"]},"else":{"properties":{"b":{"type":"string"}},"required":["b"]}}`,
			`{"type":"object","description":"{if: {\"required\":[\"k\"]}, then: {\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\"]}, else: {\"properties\":{\"b\":{\"type\":\"string\"}},\"required\":[\"b\"]}}",` +
				`"properties":{"k":{"type":"string"},"a":{"type":"string"},"b":{"type":"string"}}}`,
			[]string{
				"(root): if: described: the description says it: no provider takes it at the root of a schema", "(root): then: described: the description says it: no provider takes it at the root of a schema",
				"(root): else: described: the description says it: no provider takes it at the root of a schema",
			},
		},
		{"with itself", `{"oneOf":[{"$ref":"#"},` + object(`"a":`+text, "") + `]}`, object(`"a":`+text, ""), nil},
	} {
		for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.Anthropic} {
			s, notes := rewrite(t, c.schema, d)
			assert.JSONEq(t, c.want, string(s.JSON), "%s: %s", c.name, s.JSON)
			assert.Equal(t, c.notes, notes, c.name)
		}
	}
	s, _ := rewrite(t, `{"oneOf":[`+object(`"a, b: \"c\"":`+text, "")+`,`+object(`"d":`+text, "")+`]}`, dialect.OpenAI)
	assert.Contains(t, string(s.JSON), `\n1. \"a, b: \\\"c\\\"\".\n2. d.`, "a name is not read as something else")
	s, _ = rewrite(t, `{"oneOf":[`+user+`,`+channel+`]}`, dialect.OpenAIStrict)
	assert.True(t, s.Strict)
	assert.Equal(t, []string{"/oneOf/0/properties/user", "/oneOf/1/properties/channel", "/oneOf/1/properties/thread"}, s.Nullable)
	assert.Equal(t, `{"kind":"user","user":"x"}`, string(s.Restore([]byte(`{"kind":"user","user":"x","channel":null,"thread":null}`))))
	for _, d := range everyDialect {
		s, _ := rewrite(t, `{"oneOf":[`+user+`,`+channel+`]}`, d)
		for _, name := range []string{"kind", "user", "channel", "thread"} {
			assert.Contains(t, string(s.JSON), `"`+name+`":{`, "%v", d)
		}
	}
}

// TestManyAlternatives: unions of unions and long ones are spread, cut off with a note, or refused; soon.
func TestManyAlternatives(t *testing.T) {
	branches := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = object(fmt.Sprintf(`"kind":{"const":"k%d"},"member_%d":%s`, i, i, text), "")
		}
		return `[` + strings.Join(all, ",") + `]`
	}
	s, notes := rewrite(t, `{"oneOf":`+branches(200)+`}`, dialect.OpenAI)
	assert.Contains(t, string(s.JSON), `and 63 more`)
	assert.Contains(t, string(s.JSON), `"member_199":{"type":"string"}`)
	assert.Equal(t, []string{"(root): oneOf: dropped: the members of its alternatives are those of one object: to say which go together is too long for the description"}, notes)
	for _, schema := range []string{
		`{"oneOf":` + branches(201) + `}`,
		`{"oneOf":[{"type":"object","oneOf":` + strings.ReplaceAll(branches(20), "kind", "a") + `,"anyOf":[{"minProperties":1},` + strings.Repeat(`{"required":["x"]},`, 20) + `{"minProperties":2}]}]}`,
	} {
		s, notes = rewrite(t, schema, dialect.OpenAIStrict)
		assert.False(t, s.Strict)
		assert.Contains(t, notes, "(root): oneOf: refused: the alternatives are too many")
		assert.Contains(t, notes, "(root): oneOf: dropped: the alternatives are too many")
	}
	loop := `{"oneOf":[{"$ref":"#/$defs/A"},{"$ref":"#/$defs/A"}],"$defs":{"A":{"anyOf":[{"$ref":"#/$defs/A"},{"$ref":"#"},{"$ref":"#/$defs/B"}]},"B":{"oneOf":[{"$ref":"#/$defs/A"},{"required":["b"]}]}}}`
	s, _ = rewrite(t, loop, dialect.OpenAI)
	assert.Contains(t, string(s.JSON), `"b":{}`)
}

// TestRootUnionsAllowWhatTheyAllowed: random unions at the root, spread in any dialect, allow each value of an alternative, and in
// strict mode of OpenAI the value comes back from one in which the model wrote null for every other member, unless a note says that
// null may be left in it.
func TestRootUnionsAllowWhatTheyAllowed(t *testing.T) {
	strict, tried := 0, 0
	for seed := range uint64(max(100, battery.Count(t, 100, 1_000))) {
		b := &builder{r: rand.New(rand.NewPCG(seed, 9))}
		var branches []string
		var write []func() (string, string)
		for i := range 2 + b.r.IntN(3) {
			schema, w := b.object(2, fmt.Sprint("kind", i%2))
			branches, write = append(branches, schema), append(write, w)
		}
		schema := `{"oneOf":[` + strings.Join(branches, ",") + `]}`
		if b.r.IntN(2) == 0 {
			schema = `{"type":"object","unevaluatedProperties":false,"anyOf":[` + strings.Join(branches, ",") + `]}`
		}
		for _, d := range everyDialect {
			s, notes := rewrite(t, schema, d)
			left := strings.Contains(strings.Join(notes, "\n"), "null may be left where the member could be left out")
			rewritten := compile(t, s.JSON)
			var names struct{ Properties map[string]json.RawMessage }
			require.NoError(t, json.Unmarshal(s.JSON, &names))
			for range 4 {
				plain, full := write[b.r.IntN(len(write))]()
				if d != dialect.OpenAIStrict || !s.Strict {
					require.NoError(t, rewritten.Validate(parsed(t, []byte(plain))), "%v\n%s\n%s\n%s", d, schema, s.JSON, plain)
					tried++
					continue
				}
				var have map[string]json.RawMessage
				require.NoError(t, json.Unmarshal([]byte(full), &have))
				var more []string
				for name := range names.Properties {
					if have[name] == nil {
						more = append(more, fmt.Sprintf("%q:null", name))
					}
				}
				if len(more) > 0 {
					full = strings.TrimSuffix(full, "}") + strings.Repeat(",", min(1, len(have))) + strings.Join(more, ",") + "}"
				}
				require.NoError(t, rewritten.Validate(parsed(t, []byte(full))), "%s\n%s\n%s", schema, s.JSON, full)
				restored := s.Restore([]byte(full))
				source := compile(t, []byte(schema))
				if source.Validate(parsed(t, []byte(plain))) != nil { // it is of two alternatives of oneOf
					continue
				}
				if err := source.Validate(parsed(t, restored)); err == nil || !left {
					require.NoError(t, err, "seed %d\n%s\n%s\n%s", seed, schema, s.JSON, restored)
					strict++
				}
			}
		}
	}
	require.Greater(t, tried, 200)
	require.Greater(t, strict, 50)
}

// TestArraysHaveItems: OpenAI refuses a request in which an array has no items. What is added allows the same values, or
// a note says what more.
func TestArraysHaveItems(t *testing.T) {
	const said = `{"type":"object","properties":{"a":%s}}`
	for _, c := range []struct{ schema, want, note string }{
		{`{"type":"array"}`, `{"type":"array","items":{}}`, ""},
		{`{"type":["array","null"]}`, `{"type":["array","null"],"items":{}}`, ""},
		{`{"type":"array","items":{"type":"array"}}`, `{"type":"array","items":{"type":"array","items":{}}}`, ""},
		{`{"type":"array","prefixItems":[{"type":"array"}]}`, `{"type":"array","prefixItems":[{"type":"array","items":{}}],"items":{}}`, ""},
		{`{"minItems":1}`, `{"minItems":1,"items":{}}`, ""},
		{`{"type":"array","prefixItems":[{}],"unevaluatedItems":false}`, `{"type":"array","prefixItems":[{}],"items":false}`, ""},
		{`{"type":"array","items":{},"unevaluatedItems":false}`, `{"type":"array","items":{}}`, ""},
		{
			`{"type":"array","contains":{},"unevaluatedItems":false}`, `{"type":"array","contains":{},"items":{},"description":"{unevaluatedItems: false}"}`,
			"/properties/a: unevaluatedItems: described: the description says it: each array needs items for the provider, beside which it says nothing",
		},
		{`{"type":"object","properties":{"type":{"type":"array"}},"patternProperties":{"^x":{"type":"array"}}}`,
			`{"type":"object","properties":{"type":{"type":"array","items":{}}},"patternProperties":{"^x":{"type":"array","items":{}}}}`, ""},
		{`{"anyOf":[{"type":"array"},{"not":{"type":"array"}},{"if":{"type":"array"}}]}`, `{"anyOf":[{"type":"array","items":{}},{"not":{"type":"array","items":{}}},{"if":{"type":"array","items":{}}}]}`, ""},
		{`{"enum":[{"type":"array"}],"default":{"type":"array"},"examples":[{"type":"array"}]}`, `{"enum":[{"type":"array"}],"default":{"type":"array"},"examples":[{"type":"array"}]}`, ""},
	} {
		s, notes := rewrite(t, fmt.Sprintf(said, c.schema), dialect.OpenAI)
		assert.JSONEq(t, fmt.Sprintf(said, c.want), string(s.JSON), c.schema)
		assert.Equal(t, c.note, strings.Join(notes, " "), c.schema)
		s, _ = rewrite(t, fmt.Sprintf(said, c.schema), dialect.Anthropic)
		assert.JSONEq(t, fmt.Sprintf(said, c.schema), string(s.JSON), "only OpenAI wants them")
	}
	s, _ := rewrite(t, `{"type":"object","properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"array"}}}`, dialect.OpenAI)
	assert.Contains(t, string(s.JSON), `"$defs":{"A":{"type":"array","items":{}}}`)
	s, _ = rewrite(t, head+`{"type":"array"}`+tail, dialect.OpenAIStrict)
	assert.False(t, s.Strict)
	assert.Contains(t, string(s.JSON), `"items":{}`, "what is sent where strict mode is off is that of OpenAI, too")
}

// TestOrderOfTuples: where a dialect has no tuples, the description says what the elements are in their order, and how many
// there may be.
func TestOrderOfTuples(t *testing.T) {
	const at = `{"type":"array","description":"Where.","prefixItems":[{"type":"number","description":"Latitude."},{"type":"number","title":"Longitude"},{"enum":["N","S"]},` +
		`{"$ref":"#/$defs/Name"},{"type":["string","null"],"maxLength":3}],"items":false}`
	const order = "At most 5 elements, in this order: 1. Latitude (number) 2. Longitude (number) 3. \"N\" or \"S\" 4. A name (string) 5. {\"type\":[\"string\",\"null\"],\"maxLength\":3}"
	for _, d := range []dialect.Dialect{dialect.OpenAIStrict, dialect.AnthropicStrict} {
		s, notes := rewrite(t, strings.TrimSuffix(head+at+tail, "}")+`,"$defs":{"Name":{"type":"string","description":"A name."}}}`, d)
		require.True(t, s.Strict, "%v", notes)
		var out struct {
			Properties struct{ A struct{ Description string } }
		}
		require.NoError(t, json.Unmarshal(s.JSON, &out))
		assert.Equal(t, "Where.\n\n"+order, out.Properties.A.Description, "%v", d)
	}
	long := make([]string, 100)
	for i := range long {
		long[i] = fmt.Sprintf(`{"type":"integer","description":"%d %s"}`, i, strings.Repeat("x", 200))
	}
	s, _ := rewrite(t, head+`{"type":"array","prefixItems":[`+strings.Join(long, ",")+`],"items":false}`+tail, dialect.OpenAIStrict)
	assert.Contains(t, string(s.JSON), "100. integer")
}

// TestAnnotationsAreTold: what a dialect does not keep of what says nothing about values is in the description, with a note.
func TestAnnotationsAreTold(t *testing.T) {
	const schema = `{"type":"string","description":"An image.","contentEncoding":"base64","contentMediaType":"image/png","contentSchema":{"type":"object"},"deprecated":true,"readOnly":false,"writeOnly":true,"examples":["a"]}`
	const want = `An image.\n\n{examples: [\"a\"], deprecated: true, writeOnly: true, contentEncoding: \"base64\", contentMediaType: \"image/png\", contentSchema: {\"type\":\"object\"}}`
	for _, d := range []dialect.Dialect{dialect.OpenAIStrict, dialect.AnthropicStrict, dialect.Gemini} {
		s, notes := rewrite(t, head+schema+tail, d)
		assert.Contains(t, string(s.JSON), want, "%v", d)
		assert.Len(t, notes, 6, "%v", d)
		s, notes = rewrite(t, strings.TrimSuffix(head+`{"$ref":"#/$defs/S","deprecated":true}`+tail, "}")+`,"$defs":{"S":{"type":"string"}}}`, d)
		assert.Contains(t, string(s.JSON), `{deprecated: true}`, "beside a reference: %v", d)
		assert.Equal(t, []string{"/properties/a: deprecated: described: the description says it, the schema does not"}, notes)
		_, notes = rewrite(t, head+`{"type":"string","default":"`+strings.Repeat("x", 300)+`"}`+tail, d)
		assert.Equal(t, []string{"/properties/a: default: dropped: the schema does not say it, and it is too long for a description"}, notes)
		_, notes = rewrite(t, head+`{"maxItems":3,"items":{"type":"string"}}`+tail, d)
		assert.Contains(t, notes, "/properties/a: type: changed: the schema names no type: array follows from its keywords, and other values are left out")
		_, notes = rewrite(t, head+`{"enum":["a","b"]}`+tail, d)
		assert.Empty(t, notes, "the values have the type")
	}
}
