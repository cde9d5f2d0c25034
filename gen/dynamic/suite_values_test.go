package dynamic_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/gen/dynamic/internal/answer"
	"github.com/ambit-tools/ambit/internal/battery"
)

// TestSuiteValues holds generated code to another validator: by values that are made of
// those of the official suite, for each of its schemas.
func TestSuiteValues(t *testing.T) {
	folder := os.Getenv(suiteFolder)
	if folder == "" {
		t.Skipf("%s names no folder", suiteFolder)
	}
	remotes := suiteRemotes(t, folder)
	s := &suite{types: map[string]any{}, tools: map[string]any{}, remotes: remotes, whole: true}
	for _, file := range glob(t, folder, "tests", "draft2020-12", "*.json") {
		s.add(t, file)
	}
	each := 5 // values of a schema
	if battery.Full(t) {
		each = 600
	}
	for round := range battery.Count(t, 1, 1) {
		values := s.compare(t, uint64(round), each)
		require.True(t, !battery.Full(t) || values >= 200_000)
	}
}

// compare judges so many values of each schema, and returns how many these are.
func (s *suite) compare(t *testing.T, round uint64, each int) int {
	t.Helper()
	var inputs []answer.Input
	var wanted []error
	for i, g := range s.groups {
		schema := independent(t, s.remotes, g)
		m := newMixer(t, round<<32|uint64(i), g)
		for range each {
			text, err := json.Marshal(m.value())
			require.NoError(t, err)
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			require.NoError(t, err)
			inputs = append(inputs, answer.Input{Tool: g.tool, Text: []byte(`{"x":` + string(text) + `}`)})
			wanted = append(wanted, schema.Validate(doc))
		}
	}
	f, err := declare(s.types, s.tools)
	require.NoError(t, err)
	out := run(t, f, strings.NewReplacer("agreed/agree", "agreed/suite", "agree.", "suite.").Replace(program), inputs)
	require.True(t, out.Scan(), "the specifications")
	both, neither := 0, 0
	for i, in := range inputs {
		require.True(t, out.Scan(), in)
		switch fits := strings.HasPrefix(out.Text(), `{"violations":null`); {
		case fits && wanted[i] == nil:
			both++
		case !fits && wanted[i] != nil:
			neither++
		default:
			assert.Fail(t, "another verdict", "%s %s: %.300s, and the other says %v", in.Tool, in.Text, out.Text(), wanted[i])
		}
	}
	t.Logf("%d values of %d schemas: %d fit by both, %d by neither", len(inputs), len(s.groups), both, neither)
	require.Greater(t, both, len(inputs)/10)
	require.Greater(t, neither, len(inputs)/10)
	return len(inputs)
}

// A loader has the documents that schemas of the suite refer to.
type loader map[string]any

func (l loader) Load(url string) (any, error) {
	if doc, ok := l[url]; ok {
		return doc, nil
	}
	return nil, fmt.Errorf("there is no %s", url)
}

// independent is a schema of the suite by a validator that shares nothing with this module.
func independent(t *testing.T, remotes map[string]any, g suiteGroup) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(g.schema))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.UseLoader(loader(remotes))
	require.NoError(t, c.AddResource("https://schemas.test/group.json", doc))
	schema, err := c.Compile("https://schemas.test/group.json")
	require.NoError(t, err, string(g.schema))
	return schema
}

// A mixer makes values of what stands in a schema and in the values that the suite has for it.
type mixer struct {
	r     *rand.Rand
	whole []any
	parts []any
	names []string
}

func newMixer(t *testing.T, seed uint64, g suiteGroup) *mixer {
	t.Helper()
	m := &mixer{r: rand.New(rand.NewPCG(seed, 29)), parts: []any{nil, true, json.Number("0"), json.Number("1"), "", "a", []any{}, map[string]any{}}, names: []string{"other"}}
	for _, value := range g.values {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
		require.NoError(t, err)
		m.whole = append(m.whole, v)
		m.collect(v)
	}
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(g.schema))
	require.NoError(t, err)
	m.collect(schema)
	return m
}

func (m *mixer) collect(v any) {
	m.parts = append(m.parts, v)
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			m.collect(item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			m.names = append(m.names, name)
			m.collect(v[name])
		}
	}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// value is a value of the suite in which up to three places are changed.
func (m *mixer) value() any {
	v := pick(m.r, m.whole)
	for range m.r.IntN(4) {
		v = m.change(v)
	}
	return v
}

// change returns a value with one place changed. It does not change v itself.
func (m *mixer) change(v any) any {
	switch v := v.(type) {
	case []any:
		v = slices.Clone(v)
		switch n := m.r.IntN(4); {
		case n == 0:
			return append(v, pick(m.r, m.parts))
		case n == 1 && len(v) > 0:
			return append(v, pick(m.r, v))
		case n == 2 && len(v) > 0:
			return v[:len(v)-1]
		case len(v) > 0:
			i := m.r.IntN(len(v))
			v[i] = m.change(v[i])
			return v
		}
	case map[string]any:
		v = maps.Clone(v)
		names := slices.Sorted(maps.Keys(v))
		switch n := m.r.IntN(4); {
		case n == 0:
			v[pick(m.r, m.names)] = pick(m.r, m.parts)
			return v
		case n == 1 && len(names) > 0:
			delete(v, pick(m.r, names))
			return v
		case len(names) > 0:
			name := pick(m.r, names)
			v[name] = m.change(v[name])
			return v
		}
	case string:
		if m.r.IntN(2) == 0 {
			return v + pick(m.r, []string{"a", "é", "x1", "💩"})
		}
	case json.Number:
		if f, err := v.Float64(); err == nil && m.r.IntN(2) == 0 && max(f, -f) < 1e9 {
			return json.Number(fmt.Sprint(f + pick(m.r, []float64{-1, -0.5, 0.25, 1, 2})))
		}
	}
	return pick(m.r, m.parts)
}
