package evolution_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/evolution"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// object is a JSON object of a test.
type object = map[string]any

// schemas makes random schemas, and near ones of a schema.
type schemas struct{ *rand.Rand }

func (r schemas) chance(n int) bool { return r.IntN(n) == 0 }

func (r schemas) schema(depth int) any {
	if depth <= 0 {
		return r.leaf()
	}
	switch r.IntN(16) {
	case 0:
		return object{"anyOf": r.some(depth)}
	case 1:
		return object{"oneOf": r.some(depth)}
	case 2:
		return object{"allOf": r.some(depth)}
	case 3:
		return object{"not": r.schema(depth - 1)}
	case 4:
		return object{"if": r.schema(depth - 1), "then": r.schema(depth - 1), "else": r.schema(depth - 1)}
	case 5, 6, 7:
		return r.array(depth)
	case 8, 9, 10, 11, 12:
		return r.object(depth)
	case 13:
		return object{"anyOf": []any{r.leaf(), object{"type": "null"}}}
	}
	return r.leaf()
}

func (r schemas) some(depth int) (all []any) {
	for range 1 + r.IntN(3) {
		all = append(all, r.schema(depth-1))
	}
	return all
}

func (r schemas) leaf() any {
	s := object{}
	switch r.IntN(9) {
	case 0:
		return r.chance(3)
	case 1:
		return object{"const": r.value(1)}
	case 2:
		return object{"enum": []any{r.value(1), r.value(0), fmt.Sprint("e", r.IntN(3))}}
	case 3, 4:
		s["type"] = []string{"integer", "number"}[r.IntN(2)]
	case 5:
		s["type"] = []any{"string", []string{"integer", "null", "boolean"}[r.IntN(3)]}
	case 6:
		s["type"] = "boolean"
	default:
		s["type"] = "string"
	}
	for _, key := range []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"} {
		if (s["type"] == "integer" || s["type"] == "number") && r.chance(5) {
			s[key] = 1 + r.IntN(4)
		}
	}
	for _, key := range []string{"minLength", "maxLength"} {
		if s["type"] == "string" && r.chance(4) {
			s[key] = r.IntN(3)
		}
	}
	if s["type"] == "string" && r.chance(6) {
		s["pattern"] = []string{"^a", "b$"}[r.IntN(2)]
	}
	return s
}

func (r schemas) array(depth int) object {
	s := object{"type": "array"}
	if r.chance(2) {
		s["items"] = r.schema(depth - 1)
	}
	for _, key := range []string{"minItems", "maxItems", "minContains", "maxContains"} {
		if r.chance(5) {
			s[key] = r.IntN(4)
		}
	}
	if r.chance(4) {
		s["contains"] = r.schema(depth - 1)
	}
	if r.chance(4) {
		s["prefixItems"] = r.some(depth)
	}
	if r.chance(6) {
		s["unevaluatedItems"] = r.schema(depth - 1)
	}
	if r.chance(5) {
		s["uniqueItems"] = true
	}
	return s
}

var memberNames = []string{"a", "b", "c"}

func (r schemas) object(depth int) object {
	s := object{}
	if !r.chance(4) {
		s["type"] = "object"
	}
	properties := object{}
	for _, name := range memberNames {
		if r.chance(2) {
			properties[name] = r.described(depth)
		}
	}
	s["properties"] = properties
	for _, key := range []string{"additionalProperties", "propertyNames", "unevaluatedProperties"} {
		if r.chance(5) {
			s[key] = r.schema(depth - 1)
		}
	}
	if r.chance(4) {
		s["additionalProperties"] = r.chance(2)
	}
	for _, key := range []string{"minProperties", "maxProperties"} {
		if r.chance(6) {
			s[key] = r.IntN(3)
		}
	}
	if r.chance(3) {
		s["required"] = []any{memberNames[r.IntN(3)]}
	}
	if r.chance(6) {
		s["patternProperties"] = object{"^" + memberNames[r.IntN(3)]: r.schema(depth - 1)}
	}
	if r.chance(7) {
		s["dependentRequired"] = object{memberNames[r.IntN(3)]: []any{memberNames[r.IntN(3)]}}
	}
	if r.chance(7) {
		s["dependentSchemas"] = object{memberNames[r.IntN(3)]: r.schema(depth - 1)}
	}
	if r.chance(8) {
		s["anyOf"] = r.some(depth)
	}
	return s
}

func (r schemas) described(depth int) any {
	if s, ok := r.schema(depth - 1).(object); ok {
		s["description"] = "A member."
		return s
	}
	return object{"description": "Anything."}
}

// near is s with one part changed.
func (r schemas) near(s any, depth int) any {
	m, ok := s.(object)
	if !ok || r.chance(6) {
		return r.schema(depth)
	}
	out, keys := object{}, []string{}
	for k, v := range m {
		out[k] = v
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return r.schema(depth)
	}
	slices.Sort(keys)
	key := keys[r.IntN(len(keys))]
	if key == "const" {
		out[key] = r.value(1)
		return out
	}
	switch v := m[key].(type) {
	case object:
		out[key] = r.near(v, depth-1)
		if key == "properties" || key == "patternProperties" || strings.HasPrefix(key, "dependent") {
			out[key] = r.nearMembers(v, depth)
		}
	case []any:
		list := append([]any{}, v...)
		switch i := r.IntN(len(list)); {
		case key == "type" || key == "required":
			delete(out, key)
		case r.chance(3):
			out[key] = append(list, r.schema(depth-1))
		case r.chance(3) && len(list) > 1:
			out[key] = append(list[:i], list[i+1:]...)
		default:
			if key != "enum" {
				list[i] = r.near(list[i], depth-1)
			}
			out[key] = list
		}
	case int:
		out[key] = max(v+1-2*r.IntN(2), 0)
	case string:
		if key == "type" {
			out[key] = []string{"string", "integer", "number", "object", "array"}[r.IntN(5)]
		}
	default:
		delete(out, key)
	}
	return out
}

func (r schemas) nearMembers(m object, depth int) object {
	out := object{}
	for k, v := range m {
		switch _, isSchema := v.(object); {
		case r.chance(4):
		case r.chance(2) && isSchema:
			out[k] = r.near(v, depth-1)
			if s, ok := out[k].(object); ok {
				s["description"] = "A member."
			}
		default:
			out[k] = v
		}
	}
	return out
}

func (r schemas) value(depth int) any {
	n := 12
	if depth <= 0 {
		n = 8
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.chance(2)
	case 2, 3:
		return r.IntN(7) - 1
	case 4:
		return float64(r.IntN(8)) / 2
	case 5, 6, 7:
		return []string{"", "a", "b", "ab", "abb", "e0", "e1", "c"}[r.IntN(8)]
	case 8, 9:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, r.value(depth-1))
		}
		return list
	}
	m := object{}
	for _, name := range append(memberNames, "d") {
		if r.chance(2) {
			m[name] = r.value(depth - 1)
		}
	}
	return m
}

// declared is a declaration whose only tool has a schema as a member of its input and output,
// with the tool; ok is false for a schema that is refused.
func declared(schema any) (f *dsl.File, tool *dynamic.Tool, ok bool) {
	part := object{"type": "object", "properties": object{"v": object{"description": "V.", "allOf": []any{schema}}}, "required": []any{"v"}}
	if s, is := schema.(object); is && s["description"] == nil {
		s = object{"description": "V."}
		for k, v := range schema.(object) {
			s[k] = v
		}
		part["properties"] = object{"v": s}
	}
	src, err := json.Marshal(object{"ambit": "v1", "package": "shop", "tools": object{"buy": object{"version": "1.0.0", "description": "Buy.", "input": part, "output": part}}})
	if err != nil {
		return nil, nil, false
	}
	if f, err = dsl.Parse("tools.yaml", src, dsl.WithPatterns(gen.PatternFault)); err != nil {
		return nil, nil, false
	}
	tools, err := dynamic.Load(f)
	if err != nil {
		return nil, nil, false
	}
	return f, tools[0], true
}

// TestNothingIsMissed: where a change is said not to break callers, every value that the earlier
// input takes is one of the later, and every value of the later output is one of the earlier.
func TestNothingIsMissed(t *testing.T) {
	r := schemas{rand.New(rand.NewPCG(18, rand.Uint64()))}
	limits := wire.Limits{Size: 1 << 20}
	pairs, safe, held := 0, 0, 0
	for pairs < battery.Count(t, 250, 5_000) {
		schema := r.schema(3)
		was, old, ok := declared(schema)
		if !ok {
			continue
		}
		other := r.near(schema, 3)
		now, tool, ok := declared(other)
		if !ok {
			continue
		}
		pairs++
		breaks := said(evolution.Compare(was, now))
		input, output := !strings.Contains(breaks, "callers: input"), !strings.Contains(breaks, "callers: output")
		if input || output {
			safe++
		}
		for range 60 {
			text, err := json.Marshal(object{"v": r.value(3)})
			require.NoError(t, err)
			_, refused := old.Input.Decode(text, limits)
			_, refuses := tool.Input.Decode(text, limits)
			if refused == nil && refuses == nil {
				held++
			}
			missed := input && refused == nil && refuses != nil || output && refused != nil && refuses == nil
			if missed {
				a, _ := json.Marshal(schema)
				b, _ := json.Marshal(other)
				require.Fail(t, "missed", "%s\nwas %s\nnow %s\nold %v\nnew %v\nsaid %s", text, a, b, refused, refuses, breaks)
			}
		}
	}
	t.Logf("%d pairs, %d of them safe for callers in a direction, %d values taken by both", pairs, safe, held)
	require.Greater(t, safe, pairs/4)
	require.Greater(t, held, pairs)
}

// TestSameBreaksNothing: a declaration that is read again breaks nothing, whatever its schemas say.
func TestSameBreaksNothing(t *testing.T) {
	r := schemas{rand.New(rand.NewPCG(19, rand.Uint64()))}
	for n := 0; n < battery.Count(t, 100, 1_500); {
		schema := r.schema(4)
		was, _, ok := declared(schema)
		if !ok {
			continue
		}
		n++
		now, _, _ := declared(schema)
		text, _ := json.Marshal(schema)
		require.Empty(t, evolution.Compare(was, now), "%s", text)
	}
}
