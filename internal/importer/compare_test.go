package importer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/internal/importer"
	"github.com/ambit-tools/ambit/internal/importer/normalize"
	"github.com/ambit-tools/ambit/runtime"
)

// A comparison counts values that an imported tool and the schema of its source judge.
type comparison struct {
	values, both, narrower, skipped int
	// exactly counts the values of tools that are held to the schema of the source with what the
	// import said of it, and not only to what the import may have said somewhere.
	exactly int
}

// A judged tool is an imported one with the schemas that it is held to.
type judged struct {
	name     string
	tool     *runtime.Tool
	original *jsonschema.Schema
	// narrowed is the schema of the source with the objects closed of which the import said so; nil
	// where the draft of the source cannot say it.
	narrowed *jsonschema.Schema
	said     map[normalize.Kind]bool
}

// compare imports an answer and judges so many values of each of its tools.
func (c *comparison) compare(t *testing.T, source string, src []byte, count int) {
	t.Helper()
	r, err := importer.MCP(src, options)
	require.NoError(t, err, source)
	if r.Text == nil {
		return
	}
	f, err := dsl.Parse("tools.yaml", r.Text, dsl.WithPatterns(gen.PatternFault))
	require.NoError(t, err, source)
	tools, err := dynamic.Tools(f, nil)
	require.NoError(t, err, source)
	entries := entriesOf(t, src)
	for _, tool := range tools {
		name := tool.Spec().Alias
		if name == "" {
			name = tool.Name()
		}
		original, doc := compiled(entries[name])
		if original == nil {
			c.skipped++
			continue
		}
		j := &judged{name: source + ": " + name, tool: tool, original: original, said: map[normalize.Kind]bool{}}
		var closed []string
		var wanted [][2]string
		for _, change := range r.Changes {
			if change.Tool != name || strings.HasPrefix(change.Pointer, "/outputSchema") {
				continue
			}
			j.said[change.Kind] = true
			switch pointer := strings.TrimPrefix(change.Pointer, "/inputSchema"); change.Kind {
			case normalize.Closed:
				closed = append(closed, pointer)
			case normalize.Required:
				wanted = append(wanted, [2]string{pointer, change.Text})
			}
		}
		j.narrowed = narrowed(entries[name], closed, wanted)
		seed := fnv.New64()
		_, _ = seed.Write([]byte(j.name))
		g := &maker{r: rand.New(rand.NewPCG(1, seed.Sum64())), root: doc}
		for range count {
			c.judge(t, j, g.value())
		}
	}
}

// judge holds one value against all.
func (c *comparison) judge(t *testing.T, j *judged, value any) {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	doc := decoded(t, string(text))
	refused := j.original.Validate(doc)
	_, violations := j.tool.Decode(text)
	c.values++
	switch {
	case refused == nil && violations == nil:
		c.both++
	case refused != nil && violations == nil:
		assert.Fail(t, "wider", "%s takes %s: %v", j.name, text, refused)
	case refused == nil && violations != nil:
		c.narrower++
	}
	if _, object := value.(map[string]any); refused != nil || !object {
		return // arguments are an object, whatever the source says of other values
	}
	if j.narrowed != nil {
		c.exactly++
		if closed := j.narrowed.Validate(doc); closed != nil {
			assert.NotNil(t, violations, "not closed: %s takes %s: %v", j.name, text, closed)
			return
		}
	}
	for _, v := range violations {
		switch keyword := fmt.Sprint(v.Keyword); {
		case keyword == "additionalProperties" && j.said[normalize.Closed] && j.narrowed == nil:
		case keyword == "format" && j.said[normalize.FormatEnforced]:
		case (keyword == "anyOf" || keyword == "oneOf") && j.said[normalize.FormatEnforced]: // of a branch
		default:
			assert.Fail(t, "narrower", "%s refuses %s: %v", j.name, text, v)
		}
	}
}

// narrowed is a schema of a source in which the objects at closed take no other members than they and
// their parts name, and those that are required at wanted; nil where the draft of the source has no
// keyword for that.
func narrowed(schema []byte, closed []string, wanted [][2]string) *jsonschema.Schema {
	var root map[string]any
	if json.Unmarshal(schema, &root) != nil {
		return nil
	}
	draft, said := root["$schema"].(string)
	old := said && !strings.Contains(draft, "/draft/20")
	m := &maker{r: rand.New(rand.NewPCG(1, 1)), root: root}
	objects := map[string]map[string]any{}
	for _, pointer := range closed {
		s, ok := m.follow("#" + pointer).(map[string]any)
		if !ok {
			return nil
		}
		switch {
		case !old:
			s["unevaluatedProperties"] = false
		case len(m.parts(s)) > 0:
			return nil
		default:
			s["additionalProperties"] = false
		}
		objects[pointer] = s
	}
	for _, w := range wanted {
		var name string
		_, err := fmt.Sscanf(w[1], "member %s is required only", &name)
		at := w[0]
		if i := strings.LastIndex(at, "/required/"); i >= 0 && objects[at] == nil {
			at = at[:i]
		}
		if s := objects[at]; err == nil && s != nil {
			named, _ := s["properties"].(map[string]any)
			named = maps.Clone(named)
			if named == nil {
				named = map[string]any{}
			}
			if named[name] == nil {
				named[name] = map[string]any{}
			}
			s["properties"] = named
		}
	}
	text, err := json.Marshal(root)
	if err != nil {
		return nil
	}
	out, _ := compiled(text)
	return out
}

// compiled is a schema of a source by the independent validator; nil when that does not
// take it, which is so where a schema is broken or mixes drafts.
func compiled(schema []byte) (*jsonschema.Schema, map[string]any) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, nil
	}
	c := jsonschema.NewCompiler()
	if c.AddResource("tool.json", doc) != nil {
		return nil, nil
	}
	s, err := c.Compile("tool.json")
	root, ok := doc.(map[string]any)
	if err != nil || !ok {
		return nil, nil
	}
	return s, root
}
