package importer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/importer"
)

// A draft makes random schemas in the spellings of one draft.
type draft struct {
	*rand.Rand
	uri string
}

var drafts = []string{
	"http://json-schema.org/draft-04/schema#", "http://json-schema.org/draft-06/schema#",
	"http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema",
}

func (d draft) leaf() map[string]any {
	s := map[string]any{"type": []string{"string", "integer", "number", "boolean"}[d.IntN(4)]}
	if s["type"] == "integer" || s["type"] == "number" {
		switch low := d.IntN(3); {
		case d.uri == drafts[0]:
			s["minimum"], s["exclusiveMinimum"] = low, d.IntN(2) == 0
			s["maximum"], s["exclusiveMaximum"] = low+2, d.IntN(2) == 0
		default:
			s["exclusiveMinimum"] = low
		}
	}
	if s["type"] == "string" {
		s["minLength"] = d.IntN(3)
	}
	return s
}

func (d draft) schema(depth int) map[string]any {
	if depth == 0 {
		return d.leaf()
	}
	switch d.IntN(6) {
	case 4:
		return d.foreign(depth)
	case 0: // a tuple
		s := map[string]any{"type": "array", "items": []any{d.schema(depth - 1), d.leaf()}}
		switch d.IntN(3) {
		case 0:
			s["additionalItems"] = false
		case 1:
			s["additionalItems"] = d.leaf()
		}
		return s
	case 1: // items, beside which additionalItems says nothing
		return map[string]any{"type": "array", "items": d.schema(depth - 1), "additionalItems": false}
	case 2:
		return map[string]any{"type": "object", "properties": map[string]any{"b": d.schema(depth - 1), "c": d.leaf()},
			"dependencies": map[string]any{"b": []any{"c"}, "c": map[string]any{"required": []any{"b"}}}}
	case 3: // what stands beside says nothing before 2019-09
		return map[string]any{"$ref": "#/definitions/A-b", "minLength": 3, "minimum": 2}
	}
	return d.leaf()
}

// foreign makes a schema with a keyword that not every draft has.
func (d draft) foreign(depth int) map[string]any {
	part := d.schema(depth - 1)
	all := []map[string]any{
		{"type": "string", "const": "x"},
		{"type": "array", "contains": part},
		{"type": "array", "contains": part, "minContains": 2, "maxContains": 3},
		{"type": "array", "contains": d.leaf(), "unevaluatedItems": d.leaf()},
		{"type": "array", "prefixItems": []any{part}, "unevaluatedItems": false},
		{"type": "object", "propertyNames": map[string]any{"minLength": 6}},
		{"if": d.leaf(), "then": part, "else": d.leaf()},
		{"type": "object", "properties": map[string]any{"b": part, "c": d.leaf()}, "dependentRequired": map[string]any{"b": []any{"c"}}},
		{"type": "object", "properties": map[string]any{"b": part, "c": d.leaf()}, "dependentSchemas": map[string]any{"b": map[string]any{"required": []any{"c"}}}},
		{"type": "object", "properties": map[string]any{"b": part}, "unevaluatedProperties": false},
		{"type": "array", "items": part, "$recursiveRef": "#", "$dynamicRef": "#none"},
	}
	s := all[d.IntN(len(all))]
	if d.uri == drafts[3] {
		delete(s, "$recursiveRef") // its root is no array
	}
	return s
}

// TestDrafts: schemas of older drafts take after the import what an independent validator says
// that they take in their draft, or less where the import says so.
func TestDrafts(t *testing.T) {
	for _, uri := range drafts {
		t.Run(uri, func(t *testing.T) {
			var sum comparison
			for seed := range battery.Count(t, 40, 400) {
				d := draft{rand.New(rand.NewPCG(7, uint64(seed))), uri}
				properties := map[string]any{"a": d.schema(2), "d": d.schema(1)}
				root := map[string]any{"$schema": uri, "type": "object", "properties": properties, "definitions": map[string]any{"A-b": d.leaf()}}
				if uri == drafts[3] && d.IntN(2) == 0 {
					root["$recursiveAnchor"] = true
					properties["r"] = map[string]any{"$recursiveRef": "#"}
				}
				src, err := json.Marshal(root)
				require.NoError(t, err)
				all := fmt.Appendf(nil, `{"tools":%s}`, list(t, string(src)))
				r, err := importer.MCP(all, options)
				require.NoError(t, err)
				require.Empty(t, r.Left, "%s", src)
				sum.compare(t, string(src), all, 30)
			}
			require.Zero(t, sum.skipped)
			require.Greater(t, sum.both, sum.values/4)
			require.Less(t, sum.both, sum.values)
			t.Logf("%+v", sum)
		})
	}
}

// TestContainsOf2019: what contains describes does not count for unevaluatedItems in draft 2019-09.
func TestContainsOf2019(t *testing.T) {
	src := `{"$schema":"` + drafts[3] + `","type":"object","properties":{"a":{"description":"A.","type":"array","contains":{"type":"string"},"minContains":2,"unevaluatedItems":{"type":["integer","string"],"minLength":2}}},"additionalProperties":false}`
	original, _ := compiled([]byte(src))
	r, err := importer.MCP(list(t, src), options)
	require.NoError(t, err)
	tools, err := dynamic.Tools(read(t, r), nil)
	require.NoError(t, err)
	for value, want := range map[string]bool{
		`{"a":["ab","cd",3]}`: true, `{"a":["a","cd"]}`: false, `{"a":["ab",3]}`: false, `{"a":["ab","cd",true]}`: false,
	} {
		_, violations := tools[0].Decode([]byte(value))
		require.Equal(t, want, original.Validate(decoded(t, value)) == nil, value)
		require.Equal(t, want, violations == nil, "%s: %v", value, violations)
	}
}
