package importer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/internal/importer/normalize"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// list is an answer with one tool for each schema.
func list(t *testing.T, schemas ...string) []byte {
	t.Helper()
	var tools []map[string]any
	for i, s := range schemas {
		tools = append(tools, map[string]any{"name": fmt.Sprintf("t%d", i), "description": "D.", "inputSchema": json.RawMessage(s)})
	}
	text, err := json.Marshal(tools)
	require.NoError(t, err)
	return text
}

func read(t *testing.T, r *importer.Result) *dsl.File {
	t.Helper()
	f, err := dsl.Parse("tools.yaml", r.Text, dsl.WithPatterns(gen.PatternFault))
	require.NoError(t, err, string(r.Text))
	return f
}

// member wraps a schema as the member a of arguments.
func member(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }

// TestUnionsWithNull: a union is written in another way only where that takes the same values.
func TestUnionsWithNull(t *testing.T) {
	for schema, same := range map[string]bool{
		`{"description":"A.","anyOf":[{"type":"string"},{"type":"null"},{"type":"null"}]}`:               true,
		`{"description":"A.","oneOf":[{"type":"string"},{"type":"null"},{"type":"null"}]}`:               false,
		`{"description":"A.","anyOf":[{"type":"string","not":{"const":"x"}},{"type":"null"}]}`:           false,
		`{"description":"A.","anyOf":[{"const":"x"},{"const":"x"}]}`:                                     true,
		`{"description":"A.","oneOf":[{"const":"x"},{"const":"x"}]}`:                                     false,
		`{"description":"A.","type":"integer","anyOf":[{"type":"integer","minimum":1},{"type":"null"}]}`: false,
	} {
		r, err := importer.MCP(list(t, member(schema)), options)
		require.NoError(t, err)
		rewritten := false
		for _, c := range r.Changes {
			rewritten = rewritten || c.Kind == "nullable" || c.Kind == "constants"
		}
		assert.Equal(t, same, rewritten, schema)
	}
}

// TestEffects: what the server says of effects is believed only when the caller says so.
func TestEffects(t *testing.T) {
	src := []byte(`[
		{"name":"reads","description":"D.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":true}},
		{"name":"writes","description":"D.","inputSchema":{"type":"object"},"annotations":{"destructiveHint":false}},
		{"name":"silent","description":"D.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false}},
		{"name":"lies","description":"D.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":"true"}}]`)
	for trust, want := range map[bool][]string{false: {"destructive", "destructive", "destructive", "destructive"}, true: {"read", "write", "destructive", "destructive"}} {
		o := options
		o.TrustHints = trust
		r, err := importer.MCP(src, o)
		require.NoError(t, err)
		var effects []string
		for _, tool := range read(t, r).Tools {
			effects = append(effects, tool.Effect)
		}
		assert.Equal(t, want, effects)
	}
}

// TestOverKeeps: what people wrote stays where the source says nothing.
func TestOverKeeps(t *testing.T) {
	src := list(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"string"}}}}}`)
	first, err := importer.MCP(src, options)
	require.NoError(t, err)
	edited := strings.ReplaceAll(string(first.Text), `"c" # filled in by ambit import`, `The key. # ours`)
	edited = strings.Replace(edited, "          type: string\n", "          type: string\n          x-sensitive: true\n", 1)
	edited = strings.Replace(edited, "effect: destructive", "effect: read # looked at\n    deadline: 5s", 1)
	edited = strings.Replace(edited, "    output:\n      type: object\n      additionalProperties: true\n", "    output: {type: object, properties: {}}\n", 1)
	over := options
	over.Over = []byte(edited)
	again, err := importer.MCP(src, over)
	require.NoError(t, err)
	assert.Equal(t, edited, string(again.Text), "the source says nothing else")

	more := list(t, `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"string"}}},"d":{"type":"string","description":"New."}}}`)
	changed, err := importer.MCP(more, over)
	require.NoError(t, err)
	tool := read(t, changed).Tools[0]
	assert.Equal(t, "read", tool.Effect)
	require.Len(t, tool.Input.Properties, 3)
	assert.True(t, tool.Input.Properties[0].Schema.Sensitive)
	assert.Equal(t, "The key.", tool.Input.Properties[1].Schema.Properties[0].Schema.Description)
	assert.Empty(t, tool.Output.Properties)
	assert.True(t, tool.Output.Closed)
	assert.Contains(t, string(changed.Text), "# looked at\n    deadline: 5s")
}

// TestHostileTexts: a text of the source is that text in the declaration, or cleaned.
func TestHostileTexts(t *testing.T) {
	for _, text := range []string{
		`"`, `\`, `a" # b`, "a: b", "- a", "no", "1e3", "null", "~", "{a", "[b", "&a *b !c", "%d", "@x", "`y`", "*/ }\nfunc init() {}\n/*", "'", "a\n  b\n c", " \ta\n", "---\na", "...\n", "\U0001F600 é \u00a0x", "#", "a #b", "{{.}}", "${HOME}", "a\r\nb",
	} {
		description, err := json.Marshal(text)
		require.NoError(t, err)
		src := fmt.Appendf(nil, `[{"name":"t","description":%[1]s,"title":%[1]s,"inputSchema":{"type":"object","properties":{"a":{"type":"string","description":%[1]s,"default":%[1]s,"enum":[%[1]s,"other"]},"b b\"":{"type":"string","description":"B."}}}}]`, description)
		r, err := importer.MCP(src, options)
		require.NoError(t, err)
		require.Empty(t, r.Left, text)
		tool := read(t, r).Tools[0]
		clean := strings.TrimSpace(strings.ReplaceAll(text, "\r", ""))
		assert.Equal(t, clean, tool.Description)
		a := tool.Input.Properties[0].Schema
		assert.Equal(t, clean, a.Description)
		assert.Equal(t, text, a.Default.Text)
		assert.Equal(t, text, a.Enum[0].Text)
		assert.Equal(t, `b b"`, tool.Input.Properties[1].Name)
	}
}

// TestLarge: what no declaration can hold is left out, and so are the tools that one does not hold
// beside the others.
func TestLarge(t *testing.T) {
	big := member(`{"type":"string","description":"` + strings.Repeat("long ", 220_000) + `"}`)
	r, err := importer.MCP(list(t, big, `{"type":"object"}`), options)
	require.NoError(t, err)
	require.Equal(t, []string{"t1"}, r.Tools)
	require.Len(t, r.Left, 1)
	assert.Contains(t, r.Left[0].Reason, "a declaration at most 1048576")

	var many []string
	for range 300 {
		many = append(many, member(`{"type":"string","description":"`+strings.Repeat("long ", 1_000)+`"}`))
	}
	r, err = importer.MCP(list(t, many...), options)
	require.NoError(t, err)
	require.Greater(t, len(r.Tools), 150, "what fits is written")
	require.Len(t, r.Left, 300-len(r.Tools))
	require.Less(t, 1<<20-len(r.Text), 6_000, "and no more would fit")
	require.Equal(t, fmt.Sprintf("t%d", len(r.Tools)), r.Left[0].Tool, "the first ones are imported")
	require.Contains(t, r.Left[0].Reason, "the declaration is full")
	require.Greater(t, r.Left[0].Pos.Col, 100_000, "it is named by its place in the source")
	o := options
	o.Over = r.Text
	again, err := importer.MCP(list(t, many...), o)
	require.NoError(t, err)
	require.Equal(t, r.Tools, again.Tools)
	require.Equal(t, string(r.Text), string(again.Text))
	_, err = importer.MCP([]byte(strings.Repeat(`[`, 100_000)), options)
	require.ErrorContains(t, err, "nested deeper than 256 levels")
	deep := strings.Repeat(`{"type":"array","items":`, 80) + `{"type":"string"}` + strings.Repeat(`}`, 80)
	r, err = importer.MCP(list(t, member(deep)), options)
	require.NoError(t, err)
	require.Empty(t, r.Left)
}

// TestExactPlaces: below keywords where a narrower schema makes the whole wider, objects stay open.
func TestExactPlaces(t *testing.T) {
	const object = `{"type":"object","properties":{"b":{"type":"string","format":"date"}}}`
	for schema, open := range map[string]bool{
		`{"items":` + object + `,"type":"array"}`:      false,
		`{"anyOf":[` + object + `,{"type":"string"}]}`: false,
		`{"not":` + object + `}`:                       true,
		`{"if":` + object + `}`:                        true,
		`{"allOf":[` + object + `,{"type":"object"}]}`: true,
		`{"oneOf":[` + object + `,{"type":"string"}]}`: true,
		`{"not":{"items":` + object + `}}`:             true,
		`{"not":{"$ref":"#/$defs/A"}}`:                 true,
	} {
		root, err := jsonschema.Parse([]byte(`{"type":"object","properties":{"a":`+schema+`},"$defs":{"A":`+object+`}}`), 256)
		require.NoError(t, err)
		changes, fault := normalize.Schema(root, normalize.Options{Arguments: true})
		require.Nil(t, fault)
		closed, enforced := 0, 0
		for _, c := range changes {
			switch c.Kind {
			case normalize.Closed:
				closed++
			case normalize.FormatEnforced:
				enforced++
			}
		}
		want := 2 // the root is closed as well
		if open {
			want = 1
		}
		assert.Equal(t, want, closed, schema)
		assert.Equal(t, want-1, enforced, schema)
	}
}
