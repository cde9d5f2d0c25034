package ir

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/battery"
)

// TestRandomDeclarationsEnd reads declarations of references, allOf and unions that lead anywhere, also
// back to themselves: each ends in a package or in diagnostics that have a place.
//
// SEMANTICS 7.6.4
func TestRandomDeclarationsEnd(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(64 << 20)) // of an endless recursion most of a gigabyte says no more
	parsed, built := 0, 0
	n := battery.Count(t, 3000, 50_000)
	for seed := range n {
		src := declaration(rand.New(rand.NewPCG(uint64(seed), 29)))
		file, err := dsl.Parse("tools.yaml", []byte(src), dsl.WithPatterns(PatternFault))
		if err == nil {
			parsed++
			if _, err = Build(file); err == nil {
				built++
				continue
			}
		}
		var found dsl.Diagnostics
		require.True(t, errors.As(err, &found), "seed %d: %v\n%s", seed, err, src)
		for _, d := range found {
			require.Positive(t, d.Pos.Line, "seed %d: %v\n%s", seed, d, src)
		}
	}
	t.Logf("%d declarations, %d parsed, %d built", n, parsed, built)
	require.Greater(t, built, n/20)
}

// declaration writes a random declaration of a few types and one tool.
func declaration(r *rand.Rand) string {
	w := &schemaWriter{r: r, types: 1 + r.IntN(4)}
	w.b.WriteString("ambit: v1\npackage: p\ntypes:\n")
	for i := range w.types {
		fmt.Fprintf(&w.b, "  T%d: ", i)
		w.schema(3, true)
		w.b.WriteByte('\n')
	}
	w.b.WriteString("tools:\n  t:\n    version: 1.0.0\n    description: A tool.\n    effect: read\n    input: ")
	if w.r.IntN(4) == 0 {
		w.schema(3, true)
	} else {
		w.object(3, true)
	}
	w.b.WriteString("\n    output: {type: object}\n")
	return w.b.String()
}

type schemaWriter struct {
	r     *rand.Rand
	b     strings.Builder
	types int
}

func (w *schemaWriter) pick(of ...string) string { return of[w.r.IntN(len(of))] }

// ref leads to a type, to an entry of $defs, or into another schema.
func (w *schemaWriter) ref() string {
	n := w.r.IntN(w.types)
	return `$ref: "` + w.pick(fmt.Sprintf("#/types/T%d", n), fmt.Sprintf("#/types/T%d", n), "#/$defs/D", "#",
		fmt.Sprintf("#/types/T%d/%s", n, w.pick("allOf/0", "properties/a", "items", "anyOf/1", "$defs/D", "examples/0")), w.pick("#/examples/0", "#x", "part.json", "part.json#x", "#/%24defs/D")) + `"`
}

func (w *schemaWriter) typeRef() string {
	return fmt.Sprintf(`$ref: "#/types/T%d"`, w.r.IntN(w.types))
}

// schema writes a schema in which others are nested depth deep at most.
func (w *schemaWriter) schema(depth int, top bool) {
	kinds := []string{"type", "ref", "object", "array", "map", "allOf", "union", "tagged", "null", "tuple", "not"}
	kind := kinds[w.r.IntN(len(kinds))]
	if depth == 0 {
		kind = w.pick("type", "ref", "ref")
	}
	switch kind {
	case "object":
		w.object(depth, top)
		return
	case "tagged":
		w.b.WriteString("{description: S., oneOf: [")
		for i := range 2 {
			fmt.Fprintf(&w.b, "{type: object, properties: {k: {type: string, const: %q, description: K.}, m: ", w.pick("", "a", "b", fmt.Sprint(i)))
			w.schema(depth-1, false)
			w.b.WriteString("}, required: [k]}, ")
		}
		w.b.WriteString("]}")
		return
	}
	w.b.WriteString("{description: S., ")
	switch kind {
	case "type":
		w.b.WriteString(w.pick("type: string", "type: integer, minimum: 1", "type: number, multipleOf: 0.5", "type: boolean", "type: [string, integer]",
			"const: a", "enum: [a, b]", "type: object", "type: array", "type: string, enum: [a, A]", `type: "null"`, "x-sensitive: true, type: string"))
	case "ref":
		w.b.WriteString(w.pick(w.typeRef(), w.ref()))
		w.b.WriteString(w.pick("", "", ", minItems: 1", ", x-sensitive: true"))
	case "array", "map":
		w.b.WriteString(map[string]string{"array": "type: array, items: ", "map": "type: object, additionalProperties: "}[kind])
		w.schema(depth-1, false)
	case "tuple":
		w.b.WriteString("type: array, items: false, prefixItems: [")
		w.schema(depth-1, false)
		w.b.WriteString("]")
	case "null":
		w.b.WriteString(w.pick("anyOf", "oneOf") + `: [{type: "null"}, `)
		w.schema(depth-1, false)
		w.b.WriteString("]")
	case "not":
		w.b.WriteString(w.pick("not", "if", "contains", "propertyNames") + ": ")
		w.schema(depth-1, false)
	default:
		if kind == "union" {
			kind = w.pick("anyOf", "oneOf")
		}
		w.b.WriteString(w.pick("", "", "type: object, ") + kind + ": [")
		for range 1 + w.r.IntN(3) {
			w.schema(depth-1, false)
			w.b.WriteString(", ")
		}
		w.b.WriteString("]")
	}
	if w.r.IntN(12) == 0 {
		w.b.WriteString(", " + w.pick("$anchor: x", "$dynamicAnchor: x", "$id: part.json", "$id: part.json, $anchor: x"))
	}
	if depth > 0 && w.r.IntN(12) == 0 {
		w.b.WriteString(", examples: [")
		w.schema(depth-1, false)
		w.b.WriteString("]")
	}
	w.defs(depth, top)
	w.b.WriteString("}")
}

func (w *schemaWriter) defs(depth int, top bool) {
	if top && w.r.IntN(3) == 0 {
		w.b.WriteString(", $defs: {D: ")
		w.schema(depth-1, false)
		w.b.WriteString("}")
	}
}

// object writes an object with members.
func (w *schemaWriter) object(depth int, top bool) {
	w.b.WriteString("{description: S., type: object, properties: {")
	for _, name := range []string{"a", "b"}[:1+w.r.IntN(2)] {
		w.b.WriteString(name + ": ")
		w.schema(depth-1, false)
		w.b.WriteString(", ")
	}
	w.b.WriteString("}" + w.pick("", ", required: [a]", ", additionalProperties: true", ", unevaluatedProperties: false"))
	w.defs(depth, top)
	w.b.WriteString("}")
}
