// Package samples has schemas of tools to test with: made ones, those of a public server, and those
// of the examples.
package samples

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// testdata/github.jsonl are tools of github.com/github/github-mcp-server at 64a49f34d0, from
// pkg/github/__toolsnaps__, one a line. Copyright (c) 2025 GitHub, MIT License.
//
//go:embed testdata/github.jsonl
var github []byte

// A Sample is the input schema of a tool.
type Sample struct {
	Name   string          `json:"tool"`
	Schema json.RawMessage `json:"inputSchema"`
}

// Real returns the tools of a public server.
func Real() ([]Sample, error) { return read(github) }

// read reads a sample a line.
func read(text []byte) ([]Sample, error) {
	var out []Sample
	for line := range bytes.Lines(text) {
		var s Sample
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// Examples returns the inputs of the tools in the folder examples of a checkout.
func Examples(checkout string) ([]Sample, error) {
	files, err := filepath.Glob(filepath.Join(checkout, "examples", "*", "*", "schemas", "*.input.json"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s holds no examples", checkout)
	}
	if err != nil {
		return nil, err
	}
	var out []Sample
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		out = append(out, Sample{strings.TrimSuffix(filepath.Base(file), ".input.json"), text})
	}
	return out, nil
}

// Random returns the schema of an object in the form in which this module publishes schemas. The
// same seed gives the same schema.
func Random(seed uint64) Sample {
	g := &maker{r: rand.New(rand.NewPCG(seed, 17))}
	root := g.object(0)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	if len(g.defs) > 0 {
		root["$defs"] = g.defs
	}
	text, err := json.Marshal(root)
	if err != nil {
		panic(err) // maps, lists and texts have a JSON form
	}
	return Sample{fmt.Sprintf("random_%d", seed), text}
}

type (
	node  = map[string]any
	maker struct {
		r    *rand.Rand
		defs node
	}
)

// maxDepth is how deep made schemas are.
const maxDepth = 3

func (g *maker) coin() bool { return g.r.IntN(2) == 0 }

// maybe adds a keyword in one of two schemas.
func (g *maker) maybe(n node, keyword string, value any) {
	if g.coin() {
		n[keyword] = value
	}
}

func (g *maker) object(depth int) node {
	props, required := node{}, []string{}
	for i := range 1 + g.r.IntN(4) {
		name := fmt.Sprintf("m%d", i)
		props[name] = g.schema(depth + 1)
		if g.coin() {
			required = append(required, name)
		}
	}
	n := node{"type": "object", "properties": props, "additionalProperties": g.r.IntN(12) == 0}
	if len(required) > 0 {
		n["required"] = required
	}
	if g.r.IntN(8) == 0 {
		n["maxProperties"] = 2
	}
	return n
}

// schema returns the schema of any value.
func (g *maker) schema(depth int) node {
	var n node
	switch k := g.r.IntN(12); {
	case k < 3 && depth < maxDepth:
		n = g.object(depth)
	case k == 3 && depth < maxDepth:
		n = g.union(depth)
	case k == 4 && depth < maxDepth:
		n = g.array(depth)
	case k == 5 && depth < maxDepth:
		return g.reference(depth)
	default:
		n = g.scalar()
	}
	g.maybe(n, "description", "Says \"what\" it is for & <more>.")
	if g.r.IntN(10) == 0 {
		n["x-sensitive"] = true
	}
	return n
}

func (g *maker) scalar() node {
	n := node{}
	switch g.r.IntN(6) {
	case 0:
		n["type"] = "integer"
		g.maybe(n, "minimum", 1)
		g.maybe(n, "maximum", 5)
		g.maybe(n, "multipleOf", 2)
		g.maybe(n, "default", 4)
	case 1:
		n["type"] = "number"
		g.maybe(n, "exclusiveMinimum", 0.5)
		g.maybe(n, "exclusiveMaximum", 4)
	case 2:
		n["type"] = "boolean"
	case 3:
		n["type"], n["enum"] = "string", []any{"a", "b"}
	case 4:
		n["type"], n["const"] = "string", "a"
		return n
	default:
		n["type"] = "string"
		g.maybe(n, "minLength", 1)
		g.maybe(n, "maxLength", 2)
		if g.coin() {
			n["pattern"] = []string{"^[ab]+$", "^(?!b)"}[g.r.IntN(2)]
		}
		if g.r.IntN(4) == 0 {
			n["format"] = []string{"date", "uri", "email"}[g.r.IntN(3)]
		}
	}
	if g.r.IntN(4) == 0 {
		if list, ok := n["enum"].([]any); ok {
			n["enum"] = append(list, nil)
		}
		n["type"] = []any{n["type"], "null"}
	}
	return n
}

func (g *maker) array(depth int) node {
	if g.r.IntN(4) == 0 {
		items := []any{g.schema(depth + 1), g.schema(depth + 1)}
		return node{"type": "array", "prefixItems": items, "items": false, "minItems": 2}
	}
	n := node{"type": "array", "items": g.schema(depth + 1)}
	g.maybe(n, "minItems", g.r.IntN(3))
	g.maybe(n, "maxItems", 3)
	if g.r.IntN(4) == 0 {
		n["uniqueItems"] = true
	}
	return n
}

// union returns a union of objects that their member kind tells apart.
func (g *maker) union(depth int) node {
	var branches []any
	for _, kind := range []string{"one", "two"} {
		o := g.object(depth + 1)
		o["properties"].(node)["kind"] = node{"type": "string", "const": kind}
		required, _ := o["required"].([]string)
		o["required"] = append([]string{"kind"}, required...)
		branches = append(branches, o)
	}
	return node{"oneOf": branches}
}

// reference returns a reference to a schema that is made first, which may refer to itself.
func (g *maker) reference(depth int) node {
	if g.defs == nil {
		g.defs = node{}
	}
	name := fmt.Sprintf("T%d/%%~", len(g.defs))
	ref := "#/$defs/" + strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(name)
	g.defs[name] = node{}
	def := g.object(depth + 1)
	if g.r.IntN(4) == 0 {
		def["properties"].(node)["again"] = node{"$ref": ref}
	}
	g.defs[name] = def
	n := node{"$ref": ref}
	g.maybe(n, "description", "What is referred to.")
	return n
}

// All returns the examples of a checkout, the tools of a public server and twice n made schemas.
func All(checkout string, n int) ([]Sample, error) {
	list, err := Examples(checkout)
	if err != nil {
		return nil, err
	}
	real, err := Real()
	for seed := range n {
		real = append(real, Random(uint64(seed)), Complete(uint64(seed)))
	}
	return append(list, real...), err
}

// ImportedVariable names a file of schemas, a [Sample] a line, that the program imported writes.
const ImportedVariable = "AMBIT_IMPORTED_SCHEMAS"

// Everything returns All, and what is in the file that ImportedVariable names.
func Everything(checkout string, n int) ([]Sample, error) {
	list, err := All(checkout, n)
	if path := os.Getenv(ImportedVariable); err == nil && path != "" {
		var text []byte
		if text, err = os.ReadFile(path); err == nil {
			var imported []Sample
			imported, err = read(text)
			list = append(list, imported...)
		}
	}
	return list, err
}
