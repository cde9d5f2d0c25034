package ir

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
)

// TestReferences: a reference of a checked schema leads to what JSON Schema says, or to a diagnostic.
//
// SEMANTICS 7.6.4
func TestReferences(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`anyOf: [{$ref: "#/$defs/a"}], $defs: {a: {type: string}}`, ""},
		{`anyOf: [{$ref: "#/%24defs/a"}], $defs: {a: {type: string}}`, ""},
		{`anyOf: [{$ref: "#/$defs/a%20b~1c"}], $defs: {a b/c: {type: string}}`, ""},
		{`anyOf: [{$ref: "#%61"}], $defs: {b: {$anchor: a, type: string}}`, ""},
		{`anyOf: [{$ref: "#a"}], $defs: {b: {$dynamicAnchor: a, type: string}}`, ""},
		{`anyOf: [{$ref: "x/../y.json#a"}], $defs: {b: {$id: y.json, $anchor: a, type: string}}`, ""},
		{`anyOf: [{$ref: "#/types/Other/anyOf/0"}]`, ""},
		{`anyOf: [{$ref: "#/types/Other/%61nyOf/0"}]`, ""},
		{`anyOf: [{$ref: "#/types/Other/"}]`, ""},
		// into a value, from which others lead on
		{`anyOf: [{$ref: "#/examples/0"}], examples: [{$ref: "#/examples/0/not", not: {type: string}}]`, ""},
		{`anyOf: [{$ref: "#/examples/0"}], examples: [{allOf: [{$ref: "#/examples/1"}]}, {type: string}]`, ""},
		{`anyOf: [{$ref: "#/types/Other/default"}]`, ""},
		{`anyOf: [{$ref: "#/examples/0"}], examples: [{$ref: "#/examples/0"}]`, "leads back to itself"},
		{`anyOf: [{$ref: "#/default/0"}], default: [3]`, `$ref: "#/default/0" leads to no schema`},
		{`anyOf: [{$ref: "#/anyOf/00"}]`, `$ref: "#/anyOf/00" leads to no schema`},
		{`anyOf: [{$ref: "#/anyOf/1"}]`, `$ref: "#/anyOf/1" leads to no schema`},
		{`anyOf: [{$ref: "#/types/Other/anyOf/7"}]`, `$ref: "#/types/Other/anyOf/7" leads to no schema`},
		{`anyOf: [{$ref: "#/types/Other/~2"}]`, `$ref: "#/types/Other/~2" leads to no schema`},
		{`anyOf: [{$ref: "#%61"}]`, `$ref: no schema has the anchor "a"`},
		{`anyOf: [{$ref: "#%6"}]`, `$ref: "#%6" is no URI`},
		{`anyOf: [{$ref: "other.json"}], $defs: {a: {$id: more.json}}`, `$ref: "other.json" leads out of the declaration`},
		{`anyOf: [{$ref: "a.json"}], $defs: {a: {$id: a.json}, b: {$id: ./a.json}}`, `$id: "./a.json" is that of the schema on line 4 too`},
		{`anyOf: [{$ref: "#a"}], $defs: {a: {$anchor: a}, b: {$anchor: a}}`, `$anchor: "a" is the name of the schema on line 4 too`},
		{`anyOf: [{type: string}], $defs: {a: {$id: "#a"}}`, `$id: "#a" is no URI of a schema`},
	} {
		src := "ambit: v1\npackage: p\ntypes:\n  T: {description: S., " + c.schema + "}\n" +
			`  Other: {description: S., anyOf: [{type: string}], default: {not: {$ref: "#/default/allOf/0"}, allOf: [{type: integer}]}}` + "\ntools:\n  t:\n" +
			`    version: 1.0.0` + "\n    description: A tool.\n    effect: read\n" + `    input: {type: object, properties: {a: {$ref: "#/types/T"}}}` + "\n    output: {type: object}\n"
		f, err := dsl.Parse("tools.yaml", []byte(src), dsl.WithPatterns(PatternFault))
		if err == nil {
			_, err = Build(f)
		}
		if c.want == "" {
			assert.NoError(t, err, c.schema)
			continue
		}
		require.Error(t, err, c.schema)
		assert.Contains(t, err.Error(), c.want, c.schema)
		assert.Equal(t, 0, strings.Count(err.Error(), "\n"), "one diagnostic: %v", err)
	}
}
