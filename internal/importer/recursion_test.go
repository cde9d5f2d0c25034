package importer_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/importer"
)

// TestRecursion: $recursiveRef leads after the import where it leads in draft 2019-09, in schemas of one
// resource and of several, with $recursiveAnchor in each or not.
func TestRecursion(t *testing.T) {
	const schema = `{"$schema":"https://json-schema.org/draft/2019-09/schema","$id":"https://e.com/root"%s,
		"type":"object","properties":{"n":{"type":"string","description":"N."},"x":{"$ref":"%s","description":"X."}},"required":["n"],"additionalProperties":false,
		"$defs":{"tree":{%s"type":"object"%s,"properties":{"kids":{"type":"array","description":"Kids.","items":{"$recursiveRef":"#"}}%s},"additionalProperties":false}}}`
	const anchor = `,"$recursiveAnchor":true`
	values := []string{
		`{"n":"a"}`, `{"n":"a","x":{}}`, `{"n":"a","x":{"kids":[{}]}}`, `{"n":"a","x":{"kids":[{"n":"b"}]}}`, `{"n":"a","x":{"kids":[{"kids":[]}]}}`,
		`{"n":"a","x":{"kids":[{"kids":[{"n":"c"}]}]}}`, `{"n":"a","x":{"n":"b"}}`, `{"n":"a","x":{"kids":[{"n":"b","x":{"kids":[{"n":"c"}]}}]}}`, `{"n":"a","x":{"kids":[1]}}`,
	}
	both, neither := 0, 0
	for _, root := range []string{"", anchor} {
		for _, part := range []string{"", anchor} {
			for _, id := range []string{"", `"$id":"https://e.com/tree",`} {
				for _, more := range []string{"", `,"n":{"type":"string","description":"N."}`} {
					ref := "#/$defs/tree"
					if id != "" {
						ref = "https://e.com/tree"
					}
					src := fmt.Sprintf(schema, root, ref, id, part, more)
					original, _ := compiled([]byte(src))
					require.NotNil(t, original, src)
					r, err := importer.MCP(list(t, src), options)
					require.NoError(t, err)
					require.Empty(t, r.Left, src)
					tools, err := dynamic.Tools(read(t, r), nil)
					require.NoError(t, err)
					for _, value := range values {
						_, violations := tools[0].Decode([]byte(value))
						if fits := original.Validate(decoded(t, value)) == nil; fits {
							both++
							assert.Nil(t, violations, "%s\nof %s\n%s", value, src, r.Text)
						} else {
							neither++
							assert.NotNil(t, violations, "%s\nof %s\n%s", value, src, r.Text)
						}
					}
				}
			}
		}
	}
	assert.Greater(t, both, 50)
	assert.Greater(t, neither, 30)

	r, err := importer.MCP(list(t, `{"$schema":"https://json-schema.org/draft/2019-09/schema","type":"object","properties":{"a":{"$recursiveRef":"#/$defs/b"}},"$defs":{"b":{}}}`), options)
	require.NoError(t, err)
	require.Len(t, r.Left, 1)
	assert.Equal(t, `$recursiveRef leads elsewhere than to "#"`, r.Left[0].Reason)
}

// TestReferences: a reference of an imported schema leads to what JSON Schema says, by an $id that is relative, an anchor
// or a pointer; one that could lead to several schemas leads to none.
func TestReferences(t *testing.T) {
	const schema = `{"$id":"https://e.com/root.json","type":"object","properties":{"a":{"$ref":%q,"description":"A."}},"$defs":{
		"s t":{"$anchor":"s","type":"string"},"d":{"$dynamicAnchor":"d","type":"string"},"v":{"$id":"sub/v.json","$defs":{"w":{"type":"string","$anchor":"s"}}},
		"x":{"$id":"x.json","type":"string"},"y":{"$id":"sub/../x.json","type":"string"},"list":{"type":"array","prefixItems":[{"type":"string"}]},
		"one":{"$anchor":"twice","type":"string"},"two":{"$anchor":"twice","type":"integer"}}}`
	for ref, reason := range map[string]string{
		"#s": "", "#d": "", "#%73": "", "root.json#s": "", "#/$defs/s%20t": "", "#/%24defs/s t": "", "sub/v.json#s": "", "./sub/v.json#/$defs/w": "", "//e.com/sub/v.json#s": "",
		"#/$defs/x": "", "#/$defs/list/prefixItems/0": "", "#/$defs/list/prefixItems/00": "leads nowhere", "#w": "leads nowhere", "v.json#s": "leads out of the schema",
		"x.json": "leads to several schemas", "#twice": "leads to several schemas",
	} {
		r, err := importer.MCP(list(t, fmt.Sprintf(schema, ref)), options)
		require.NoError(t, err)
		if reason != "" {
			require.Len(t, r.Left, 1, ref)
			assert.Equal(t, fmt.Sprintf("$ref: %q %s", ref, reason), r.Left[0].Reason)
			continue
		}
		require.Empty(t, r.Left, ref)
		tools, err := dynamic.Tools(read(t, r), nil)
		require.NoError(t, err)
		_, violations := tools[0].Decode([]byte(`{"a":"text"}`))
		assert.Nil(t, violations, "%s\n%s", ref, r.Text)
		_, violations = tools[0].Decode([]byte(`{"a":1}`))
		assert.NotNil(t, violations, "%s\n%s", ref, r.Text)
	}
}

// TestOutputsOfReferences: an output that is no object stands behind a member by whichever reference that is found, and what
// leads back to itself in ever more ways costs no time.
func TestOutputsOfReferences(t *testing.T) {
	outputs := func(schema string) *importer.Result {
		r, err := importer.MCP([]byte(`{"tools":[{"name":"a","description":"A tool.","inputSchema":{"type":"object"},"outputSchema":`+schema+`}]}`), options)
		require.NoError(t, err)
		return r
	}
	for _, ref := range []string{"#/$defs/l", "#l", "l.json", "#/%24defs/l"} {
		r := outputs(`{"$ref":"` + ref + `","$defs":{"l":{"$anchor":"l","type":"array","items":{"type":"string"}},"m":{"$id":"l.json","type":"array"}}}`)
		require.Empty(t, r.Left, ref)
		assert.Contains(t, string(r.Text), "        result:", ref)
	}
	r := outputs(`{"anyOf":[` + strings.Repeat(`{"$ref":"#"},`, 50) + `{"allOf":[{"$ref":"#"},{"$ref":"#"}]}]}`)
	require.Len(t, r.Left, 1)
	assert.Equal(t, "the schema leads back to itself: no value can be checked", r.Left[0].Reason)
}

// TestOutputsOfDoubledReferences holds that what kind of values an output has is found once a schema, not once a way to it.
func TestOutputsOfDoubledReferences(t *testing.T) {
	for _, leaf := range []string{`{"type": "object"}`, `{"type": "null"}`, `{"type": "string"}`} {
		defs := `"d60": ` + leaf
		for i := range 60 {
			defs += fmt.Sprintf(`, "d%d": {"anyOf": [{"$ref": "#/$defs/d%d"}, {"$ref": "#/$defs/d%[2]d"}], "allOf": [{"$ref": "#/$defs/d%[2]d"}]}`, i, i+1)
		}
		_, err := importer.MCP([]byte(`{"tools": [{"name": "a", "inputSchema": {"type": "object"}, "outputSchema": {"$ref": "#/$defs/d0", "$defs": {`+defs+`}}}]}`), options)
		require.NoError(t, err)
	}
}
