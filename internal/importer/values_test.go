package importer_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

// TestNothingWider: no value that the schema of the source refuses is taken by the imported
// tool, and one that only the source takes is refused for what the import said.
func TestNothingWider(t *testing.T) {
	var sum comparison
	for path, a := range goldens(t) {
		sum.compare(t, path, file(a, "in.json").Data, battery.Count(t, 40, 400))
	}
	require.Greater(t, sum.both, 100)
	require.Greater(t, sum.narrower, 5)
	t.Logf("%+v", sum)
}

// TestNothingWiderInTheCorpus is the same for the tools that servers list.
func TestNothingWiderInTheCorpus(t *testing.T) {
	servers, tools := corpus(t)
	var sum, outputs comparison
	for _, server := range servers {
		for _, list := range answers(tools[server]) {
			sum.compare(t, server, answer(t, list), battery.Count(t, 10, 100))
			if outs := asInputs(list); len(outs) > 0 {
				outputs.compare(t, server+" (outputs)", answer(t, outs), battery.Count(t, 10, 100))
			}
		}
	}
	t.Logf("%+v, outputs %+v", sum, outputs)
	require.LessOrEqual(t, sum.skipped+outputs.skipped, corpusBroken, "the independent validator does not take their schemas")
	require.Greater(t, sum.exactly, sum.values/2)
	require.Positive(t, outputs.both)
	require.Greater(t, sum.both, sum.values/20)
	if battery.Full(t) {
		require.GreaterOrEqual(t, sum.values, 200_000)
	}
}

// corpusBroken is how many tools of the corpus have a schema that breaks its own draft.
const corpusBroken = 2

// asInputs are the tools that have an output, with its schema as that of their input.
func asInputs(tools []listed) []listed {
	var out []listed
	for _, one := range tools {
		if len(one.OutputSchema) > 0 && string(one.OutputSchema) != "null" {
			one.InputSchema, one.OutputSchema = one.OutputSchema, nil
			out = append(out, one)
		}
	}
	return out
}

// entriesOf are the input schemas of an answer, by tool.
func entriesOf(t *testing.T, src []byte) map[string]json.RawMessage {
	t.Helper()
	type list struct{ Tools []json.RawMessage }
	var whole struct {
		list
		Result list
	}
	require.NoError(t, json.Unmarshal(src, &whole))
	out := map[string]json.RawMessage{}
	for _, raw := range append(whole.Tools, whole.Result.Tools...) {
		var one struct {
			Name        string          `json:"name"`
			InputSchema json.RawMessage `json:"inputSchema"`
		}
		if json.Unmarshal(raw, &one) == nil {
			out[one.Name] = one.InputSchema
		}
	}
	return out
}

// A maker makes values for a schema: most fit, and some are spoiled.
type maker struct {
	r    *rand.Rand
	root map[string]any
}

func (m *maker) value() any {
	text, _ := json.Marshal(m.make(m.root, 0)) // a copy: values of the schema are in it
	var v any
	_ = json.Unmarshal(text, &v)
	if m.r.IntN(3) > 0 {
		return v
	}
	return m.spoil(v, 0)
}

// make makes a value that a schema takes in most cases.
func (m *maker) make(schema any, depth int) any {
	s, ok := schema.(map[string]any)
	if !ok || depth > 8 {
		return m.any()
	}
	if ref, ok := s["$ref"].(string); ok {
		return m.make(m.follow(ref), depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 && s["properties"] == nil {
			return m.make(list[m.r.IntN(len(list))], depth+1)
		}
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if e, ok := s["enum"].([]any); ok && len(e) > 0 {
		return e[m.r.IntN(len(e))]
	}
	if m.r.IntN(12) == 0 && s["default"] != nil {
		return s["default"]
	}
	switch t := m.typeOf(s); t {
	case "object":
		return m.object(s, depth)
	case "array":
		return m.array(s, depth)
	case "string":
		return m.text(s)
	case "integer", "number":
		return m.number(s, t)
	case "boolean":
		return m.r.IntN(2) == 0
	case "null":
		return nil
	}
	return m.any()
}

func (m *maker) typeOf(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		if len(t) > 0 {
			name, _ := t[m.r.IntN(len(t))].(string)
			return name
		}
	}
	for _, key := range []string{"properties", "required", "dependentSchemas", "patternProperties"} {
		if s[key] != nil {
			return "object"
		}
	}
	return ""
}

func (m *maker) follow(ref string) any {
	var at any = m.root
	for part := range strings.SplitSeq(strings.Trim(ref, "#/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch v := at.(type) {
		case map[string]any:
			if part != "" {
				at = v[part]
			}
		case []any:
			i := 0
			fmt.Sscan(part, &i)
			if i >= len(v) {
				return nil
			}
			at = v[i]
		}
	}
	return at
}

func (m *maker) object(s map[string]any, depth int) any {
	out := map[string]any{}
	props, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(mapKeys(props)) {
		if slices.Contains(required, any(name)) || m.r.IntN(2) == 0 && depth < 6 {
			out[name] = m.make(props[name], depth+1)
		}
	}
	for _, name := range required {
		if n, ok := name.(string); ok && out[n] == nil && props[n] == nil {
			out[n] = m.make(s["additionalProperties"], depth+1)
		}
	}
	for _, part := range m.parts(s) {
		if more, ok := m.make(part, depth+1).(map[string]any); ok && m.r.IntN(3) > 0 {
			maps.Copy(out, more)
		}
	}
	if closed, ok := s["additionalProperties"].(bool); (!ok || closed) && m.r.IntN(6) == 0 {
		out["other"] = m.make(s["additionalProperties"], depth+1)
	}
	return out
}

// parts are the schemas that an object applies to itself: all of allOf, one of a union, what a
// condition and a member bring.
func (m *maker) parts(s map[string]any) []any {
	all, _ := s["allOf"].([]any)
	all = slices.Clone(all)
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 {
			all = append(all, list[m.r.IntN(len(list))])
		}
	}
	for _, key := range []string{"if", "then", "else"} {
		if s[key] != nil && m.r.IntN(2) == 0 {
			all = append(all, s[key])
		}
	}
	named, _ := s["dependentSchemas"].(map[string]any)
	for _, name := range slices.Sorted(mapKeys(named)) {
		all = append(all, named[name])
	}
	return all
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (m *maker) array(s map[string]any, depth int) any {
	out := []any{}
	prefix, ok := s["prefixItems"].([]any)
	if !ok {
		prefix, _ = s["items"].([]any)
	}
	for _, item := range prefix {
		out = append(out, m.make(item, depth+1))
	}
	if prefix == nil {
		n, _ := s["minItems"].(json.Number)
		least, _ := n.Int64()
		for range int(least) + m.r.IntN(3) {
			out = append(out, m.make(s["items"], depth+1))
		}
	}
	return out
}

func (m *maker) text(s map[string]any) any {
	words := []string{"", "a", "é", "text", "2026-01-02T03:04:05Z", "2026-01-02", "a@example.com", "https://example.com/x", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "10.0.0.1", "12"}
	word := words[m.r.IntN(len(words))]
	if n, ok := s["minLength"].(json.Number); ok {
		least, _ := n.Int64()
		for int64(len([]rune(word))) < least && least < 200 {
			word += "x"
		}
	}
	return word
}

func (m *maker) number(s map[string]any, t string) any {
	base := 0.0
	for _, key := range []string{"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"} {
		if n, ok := s[key].(json.Number); ok && m.r.IntN(2) == 0 {
			base, _ = n.Float64()
		}
	}
	if base > 1e15 || base < -1e15 {
		base = 7
	}
	base += float64(m.r.IntN(5) - 2)
	if t == "number" && m.r.IntN(2) == 0 {
		base += 0.5
	}
	return base
}

func (m *maker) any() any {
	return []any{nil, true, "x", 1, 1.5, []any{}, []any{"x"}, map[string]any{}, map[string]any{"other": 1}}[m.r.IntN(9)]
}

// spoil changes one place of a value.
func (m *maker) spoil(v any, depth int) any {
	switch v := v.(type) {
	case map[string]any:
		names := slices.Sorted(mapKeys(v))
		switch n := m.r.IntN(6); {
		case n == 0 && len(names) > 0:
			delete(v, names[m.r.IntN(len(names))])
			return v
		case n == 1:
			v["other"] = m.any()
			return v
		case n > 1 && len(names) > 0:
			name := names[m.r.IntN(len(names))]
			v[name] = m.spoil(v[name], depth+1)
			return v
		}
	case []any:
		switch n := m.r.IntN(3); {
		case n == 0 && len(v) > 0:
			return v[1:]
		case n == 1:
			return append(v, m.any())
		case len(v) > 0:
			i := m.r.IntN(len(v))
			v[i] = m.spoil(v[i], depth+1)
			return v
		}
	case string:
		if m.r.IntN(2) == 0 {
			return v + strings.Repeat("y", m.r.IntN(40))
		}
	case float64:
		if m.r.IntN(2) == 0 {
			return v*2 + 0.25
		}
	}
	if depth == 0 {
		return v
	}
	return m.any()
}

// decoded is a value as the independent validator reads it.
func decoded(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err)
	return v
}
