package catalog_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/catalog"
)

// TestMembers: members come in the order of the schema, with what they refer to; a keyword without words is named.
func TestMembers(t *testing.T) {
	list, more, err := catalog.Members(`{
		"type": "object", "required": ["b"],
		"properties": {
			"b": {"$ref": "#/$defs/Name", "description": "Its name."},
			"a": {"type": ["integer", "null"], "minimum": 0, "default": 3},
			"c": {"type": "object", "additionalProperties": {"type": "string", "x-sensitive": true}},
			"d": {"oneOf": [{"type": "string"}], "not": {"const": 1}},
			"e": true
		},
		"$defs": {"Name": {"type": "string", "minLength": 1, "description": "Any name."}}
	}`)
	require.NoError(t, err)
	assert.False(t, more)
	assert.Equal(t, []catalog.Member{
		{Path: "b", Type: "string (Name)", Required: true, Text: "Its name.", Bounds: []string{"at least 1 character"}},
		{Path: "a", Type: "integer or null", Bounds: []string{"at least 0", "without it 3"}},
		{Path: "c", Type: "object"},
		{Path: "c.*", Type: "string", Bounds: []string{"sensitive: recorded and shown as a commitment"}},
		{Path: "d", Type: "one of several", Bounds: []string{"more in the schema: not, oneOf"}},
		{Path: "e", Type: "any value"},
	}, list)
}

// TestMembersEnd: a type that contains itself is told once, and types that multiply are cut.
func TestMembersEnd(t *testing.T) {
	list, more, err := catalog.Members(`{"properties": {"tree": {"$ref": "#/$defs/Tree"}},
		"$defs": {"Tree": {"type": "object", "properties": {"left": {"$ref": "#/$defs/Tree"}, "size": {"type": "integer"}}}}}`)
	require.NoError(t, err)
	assert.False(t, more)
	var paths []string
	for _, m := range list {
		paths = append(paths, m.Path)
	}
	assert.Equal(t, []string{"tree", "tree.left", "tree.size"}, paths)

	wide := `{"type": "object", "properties": {`
	for i := range 40 {
		wide += `"p` + strings.Repeat("x", i) + `": {"$ref": "#/$defs/NEXT"},`
	}
	wide = strings.TrimSuffix(wide, ",") + `}}`
	schema := strings.TrimSuffix(strings.ReplaceAll(wide, "NEXT", "A"), "}") + `, "$defs": {"A": ` +
		strings.ReplaceAll(wide, "NEXT", "B") + `, "B": ` + strings.ReplaceAll(wide, "NEXT", "C") + `, "C": ` + strings.ReplaceAll(wide, "NEXT", "A") + `}}`
	list, more, err = catalog.Members(schema)
	require.NoError(t, err)
	assert.True(t, more)
	assert.Len(t, list, 500)
}

func TestMembersRefusesWhatIsNoSchema(t *testing.T) {
	for _, schema := range []string{"", "[]", `{"properties": 1}`, `{"properties": {"a": 1}}`, `{"required": 1}`, `{"$defs": 1}`} {
		_, _, err := catalog.Members(schema)
		assert.Error(t, err, schema)
	}
}
