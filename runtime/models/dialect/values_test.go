package dialect_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
)

// all returns the schemas of the examples, of a public server, made ones and those of a corpus, if any.
func all(t *testing.T) []samples.Sample {
	t.Helper()
	list, err := samples.Everything("../../..", battery.Count(t, 60, 200))
	require.NoError(t, err)
	return list
}

// TestRewritingAgainChangesNothing: a strict schema is in its dialect, and a note refuses one that
// is not strict. With a corpus all of its tools are among the samples.
func TestRewritingAgainChangesNothing(t *testing.T) {
	strict := map[dialect.Dialect]int{}
	list := all(t)
	for _, sample := range list {
		for _, d := range []dialect.Dialect{dialect.OpenAIStrict, dialect.AnthropicStrict} {
			s, err := dialect.Rewrite(sample.Schema, d)
			require.NoError(t, err)
			if !s.Strict {
				require.True(t, slices.ContainsFunc(s.Notes, func(n dialect.Note) bool { return n.Effect == dialect.Refused }), "%s: nothing says why strict mode is off", sample.Name)
				continue
			}
			strict[d]++
			again, err := dialect.Rewrite(s.JSON, d)
			require.NoError(t, err)
			require.Equal(t, string(s.JSON), string(again.JSON), "%s in %v", sample.Name, d)
			require.True(t, again.Strict)
			require.Empty(t, again.Notes, "%s in %v", sample.Name, d)
			require.Empty(t, again.Nullable)
		}
	}
	t.Logf("of %d schemas %v are strict", len(list), strict)
	if os.Getenv("AMBIT_IMPORTED_SCHEMAS") != "" { // the figures of docs/internal/figures.md are of that corpus
		require.Greater(t, strict[dialect.OpenAIStrict], 2_150)
		require.Greater(t, strict[dialect.AnthropicStrict], 2_150)
	}
	require.Greater(t, strict[dialect.OpenAIStrict], 40)
	require.Greater(t, strict[dialect.AnthropicStrict], 40)
}

func compile(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) { return pattern(s), nil })
	c.AssertFormat()
	require.NoError(t, c.AddResource("tool.json", doc))
	s, err := c.Compile("tool.json")
	require.NoError(t, err, string(text))
	return s
}

// A pattern is one of Go, or the lookahead of samples.Random, which Go does not have.
type pattern string

func (p pattern) MatchString(s string) bool {
	if p == "^(?!b)" {
		return !strings.HasPrefix(s, "b")
	}
	return regexp.MustCompile(string(p)).MatchString(s)
}

func (p pattern) String() string { return string(p) }

// A writer writes values as a model does that is held to a schema.
type writer struct {
	r    *rand.Rand
	root map[string]any
}

// written returns values as a model writes them that is held to a schema.
func written(t *testing.T, s *dialect.Schema, r *rand.Rand) (out [][]byte) {
	t.Helper()
	w := &writer{r: r}
	require.NoError(t, json.Unmarshal(s.JSON, &w.root))
	for range 16 {
		text, err := json.Marshal(w.value(w.root, 0))
		require.NoError(t, err)
		out = append(out, text)
	}
	return out
}

func (w *writer) value(v any, depth int) any {
	s, _ := v.(map[string]any)
	if depth > 12 {
		return nil
	}
	if ref, ok := s["$ref"].(string); ok {
		return w.value(w.target(ref), depth+1)
	}
	if list, ok := s["anyOf"].([]any); ok && len(list) > 0 {
		return w.value(list[w.r.IntN(len(list))], depth+1)
	}
	if c, ok := s["const"]; ok {
		return c
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[w.r.IntN(len(list))]
	}
	kind, _ := s["type"].(string)
	if list, ok := s["type"].([]any); ok && len(list) > 0 {
		kind = list[w.r.IntN(len(list))].(string)
	}
	switch kind {
	case "object":
		return w.object(s, depth)
	case "array":
		var out []any = make([]any, 0)
		items, tuple := s["prefixItems"].([]any)
		for i := range w.r.IntN(4) {
			if tuple && i < len(items) {
				out = append(out, w.value(items[i], depth+1))
			} else {
				out = append(out, w.value(s["items"], depth+1))
			}
		}
		return out
	case "string":
		return []string{"", "a", "b", "abba", "zz", "2024-02-30", "2024-02-29", "a@example.com", "a b"}[w.r.IntN(9)]
	case "integer":
		return json.Number([]string{"0", "1", "2", "4", "6"}[w.r.IntN(5)])
	case "number":
		return json.Number([]string{"0.5", "1.5", "4", "7"}[w.r.IntN(4)])
	case "boolean":
		return w.r.IntN(2) == 0
	case "null":
		return nil
	}
	return []any{nil, true, "a", json.Number("4"), json.Number("0.5"), []any{}, []any{"a", "a"}, map[string]any{}, map[string]any{"m0": "a"}}[w.r.IntN(9)]
}

// target returns what a local reference leads to.
func (w *writer) target(ref string) any {
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return nil
	}
	var v any = w.root
	for _, token := range strings.Split(pointer, "/")[1:] {
		switch x := v.(type) {
		case map[string]any:
			v = x[strings.NewReplacer("~1", "/", "~0", "~").Replace(token)]
		case []any:
			if i, err := strconv.Atoi(token); err == nil && i < len(x) {
				v = x[i]
			}
		}
	}
	return v
}

func (w *writer) object(s map[string]any, depth int) any {
	out := map[string]any{}
	required := map[any]bool{}
	for _, name := range asList(s["required"]) {
		required[name] = true
	}
	props, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if required[name] || depth < 6 && w.r.IntN(2) == 0 {
			out[name] = w.value(props[name], depth+1)
		}
	}
	if more := s["additionalProperties"]; more != false && w.r.IntN(3) == 0 {
		names := []string{"more", "m0", "m9", "a", "foo", "x-y", "ß", ""}
		if name := names[w.r.IntN(len(names))]; props[name] == nil {
			out[name] = w.value(more, depth+1)
		}
	}
	return out
}

func asList(v any) []any { list, _ := v.([]any); return list }

// TestNotesNameWhatIsWider: of a value that a dialect allows and the published schema refuses, a note names
// each keyword that it breaks, at its place. An independent validator judges, so that the schemas may
// be others than declarations have.
func TestNotesNameWhatIsWider(t *testing.T) {
	tried, wider := 0, 0
	for i, sample := range all(t) {
		published := compile(t, sample.Schema)
		for _, d := range []dialect.Dialect{dialect.OpenAI, dialect.OpenAIStrict, dialect.Anthropic, dialect.AnthropicStrict, dialect.Gemini} {
			s, err := dialect.Rewrite(sample.Schema, d)
			require.NoError(t, err)
			rewritten := compile(t, s.JSON)
			for _, text := range written(t, s, rand.New(rand.NewPCG(uint64(i), uint64(d)))) {
				if rewritten.Validate(parsed(t, text)) != nil {
					continue
				}
				tried++
				if err := published.Validate(parsed(t, s.Restore(text))); err != nil {
					wider++
					require.True(t, named(err.(*jsonschema.ValidationError), s.Notes), "%s in %v allows %s: %v\n%s\n%s\nnotes %v", sample.Name, d, text, err, sample.Schema, s.JSON, s.Notes)
				}
			}
		}
	}
	t.Logf("%d values, of which the published schema refuses %d", tried, wider)
	require.Greater(t, tried, 1_000)
	require.Greater(t, wider, 50)
}

func parsed(t *testing.T, text []byte) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err, string(text))
	return v
}

// named reports whether notes name every keyword that a value breaks, where the schema says it, or a keyword that
// has it in it. Of the branches of a union it has to be so in one.
func named(e *jsonschema.ValidationError, notes []dialect.Note) bool {
	_, at, _ := strings.Cut(e.SchemaURL, "#")
	at = strings.NewReplacer("%25", "%", "%7E", "~").Replace(at)
	switch path := e.ErrorKind.KeywordPath(); e.ErrorKind.(type) {
	case *kind.FalseSchema:
		at += "/false"
	case *kind.Not:
		at += "/not"
	default:
		if len(path) > 0 {
			at += "/" + path[0]
		}
	}
	for _, n := range notes {
		if own := n.At + "/" + n.Keyword; at == own || strings.HasPrefix(at, own+"/") {
			return true
		}
	}
	below := func(e *jsonschema.ValidationError) bool { return named(e, notes) }
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		return slices.ContainsFunc(e.Causes, below)
	}
	return len(e.Causes) > 0 && !slices.ContainsFunc(e.Causes, func(e *jsonschema.ValidationError) bool { return !below(e) })
}
