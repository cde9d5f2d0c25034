package dsl

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// declaring is a declaration with one member of the input.
func declaring(member string) []byte {
	return []byte("ambit: v1\npackage: shop\ntools:\n  buy:\n    version: 1.0.0\n    description: Buy.\n    input:\n      type: object\n      properties:\n        x: " +
		member + "\n    output: {}\n")
}

func TestReferencesLeadToFilesBelow(t *testing.T) {
	files := fstest.MapFS{
		"schemas/money.json": {Data: []byte(`{
			"$schema": "https://json-schema.org/draft/2020-12/schema",
			"$id": "https://example.com/money.json",
			"$defs": {
				"Money": {"type": "object", "description": "Money.", "properties": {
					"amount": {"$ref": "#/$defs/Amount"},
					"unit": {"$ref": "../units.yaml#unit", "description": "Unit."},
					"rest": {"$ref": "#/$defs/Money"}
				}, "required": ["amount"]},
				"Amount": {"type": "integer", "minimum": 0, "description": "Amount."}
			}
		}`)},
		"units.yaml": {Data: []byte("$defs:\n  Unit: {$anchor: unit, type: string, enum: [eur, usd], description: A unit.}\n")},
	}
	f, err := Parse("dir/tools.yaml", declaring(`{$ref: "schemas/money.json#/$defs/Money"}`), WithFiles(files))
	require.NoError(t, err)
	var names []string
	for _, n := range f.Types {
		names = append(names, n.Name)
	}
	assert.ElementsMatch(t, []string{"Money", "Amount", "Unit"}, names)
	money := f.Tools[0].Input.Properties[0].Schema.Target.Schema
	assert.Equal(t, TypeObject, money.Type)
	assert.Equal(t, "0", money.property("amount").Schema.base().Minimum)
	assert.Len(t, money.property("unit").Schema.base().Enum, 2)
	assert.Same(t, money, money.property("rest").Schema.base())
	assert.Equal(t, Pos{File: "dir/schemas/money.json", Line: 5, Col: 14}, money.Pos)
}

func TestReferencesToFilesAreRefused(t *testing.T) {
	files := fstest.MapFS{
		"bad.json":    {Data: []byte("{\n  \"type\": \"strin\"\n}\n")},
		"broken.json": {Data: []byte("{\n  \"type\": [\n")},
		"empty.json":  {Data: []byte(" \n")},
		"list.json":   {Data: []byte("[1]")},
		"far.json":    {Data: []byte("{\n  \"$ref\": \"https://example.com/x.json\"\n}\n")},
		"up.json":     {Data: []byte("{\n  \"$ref\": \"../x.json\"\n}\n")},
	}
	for member, want := range map[string]string{
		`{$ref: none.json, description: X.}`:                     "tools.yaml:10:19: $ref: the file \"none.json\" does not exist",
		`{$ref: "bad.json", description: X.}`:                    "bad.json:2:11: type must be \"object\", \"array\", \"string\", \"integer\", \"number\" or \"boolean\", not \"strin\"",
		`{$ref: "broken.json", description: X.}`:                 "broken.json:3:1: not valid YAML: did not find expected node content",
		`{$ref: "empty.json", description: X.}`:                  "tools.yaml:10:19: $ref: the file \"empty.json\" is empty",
		`{$ref: "list.json", description: X.}`:                   "tools.yaml:10:19: $ref: \"list.json\" leads to no schema of the file",
		`{$ref: "bad.json#/$defs/X", description: X.}`:           "tools.yaml:10:19: $ref: \"bad.json#/$defs/X\" leads to no schema of the file",
		`{$ref: "bad.json#x", description: X.}`:                  "tools.yaml:10:19: $ref: \"bad.json#x\" leads to no schema of the file",
		`{$ref: "../x.json", description: X.}`:                   "tools.yaml:10:19: $ref: \"../x.json\" leads out of the folder of the declaration",
		`{$ref: "a/../../x.json", description: X.}`:              "tools.yaml:10:19: $ref: \"a/../../x.json\" leads out of the folder of the declaration",
		`{$ref: "%2e%2e/x.json", description: X.}`:               "tools.yaml:10:19: $ref: \"%2e%2e/x.json\" leads out of the folder of the declaration",
		`{$ref: "/etc/x.json", description: X.}`:                 "tools.yaml:10:19: $ref: \"/etc/x.json\" leads out of the folder of the declaration",
		`{$ref: "C:/x.json", description: X.}`:                   "tools.yaml:10:19: $ref: \"C:/x.json\" leads out of the folder of the declaration",
		`{$ref: "up.json", description: X.}`:                     "up.json:2:11: $ref: \"../x.json\" leads out of the folder of the declaration",
		`{type: array, items: {$ref: "a.yml"}, description: X.}`: "tools.yaml:10:40: $ref: the file \"a.yml\" does not exist",
	} {
		_, err := Parse("tools.yaml", declaring(member), WithFiles(files))
		if assert.Error(t, err, member) {
			first, _, _ := strings.Cut(err.Error(), "\n")
			assert.Equal(t, want, first, member)
		}
	}
	_, err := Parse("tools.yaml", declaring(`{$ref: bad.json, description: X.}`))
	assert.ErrorContains(t, err, `the file "bad.json" is not read here`)
}

// TestReferencesWithinFiles: in a file, references lead where JSON Schema says: by an $id of a part, also a relative one, by an
// anchor of the part that they stand in, and by a pointer with escapes.
func TestReferencesWithinFiles(t *testing.T) {
	files := fstest.MapFS{"all.json": {Data: []byte(`{"$id": "https://example.com/all.json", "$defs": {
		"Part": {"$id": "parts/part.json", "type": "object", "description": "P.", "properties": {
			"own": {"$ref": "#/$defs/Own"}, "anchor": {"$ref": "#a"}, "root": {"$ref": "../all.json#a"}, "other": {"$ref": "other.json"}, "file": {"$ref": "far.json#b"}},
			"$defs": {"Own": {"$anchor": "a", "type": "integer", "description": "O."}}},
		"Other": {"$id": "/parts/other.json", "type": "boolean", "description": "O."},
		"Root a/b": {"$anchor": "a", "type": "string", "description": "R."},
		"List": {"type": "array", "description": "L.", "prefixItems": [{"type": "string", "description": "F."}], "items": false},
		"Twice": {"$anchor": "t", "type": "string", "description": "T."}, "Again": {"$anchor": "t", "type": "string", "description": "T."}}}`)},
		"far.json": {Data: []byte(`{"$defs": {"x": {"$anchor": "b", "type": "number", "description": "F."}}}`)}}
	f, err := Parse("tools.yaml", declaring(`{$ref: "all.json#/$defs/Part", description: X.}`), WithFiles(files))
	require.NoError(t, err)
	part := f.Tools[0].Input.Properties[0].Schema.base()
	for name, want := range map[string]Type{"own": TypeInteger, "anchor": TypeInteger, "root": TypeString, "other": TypeBoolean, "file": TypeNumber} {
		assert.Equal(t, want, part.property(name).Schema.base().Type, name)
	}
	assert.Len(t, f.Types, 5, "one type for each schema, by whichever reference")
	for ref, want := range map[string]string{
		"all.json#/%24defs/Root%20a~1b": "", "all.json#%61": "", "all.json#/$defs/List/prefixItems/0": "",
		"all.json#/$defs/List/prefixItems/00": "leads to no schema of the file", "all.json#t": "leads to no schema of the file", "all.json#/$defs/Part/$defs/a": "leads to no schema of the file",
	} {
		_, err := Parse("tools.yaml", declaring(`{$ref: "`+ref+`", description: X.}`), WithFiles(files))
		if want == "" {
			assert.NoError(t, err, ref)
		} else {
			assert.ErrorContains(t, err, `$ref: "`+ref+`" `+want)
		}
	}
}

// TestReferencesIntoValues: what a pointer leads to that no keyword holds has the form of a schema.
func TestReferencesIntoValues(t *testing.T) {
	for member, want := range map[string]string{
		`{description: X., anyOf: [{$ref: "#/properties/x/examples/0"}], examples: [{type: string}]}`:                                   "",
		`{description: X., anyOf: [{$ref: "#/properties/x/examples/0"}], examples: [{type: 3}]}`:                                        "type must be",
		`{description: X., anyOf: [{$ref: "#/properties/x/examples/0"}], examples: [{$ref: "#/properties/x/examples/1"}, {typ: text}]}`: `unknown key "typ"`,
	} {
		_, err := Parse("tools.yaml", declaring(member))
		if want == "" {
			assert.NoError(t, err, member)
		} else {
			assert.ErrorContains(t, err, want, member)
		}
	}
}
