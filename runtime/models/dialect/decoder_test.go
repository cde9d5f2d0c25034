package dialect_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/models/dialect"
	"github.com/ambit-tools/ambit/runtime/models/internal/samples"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// declared returns the tools of a declaration, with the decoders that generated code has.
func declared(t *testing.T, path string, text []byte) []*runtime.Tool {
	t.Helper()
	f, err := dsl.Parse(path, text, dsl.WithPatterns(gen.PatternFault))
	require.NoError(t, err, "%s", text)
	tools, err := dynamic.Tools(f, nil)
	require.NoError(t, err)
	return tools
}

// declarations returns the tools of the examples, of declarations made of the schemas of a public
// server, and of so many made ones. A schema that no declaration can say is left out.
func declarations(t *testing.T, made int) []*runtime.Tool {
	t.Helper()
	files, err := filepath.Glob("../../../examples/*/*/tools.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	var tools []*runtime.Tool
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		tools = append(tools, declared(t, file, text)...)
	}
	list, err := samples.Real()
	require.NoError(t, err)
	for _, s := range list {
		tools = append(tools, imported(t, s)...)
	}
	for seed := uint64(0); made > 0; seed++ {
		require.Less(t, seed, uint64(10_000), "few schemas can be declared")
		one := imported(t, samples.Random(seed))
		tools, made = append(tools, one...), made-len(one)
	}
	return tools
}

// imported returns the tool of a declaration that is made of a schema, if one can say it.
func imported(t *testing.T, s samples.Sample) []*runtime.Tool {
	t.Helper()
	list, err := json.Marshal(map[string]any{"tools": []any{map[string]any{"name": s.Name, "description": "Does it.", "inputSchema": s.Schema}}})
	require.NoError(t, err)
	r, err := importer.MCP(list, importer.Options{Package: "made", Path: "tools.yaml"})
	require.NoError(t, err, s.Name)
	if r.Text == nil {
		return nil
	}
	return declared(t, "tools.yaml", r.Text)
}

// TestNotesNameWhatTheDecoderRefuses: when a tool refuses a value that a dialect allows, a note names each
// keyword that the value breaks, at its place.
func TestNotesNameWhatTheDecoderRefuses(t *testing.T) {
	tried, refused := 0, map[string]int{}
	for i, tool := range declarations(t, battery.Count(t, 40, 200)) {
		published := []byte(*tool.Spec().InputSchema)
		var root map[string]any
		require.NoError(t, json.Unmarshal(published, &root))
		for _, d := range []dialect.Dialect{dialect.JSONSchema, dialect.OpenAI, dialect.OpenAIStrict, dialect.Anthropic, dialect.AnthropicStrict, dialect.Gemini} {
			s, err := dialect.Rewrite(published, d)
			require.NoError(t, err)
			rewritten := compile(t, s.JSON)
			w := &writer{r: rand.New(rand.NewPCG(uint64(i), uint64(d)))}
			require.NoError(t, json.Unmarshal(s.JSON, &w.root))
			for range 16 {
				text, err := json.Marshal(w.value(w.root, 0))
				require.NoError(t, err)
				if rewritten.Validate(parsed(t, text)) != nil {
					continue
				}
				tried++
				text = s.Restore(text)
				_, violations := tool.Decode(text)
				for _, v := range violations {
					refused[v.Keyword]++
					require.True(t, (&places{root: root}).named(t, v, text, s.Notes), "%s in %v allows %s: %v\n%s\n%s\nnotes %v", tool.Name(), d, text, v, published, s.JSON, s.Notes)
				}
			}
		}
	}
	t.Logf("%d values, refused for %v", tried, refused)
	require.Greater(t, tried, 1_000)
	for _, keyword := range []string{"maxLength", "pattern", "minimum", "multipleOf", "maxItems"} {
		require.Positive(t, refused[keyword], keyword)
	}
}

// places finds where a schema speaks of a value.
type places struct {
	root  map[string]any
	found []string // JSON Pointers of the schemas of the value
	in    []string // of the tuples that the value is in, by position
}

// named reports whether a note names the keyword that a value breaks, at a place of the schema that
// speaks of the value.
func (p *places) named(t *testing.T, v wire.Violation, text []byte, notes []dialect.Note) bool {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(text, &value))
	p.find("", p.root, value, strings.Split(v.Pointer, "/")[1:])
	keywords := []string{v.Keyword}
	if v.Keyword == "maxItems" { // of a tuple the schema says it by "items": false
		keywords = append(keywords, "items")
	}
	return slices.ContainsFunc(notes, func(n dialect.Note) bool {
		return slices.Contains(keywords, n.Keyword) && slices.Contains(p.found, n.At) || n.Keyword == "prefixItems" && slices.Contains(p.in, n.At)
	})
}

// find goes down from the schema at a place, by the names of a value.
func (p *places) find(at string, schema any, value any, names []string) {
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		name := strings.NewReplacer("~1", "/", "~0", "~", "%25", "%").Replace(strings.TrimPrefix(ref, "#/$defs/"))
		p.find("/$defs/"+escaped(name), p.root["$defs"].(map[string]any)[name], value, names)
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		for i, branch := range asList(s[keyword]) {
			if p.fits(branch, value) {
				p.find(fmt.Sprintf("%s/%s/%d", at, keyword, i), branch, value, names)
			}
		}
	}
	if len(names) == 0 {
		p.found = append(p.found, at)
		return
	}
	switch value := value.(type) {
	case map[string]any:
		name := strings.NewReplacer("~1", "/", "~0", "~").Replace(names[0])
		if props, ok := s["properties"].(map[string]any); ok && props[name] != nil {
			p.find(at+"/properties/"+escaped(name), props[name], value[name], names[1:])
		}
	case []any:
		i, err := strconv.Atoi(names[0])
		tuple := asList(s["prefixItems"])
		switch {
		case err != nil || i >= len(value):
		case i < len(tuple):
			p.in = append(p.in, at)
			p.find(fmt.Sprintf("%s/prefixItems/%d", at, i), tuple[i], value[i], names[1:])
		default:
			p.find(at+"/items", s["items"], value[i], names[1:])
		}
	}
}

// fits reports whether a value has the constants of a branch of a union.
func (p *places) fits(branch, value any) bool {
	s, _ := branch.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		return p.fits(p.root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")], value)
	}
	members, _ := value.(map[string]any)
	props, _ := s["properties"].(map[string]any)
	for name, schema := range props {
		c, constant := schema.(map[string]any)["const"]
		if have, ok := members[name]; ok && constant && have != c {
			return false
		}
	}
	return true
}

func escaped(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
