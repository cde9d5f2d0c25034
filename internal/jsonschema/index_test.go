package jsonschema_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

func index(t *testing.T, text string) (*jsonschema.Value, *jsonschema.Index[*jsonschema.Value]) {
	t.Helper()
	root, err := jsonschema.Parse([]byte(text), 256)
	require.NoError(t, err, text)
	return root, jsonschema.NewIndex(jsonschema.Values{}, root)
}

// TestFind follows references, from the schema at one pointer to another.
func TestFind(t *testing.T) {
	const tree = `{"$id": "https://example.com/tools/root.json", "$defs": {
		"a b": {"$anchor": "here", "type": "string"}, "c/d~e%f": {"type": "integer"}, "": {"type": "null"},
		"part": {"$id": "part.json", "$anchor": "here", "$defs": {"inner": {"$anchor": "inner"}, "deep": {"$id": "sub/deep.json", "items": {}}}},
		"host": {"$id": "/other/x.json"}, "urn": {"$id": "urn:uuid:deadbeef-1234", "$defs": {"u": {}}}, "dyn": {"$dynamicAnchor": "dyn"}},
		"prefixItems": [{}, {"not": {}}], "default": {"$id": "no.json", "$anchor": "no", "$ref": "#/default/not", "not": {}}, "enum": [{"$anchor": "no"}]}`
	root, x := index(t, tree)
	for _, c := range []struct {
		from, ref, to string // to: a pointer, or an error
	}{
		{"", "#", ""},
		{"", "", ""},
		{"", "#/$defs/a%20b", "/$defs/a b"},
		{"", "#/$defs/a b", "/$defs/a b"},
		{"", "#/$defs/c~1d~0e%25f", "/$defs/c~1d~0e%f"},
		{"", "#/%24defs/a%20b", "/$defs/a b"},
		{"", "#/$defs/", "/$defs/"},
		{"", "#/prefixItems/1/not", "/prefixItems/1/not"},
		{"", "#/prefixItems/01", "its JSON Pointer leads nowhere"},
		{"", "#/prefixItems/+1", "its JSON Pointer leads nowhere"},
		{"", "#/prefixItems/-1", "its JSON Pointer leads nowhere"},
		{"", "#/prefixItems/2", "its JSON Pointer leads nowhere"},
		{"", "#/$defs/a~2b", "its JSON Pointer leads nowhere"},
		{"", "#/$defs/missing", "its JSON Pointer leads nowhere"},
		{"", "#/$defs/a b/type/x", "its JSON Pointer leads nowhere"},
		{"", "#%zz", "it is no URI reference"},
		{"", "://", "it is no URI reference"},
		{"", "#here", "/$defs/a b"},
		{"", "#h%65re", "/$defs/a b"},
		{"", "#dyn", "/$defs/dyn"},
		{"", "#inner", "no schema has its anchor"},
		{"", "#no", "no schema has its anchor"},
		{"", "root.json", ""},
		{"", "./../tools/root.json#here", "/$defs/a b"},
		{"", "https://example.com/tools/root.json#/$defs/host", "/$defs/host"},
		{"", "part.json", "/$defs/part"},
		{"", "part.json#here", "/$defs/part"},
		{"", "part.json#/$defs/inner", "/$defs/part/$defs/inner"},
		{"", "//example.com/tools/part.json", "/$defs/part"},
		{"", "sub/deep.json", "/$defs/part/$defs/deep"},
		{"", "/other/x.json", "/$defs/host"},
		{"", "urn:uuid:deadbeef-1234#/$defs/u", "/$defs/urn/$defs/u"},
		{"", "no.json", "it leads out of the document"},
		{"", "https://json-schema.org/draft/2020-12/schema", "it leads out of the document"},
		{"", "file:///etc/passwd", "it leads out of the document"},
		{"/$defs/a b", "#", ""},
		{"/$defs/part", "#", "/$defs/part"},
		{"/$defs/part", "#inner", "/$defs/part/$defs/inner"},
		{"/$defs/part", "#here", "/$defs/part"},
		{"/$defs/part", "#/$defs/urn", "its JSON Pointer leads nowhere"},
		{"/$defs/part", "root.json#here", "/$defs/a b"},
		{"/$defs/part/$defs/inner", "#", "/$defs/part"},
		{"/$defs/part/$defs/deep", "../part.json", "/$defs/part"},
		{"/$defs/part/$defs/deep/items", "deep.json", "/$defs/part/$defs/deep"},
		{"/$defs/host", "tools/root.json", "it leads out of the document"},
		{"/$defs/host", "../tools/root.json", ""},
		{"/$defs/urn/$defs/u", "#/$defs/u", "/$defs/urn/$defs/u"},
		{"", "#/default", "/default"}, // a pointer may lead into a value, in which no $id counts
		{"/default", "#here", "/$defs/a b"},
		{"/default", "#/default/not", "/default/not"},
		{"", "#/enum/0", "/enum/0"},
	} {
		from, err := x.Find(root, "#"+c.from)
		require.NoError(t, err, c.from)
		to, err := x.Find(from, c.ref)
		have := ""
		if err != nil {
			have = err.Error()
		} else {
			have = to.Pointer
		}
		assert.Equal(t, c.to, have, "%s from %s", c.ref, c.from)
	}
	assert.Empty(t, x.Faults)
	for pointer, schema := range map[string]bool{"": true, "/$defs/part/$defs/deep/items": true, "/default": false, "/default/not": false, "/enum/0": false, "/prefixItems": false} {
		to, err := x.Find(root, "#"+pointer)
		require.NoError(t, err)
		assert.Equal(t, schema, x.IsSchema(to), pointer)
	}
}

// TestFindWithoutID: a root without $id, or with a relative one, has a place to start from.
func TestFindWithoutID(t *testing.T) {
	for _, id := range []string{``, `"$id": "tool.json", `, `"$id": "#", `, `"$id": "#name", `} {
		root, x := index(t, `{`+id+`"$defs": {"a": {"$id": "a.json", "$defs": {"b": {}}}, "b": {"$id": "b/c.json"}}}`)
		for ref, want := range map[string]string{"a.json": "/$defs/a", "./a.json#/$defs/b": "/$defs/a/$defs/b", "/b/c.json": "/$defs/b", "b/../a.json": "/$defs/a", "#/$defs/b": "/$defs/b"} {
			to, err := x.Find(root, ref)
			require.NoError(t, err, "%s %s", id, ref)
			assert.Equal(t, want, to.Pointer, "%s %s", id, ref)
		}
	}
}

// TestFaults: an $id or an anchor that names nothing, or not only one schema. What has one is led to by a pointer
// still, and by the resource that it stands in.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ text, fault, ref, want string }{
		{`{"$defs": {"a": {"$id": "x.json"}, "b": {"$id": "x.json"}}}`, "/$defs/b/$id: several schemas have its name", "x.json", "several schemas have its name"},
		{`{"$defs": {"a": {"$id": "x.json"}, "b": {"$id": "./x.json", "$defs": {"c": {}}}}}`, "/$defs/b/$id: several schemas have its name", "#/$defs/b/$defs/c", "/$defs/b/$defs/c"},
		{`{"$defs": {"a": {"$anchor": "x"}, "b": {"$anchor": "x"}}}`, "/$defs/b/$anchor: several schemas have its name", "#x", "several schemas have its name"},
		{`{"$defs": {"a": {"$anchor": "x"}, "b": {"$dynamicAnchor": "x"}}}`, "/$defs/b/$dynamicAnchor: several schemas have its name", "#x", "several schemas have its name"},
		{`{"$defs": {"a": {"$anchor": "x", "$dynamicAnchor": "x"}}}`, "", "#x", "/$defs/a"},
		{`{"$defs": {"a": {"$id": "#x"}}}`, "/$defs/a/$id: it is no URI reference", "#x", "/$defs/a"},
		{`{"$id": "https://a.b/c", "$defs": {"a": {"$id": "https://a.b/c#x"}}}`, "/$defs/a/$id: it is no URI reference", "#x", "/$defs/a"},
		{`{"$defs": {"a": {"$id": "x.json#y"}}}`, "/$defs/a/$id: it is no URI reference", "x.json#y", "/$defs/a"},
		{`{"$defs": {"a": {"$id": "x.json#"}}}`, "", "x.json#", "/$defs/a"},
		{`{"$defs": {"a": {"$id": ":"}}}`, "/$defs/a/$id: it is no URI reference", "#/$defs/a", "/$defs/a"},
		{`{"$defs": {"a": {"$id": ""}}}`, "/$defs/a/$id: several schemas have its name", "#/$defs/a", "/$defs/a"},
		{`{"$defs": {"a": {"$id": 1, "$anchor": ["x"]}}}`, "", "#/$defs/a", "/$defs/a"},
		{`{"$defs": {"a": {"$id": "` + strings.Repeat("x", 3000) + `"}}}`, "/$defs/a/$id: it is no URI reference", "#/$defs/a", "/$defs/a"},
	} {
		root, x := index(t, c.text)
		fault := ""
		for _, f := range x.Faults {
			fault += fmt.Sprintf("%s: %v", f.At.Pointer, f.Err)
		}
		assert.Equal(t, c.fault, fault, c.text)
		to, err := x.Find(root, c.ref)
		have := fmt.Sprint(err)
		if err == nil {
			have = to.Pointer
		}
		assert.Equal(t, c.want, have, c.text)
	}
}

// TestResources lists the resources, the anchors of each, and which schemas stand in them.
func TestResources(t *testing.T) {
	root, x := index(t, `{"$dynamicAnchor": "r", "$defs": {"a": {"$id": "a", "items": {"$dynamicAnchor": "one", "not": {"$dynamicAnchor": "two"}}}}}`)
	require.Len(t, x.Resources, 2)
	a := x.Resources[1]
	assert.Equal(t, "/$defs/a", a.Root.Pointer)
	assert.Same(t, x.Resources[0], a.Within)
	require.Len(t, a.Dynamic, 2)
	assert.Equal(t, "one", a.Dynamic[0].Name)
	assert.Equal(t, "/$defs/a/items/not", a.Dynamic[1].At.Pointer)
	assert.Same(t, a, x.Resource(a.Dynamic[1].At))
	assert.Same(t, x.Resources[0], x.Resource(root))
	assert.Same(t, x.Resources[0], x.Resource(&jsonschema.Value{}))
}

// TestSubschemas: what holds a schema, and what only looks like one.
func TestSubschemas(t *testing.T) {
	root, _ := index(t, `{"const": {}, "default": {}, "properties": {"properties": {}, "b": true}, "required": ["a"], "items": [{}, {}], "not": {}, "allOf": {},
		"anyOf": [{}, "no", []], "additionalProperties": false, "dependencies": {"a": ["b"], "b": {}}, "if": "no", "x-else": {}}`)
	var have []string
	for keyword, sub := range jsonschema.Subschemas(jsonschema.Values{}, root) {
		have = append(have, keyword+" "+sub.Pointer)
	}
	assert.Equal(t, []string{"properties /properties/properties", "properties /properties/b", "items /items/0", "items /items/1", "not /not", "anyOf /anyOf/0",
		"additionalProperties /additionalProperties", "dependencies /dependencies/b"}, have)
}

// TestPointer: only a pointer from the root is one.
func TestPointer(t *testing.T) {
	for ref, want := range map[string][]string{"#": {}, "#/a": {"a"}, "#/a%20b/c~1d~01": {"a b", "c/d~1"}, "#/": {""}, "#/%2Fa": {"", "a"}} {
		have, ok := jsonschema.Pointer(ref)
		assert.True(t, ok, ref)
		assert.Equal(t, want, have, ref)
	}
	for _, ref := range []string{"", "a", "a#/b", "#a", "#/~2", "#/%zz", "/a"} {
		_, ok := jsonschema.Pointer(ref)
		assert.False(t, ok, ref)
	}
}

// TestLargeObject: a reference to each of many definitions costs no search through all of them.
func TestLargeObject(t *testing.T) {
	const n = 20_000
	var b strings.Builder
	b.WriteString(`{"$defs": {"`)
	for i := range n {
		fmt.Fprintf(&b, `d%d": {}, "`, i)
	}
	root, err := jsonschema.Parse([]byte(b.String()+`last": {}}}`), 256)
	require.NoError(t, err)
	counted := &counting{}
	x := jsonschema.NewIndex(counted, root)
	for i := range n {
		to, err := x.Find(root, fmt.Sprintf("#/$defs/d%d", i))
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("/$defs/d%d", i), to.Pointer)
	}
	assert.Less(t, counted.members, 10*n)
}

// TestRandomReferencesEnd resolves references that lead anywhere, also in circles: each leads to a part of the document
// or to an error, and the same one each time.
func TestRandomReferencesEnd(t *testing.T) {
	found := 0
	for seed := range 1000 {
		r := rand.New(rand.NewPCG(uint64(seed), 93))
		root, x := index(t, randomSchema(r, 4))
		parts := map[*jsonschema.Value]bool{}
		var all []*jsonschema.Value
		var visit func(v *jsonschema.Value)
		visit = func(v *jsonschema.Value) {
			parts[v] = true
			all = append(all, v)
			for _, item := range v.Items {
				visit(item)
			}
			for _, m := range v.Members {
				visit(m.Value)
			}
		}
		visit(root)
		for _, v := range all {
			ref := v.Get("$ref")
			if !ref.Is(jsonschema.String) {
				continue
			}
			to, err := x.Find(v, ref.Text)
			again, errAgain := x.Find(v, ref.Text)
			require.Equal(t, err, errAgain)
			if err == nil {
				found++
				require.True(t, parts[to])
				require.Same(t, to, again)
			}
			require.NotNil(t, x.Resource(v))
		}
	}
	require.Greater(t, found, 500)
}

// randomSchema writes a schema of few names, so that references meet.
func randomSchema(r *rand.Rand, depth int) string {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	ref := func() string {
		return pick("#", "", "a", "b/c", "../a", "#x", "#y", "a#x", "#/$defs/a", "#/$defs/a/not", "#/not", "#/default", "#/allOf/0", "b/c#/not", "urn:a:b", "urn:a:b#x", "#/%zz", "://")
	}
	if depth == 0 {
		return `{"$ref": "` + ref() + `"}`
	}
	var members []string
	add := func(chance int, text func() string) {
		if r.IntN(chance) == 0 {
			members = append(members, text())
		}
	}
	sub := func() string { return randomSchema(r, depth-1) }
	add(2, func() string { return `"$ref": "` + ref() + `"` })
	add(3, func() string {
		return `"$id": "` + pick("a", "b/c", "/d", "urn:a:b", "#x", "a#y", "", ":", "../../..") + `"`
	})
	add(3, func() string { return `"` + pick("$anchor", "$dynamicAnchor") + `": "` + pick("x", "y") + `"` })
	add(2, func() string { return `"not": ` + sub() })
	add(3, func() string { return `"default": ` + sub() })
	add(3, func() string { return `"allOf": [` + sub() + `, ` + sub() + `]` })
	add(2, func() string { return `"$defs": {"a": ` + sub() + `, "b": ` + sub() + `}` })
	return "{" + strings.Join(members, ", ") + "}"
}
