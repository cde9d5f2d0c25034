package importer_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/importer"
)

// An assembler makes random objects of parts that name members of each other.
type assembler struct{ *rand.Rand }

var memberNames = []string{"a", "b", "c", "other"}

func (m assembler) pick() string { return memberNames[m.IntN(len(memberNames))] }

func (m assembler) leaf() any {
	return []any{map[string]any{"type": "string"}, map[string]any{"type": "integer"}, map[string]any{}, map[string]any{"const": "x"}, true}[m.IntN(5)]
}

// object makes an object, or a part of one.
func (m assembler) object(depth int) map[string]any {
	s := map[string]any{}
	if m.IntN(3) > 0 {
		s["type"] = "object"
	}
	if m.IntN(4) > 0 {
		properties := map[string]any{}
		for range 1 + m.IntN(2) {
			properties[m.pick()] = m.value(depth - 1)
		}
		s["properties"] = properties
	}
	if m.IntN(3) == 0 {
		s["required"] = []any{m.pick()}
	}
	switch m.IntN(14) {
	case 0:
		s["additionalProperties"] = []any{true, false, m.leaf()}[m.IntN(3)]
	case 1, 2:
		s["unevaluatedProperties"] = []any{false, false, m.leaf()}[m.IntN(3)]
	case 3:
		s["patternProperties"] = map[string]any{"^o": m.leaf()}
	}
	if depth > 0 {
		m.add(s, depth-1)
	}
	return s
}

// add adds parts to an object.
func (m assembler) add(s map[string]any, depth int) {
	switch m.IntN(11) {
	case 0:
		s["allOf"] = []any{m.part(depth), m.part(depth)}
	case 1:
		s["allOf"] = []any{m.part(depth)}
	case 2:
		s["anyOf"] = []any{m.part(depth), m.part(depth)}
	case 3:
		s["oneOf"] = []any{m.part(depth), m.part(depth)}
	case 4:
		s["not"] = m.part(depth)
	case 5:
		s["if"], s["then"] = m.part(depth), m.part(depth)
	case 6:
		s["if"], s["then"], s["else"] = m.part(depth), m.part(depth), m.part(depth)
	case 7:
		s["dependentSchemas"] = map[string]any{m.pick(): m.part(depth)}
	case 8:
		s["dependentRequired"] = map[string]any{m.pick(): []any{m.pick()}}
	case 9:
		s["$ref"] = "#/$defs/" + []string{"X", "Y"}[m.IntN(2)]
	}
}

func (m assembler) part(depth int) any {
	if m.IntN(4) == 0 {
		return map[string]any{"$ref": "#/$defs/" + []string{"X", "Y"}[m.IntN(2)]}
	}
	return m.object(depth)
}

// value makes the schema of a member.
func (m assembler) value(depth int) any {
	switch n := m.IntN(6); {
	case depth <= 0 || n < 3:
		return m.leaf()
	case n == 3:
		return map[string]any{"type": "array", "items": m.object(depth)}
	}
	return m.object(depth)
}

// TestParts: an object of parts takes after the import what an independent validator says that it
// takes with the objects closed of which the import says so.
func TestParts(t *testing.T) {
	var sum comparison
	left := 0
	for seed := range battery.Count(t, 100, 1_000) {
		m := assembler{rand.New(rand.NewPCG(11, uint64(seed)))}
		root := m.object(2)
		root["type"] = "object"
		x, y := m.object(1), m.object(0)
		delete(x, "$ref")
		root["$defs"] = map[string]any{"X": x, "Y": y}
		src, err := json.Marshal(root)
		require.NoError(t, err)
		all := fmt.Appendf(nil, `{"tools":%s}`, list(t, string(src)))
		r, err := importer.MCP(all, options)
		require.NoError(t, err, "%s", src)
		if len(r.Left) > 0 {
			t.Logf("seed %d: %s: %s", seed, r.Left[0].Reason, src)
			left++
			continue
		}
		sum.compare(t, fmt.Sprintf("seed %d: %s\n%s", seed, src, r.Text), all, 30)
	}
	t.Logf("%d left out, %+v", left, sum)
	require.Zero(t, sum.skipped)
	require.Greater(t, sum.exactly, sum.values/4)
}
