package dsl

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDraftsHaveKeywords(t *testing.T) {
	for keyword, want := range map[string]string{
		"type": "4 6 7 19 20", "description": "4 6 7 19 20", "definitions": "4 6 7 19 20", "$defs": "4 6 7 19 20",
		"id": "4", "$id": "6 7 19 20", "const": "6 7 19 20", "if": "7 19 20", "dependencies": "4 6 7 19 20", "dependentRequired": "19 20",
		"$recursiveRef": "19", "additionalItems": "4 6 7 19", "prefixItems": "20", "unevaluatedItems": "19 20",
	} {
		var has []string
		for i, name := range []string{"4", "6", "7", "19", "20"} {
			if (Draft04 + Draft(i)).Has(keyword) {
				has = append(has, name)
			}
		}
		assert.Equal(t, want, strings.Join(has, " "), keyword)
	}
	assert.False(t, Draft07.BesideRef("minLength"))
	assert.True(t, Draft07.BesideRef("description"))
	assert.True(t, Draft2019.BesideRef("minLength"))
	d, ok := DraftOf("https://json-schema.org/draft-07/schema")
	assert.True(t, ok)
	assert.Equal(t, Draft07, d)
	_, ok = DraftOf("https://example.com/draft-07/schema")
	assert.False(t, ok)
}

// TestDraftsOfFiles: a file of another draft than a declaration's is refused, as is what draft-07 reads
// otherwise.
func TestDraftsOfFiles(t *testing.T) {
	for schema, want := range map[string]string{
		`"http://json-schema.org/draft-07/schema#"`:                                                      "",
		`"http://json-schema.org/draft-07/schema#", "prefixItems": []`:                                   "a.json:2:57: prefixItems says nothing in draft-07, which $schema names",
		`"http://json-schema.org/draft-07/schema#", "definitions": {"b": {"$ref": "#", "minLength": 1}}`: "a.json:2:92: minLength beside $ref says nothing in draft-07, which $schema names",
		`"http://json-schema.org/draft-06/schema#"`:                                                      "a.json:2:14: $schema: dialect \"http://json-schema.org/draft-06/schema#\" is not supported",
		`"https://json-schema.org/draft/2020-12/schema"`:                                                 "",
	} {
		files := fstest.MapFS{"a.json": {Data: []byte("{\n  \"$schema\": " + schema + ",\n  \"$defs\": {\"A\": {\"type\": \"string\", \"description\": \"A.\"}}\n}\n")}}
		_, err := Parse("tools.yaml", declaring(`{$ref: "a.json#/$defs/A"}`), WithFiles(files))
		if want == "" {
			require.NoError(t, err, schema)
			continue
		}
		if assert.Error(t, err, schema) {
			first, _, _ := strings.Cut(err.Error(), "\n")
			assert.Equal(t, want, first)
		}
	}
}
