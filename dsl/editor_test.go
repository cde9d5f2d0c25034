package dsl

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plain turns a node into the value that a JSON Schema validator wants.
func (n *node) plain() any {
	switch n.kind {
	case nodeBool:
		return n.text == "true"
	case nodeNumber:
		return json.Number(n.text)
	case nodeString:
		return n.text
	case nodeList:
		out := make([]any, len(n.items))
		for i, item := range n.items {
			out[i] = item.plain()
		}
		return out
	case nodeMap:
		out := make(map[string]any)
		for _, e := range n.pairs {
			out[e.name] = e.val.plain()
		}
		return out
	}
	return nil
}

func compileEditorSchema(t *testing.T) *jsonschema.Schema {
	text, err := EditorSchema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	require.NoError(t, c.AddResource("ambit.json", doc))
	s, err := c.Compile("ambit.json")
	require.NoError(t, err)
	return s
}

// declarations are the good fixtures and everything under examples.
func declarations(t *testing.T) []string {
	paths := fixtures(t, "good")
	err := filepath.WalkDir("../examples", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "tools.yaml" {
			paths = append(paths, path)
		}
		return nil // there may be no examples beside a copy of this package
	})
	require.NoError(t, err)
	return paths
}

func TestEditorSchemaAcceptsDeclarations(t *testing.T) {
	schema := compileEditorSchema(t)
	for _, path := range declarations(t) {
		src := read(t, path)
		_, err := Parse(path, src)
		require.NoError(t, err)
		p := &parser{src: source{path: path}}
		assert.NoError(t, schema.Validate(p.load(src).plain()), path)
	}
}

// marker begins the first line of the bad fixtures that the schema cannot refuse;
// the rest of the line says why.
const marker = "# the schema accepts this: "

func TestEditorSchemaRejectsBadFixtures(t *testing.T) {
	schema := compileEditorSchema(t)
	rejected := 0
	for _, path := range fixtures(t, "bad") {
		src := read(t, path)
		p := &parser{src: source{path: path}}
		root := p.load(src)
		if root == nil {
			continue // no YAML: an editor says so without the schema
		}
		why, excused := strings.CutPrefix(strings.SplitN(string(src), "\n", 2)[0], marker)
		err := schema.Validate(root.plain())
		if excused {
			assert.NoError(t, err, "%s is rejected: remove its marker", path)
			assert.NotEmpty(t, why, path)
			continue
		}
		assert.Error(t, err, "%s: teach the schema, or begin the file with %q and the reason", path, marker)
		rejected++
	}
	require.Greater(t, rejected, 50)
}

// TestEditorSchemaPatternsArePortable: Python, RE2 and JavaScript with and without the
// flag u read these escapes alike; \p{L} ends most of them with an error.
func TestEditorSchemaPatternsArePortable(t *testing.T) {
	text, err := EditorSchema()
	require.NoError(t, err)
	var schema any
	require.NoError(t, json.Unmarshal(text, &schema))
	escape := regexp.MustCompile(`\\(x[0-9a-f]{2}|.)`)
	patterns := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, item := range v {
				if pattern, ok := item.(string); ok && key == "pattern" {
					patterns++
					for _, e := range escape.FindAllString(pattern, -1) {
						assert.Regexp(t, `^\\([.+$S\[]|x00|x7f)$`, e, pattern)
					}
					assert.NotContains(t, pattern, "(?", pattern)
				}
				walk(item)
			}
		}
	}
	walk(schema)
	require.Greater(t, patterns, 10)
}

func TestEditorSchemaKnowsPackageNames(t *testing.T) {
	name := compileEditorSchema(t)
	for pkg, good := range map[string]bool{
		"notetools": true, "größe": true, "ノート": true, "_x9": true, "N": true, strings.Repeat("x", 64): true,
		"": false, "9x": false, "a-b": false, "a b": false, "a.b": false, "func": false, "_": false, "init": false, "documentation": false, "error": false, "len": false, "a_test": false, "main": true, "a_tests": true, "x`": false, "x{": false, "a[": false, "a^": false,
		"@a": false, "a@": false, "a/b": false, "a:b": false, "a\x00": false, "a\x7f": false, strings.Repeat("x", 65): false,
	} {
		err := name.Validate(map[string]any{"ambit": "v1", "package": pkg, "tools": map[string]any{"x": map[string]any{}}})
		require.Error(t, err) // of the tool
		assert.Equal(t, !good, strings.Contains(err.Error(), "'/package'"), "%q: %v", pkg, err)
	}
}

func TestEditorSchemaIsStable(t *testing.T) {
	first, err := EditorSchema()
	require.NoError(t, err)
	for range 5 {
		again, err := EditorSchema()
		require.NoError(t, err)
		require.Equal(t, string(first), string(again))
	}
}

// TestEveryKeyIsDescribed: a key has a meaning, a word and a reader, and stands once in its
// mapping. The editor schema, docs/declaration.md and Parse have no other list.
func TestEveryKeyIsDescribed(t *testing.T) {
	l := newLevels()
	defs := map[string]bool{}
	checkKeys(t, defs, l.file)
	checkKeys(t, defs, l.defaults)
	checkKeys(t, defs, l.defaultConsent)
	checkKeys(t, defs, l.tool)
	checkKeys(t, defs, l.limits)
	checkKeys(t, defs, l.retry)
	checkKeys(t, defs, l.idempotency)
	checkKeys(t, defs, l.consent)
	checkKeys(t, defs, l.undo)
	checkKeys(t, defs, l.artifact)
	checkKeys(t, defs, l.deprecated)
	checkKeys(t, defs, l.setRules)
	checkKeys(t, defs, l.rules)
	checkKeys(t, defs, l.maxCalls)
	checkKeys(t, defs, l.cooldown)
	checkKeys(t, defs, l.preceding)
	checkKeys(t, defs, l.operations)
	checkKeys(t, defs, l.schema)
	checkKeys(t, defs, l.command)
	checkKeys(t, defs, l.element)
	checkKeys(t, defs, l.shell)
	checkKeys(t, defs, l.exit)
	checkKeys(t, defs, l.memoryBound)
	checkKeys(t, defs, l.sizeBound)
	checkKeys(t, defs, l.countBound)
	checkKeys(t, defs, l.timeBound)
	assert.Len(t, defs, reflect.TypeFor[levels]().NumField()-1, "a mapping of levels is not checked, or has no name of its own")

	text, err := EditorSchema()
	require.NoError(t, err)
	var schema struct {
		Defs map[string]any `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	for _, m := range regexp.MustCompile(`"\$ref": "#/\$defs/(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		assert.Contains(t, schema.Defs, m[1])
	}
}

func checkKeys[T any](t *testing.T, defs map[string]bool, l level[T]) {
	t.Helper()
	defs[l.def] = true
	assert.Len(t, slices.Compact(l.names()), len(l.keys), l.what)
	for _, k := range l.keys {
		assert.NotEmpty(t, k.doc, "%s: %s", l.what, k.name)
		assert.NotEmpty(t, k.is.words, "%s: %s", l.what, k.name)
		assert.NotNil(t, k.read, "%s: %s", l.what, k.name)
		assert.True(t, k.is.schema != nil || k.is.def != "", "%s: %s", l.what, k.name)
	}
}
