package importer_test

import (
	"fmt"
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
