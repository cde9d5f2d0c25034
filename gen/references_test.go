package gen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/internal/battery"
)

// TestManyReferencesAreBounded reads declarations in which each type refers to the next one: a small
// file that would take hours or fill the memory, were each walk to go through all that follows.
//
// SEMANTICS 7.6.4
func TestManyReferencesAreBounded(t *testing.T) {
	n := battery.Count(t, 60, 10_000)
	large := "{type: object, properties: {x: {type: object, description: X., properties: {" + strings.Repeat("a%d: {type: string, description: A.}, ", 250) + "}}}}"
	for name, form := range map[string]string{
		"references": `{$ref: "#/types/T%d"}`,
		"arrays":     `{type: array, items: {$ref: "#/types/T%d"}}`,
		"maps":       `{type: object, additionalProperties: {$ref: "#/types/T%d"}}`,
		"members":    `{type: object, description: O., properties: {a: {$ref: "#/types/T%d", description: A.}}, required: [a]}`,
		"allOf":      `{allOf: [{$ref: "#/types/T%d"}, {type: object, properties: {a%[2]d: {type: string, description: A.}}}]}`,
		"same":       `{allOf: [{$ref: "#/types/T%d"}, {$ref: "#/types/T%[1]d"}]}`,
		"anyOf":      `{anyOf: [{$ref: "#/types/T%d"}, {$ref: "#/types/T%[1]d"}]}`,
		"oneOf":      `{oneOf: [{$ref: "#/types/T%d"}, {$ref: "#/types/T%[1]d"}]}`,
		"null":       `{anyOf: [{$ref: "#/types/T%d"}, {type: "null"}]}`,
		"elements":   `{anyOf: [{type: array, items: {$ref: "#/types/T%d"}}, {type: "null"}]}`,
		"by type":    `{anyOf: [{$ref: "#/types/T%d"}, {type: string}]}`,
		"not":        `{not: {$ref: "#/types/T%d"}}`,
		"large":      `{allOf: [{$ref: "#/types/Large"}, {type: object, properties: {q: {type: string, description: Q.}}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			b.WriteString("ambit: v1\npackage: p\ntypes:\n")
			for i := range n {
				fmt.Fprintf(&b, "  T%d: %s\n", i, strings.SplitN(fmt.Sprintf(form, i+1, i), "%!", 2)[0])
			}
			fmt.Fprintf(&b, "  T%d: {type: string, description: The last one.}\n", n)
			var members []any
			for i := range 250 {
				members = append(members, i)
			}
			fmt.Fprintf(&b, "  Large: "+large+"\n", members...)
			b.WriteString("tools:\n  t:\n    version: 1.0.0\n    description: A tool.\n    effect: read\n" +
				"    input: {type: object, properties: {a: {$ref: \"#/types/T0\", description: A.}}}\n    output: {type: object}\n")
			file, err := dsl.Parse("tools.yaml", []byte(b.String()))
			if err == nil {
				_, err = gen.Generate(file, gen.Options{})
			}
			if err != nil {
				var found dsl.Diagnostics
				require.ErrorAs(t, err, &found)
			}
		})
	}
}
