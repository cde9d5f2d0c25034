package ir

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A resource is a schema that references name by its URI: a document, or a part of one
// that has an $id.
type resource struct {
	uri     *url.URL
	root    *dsl.Value
	anchors map[string]*dsl.Value
	dynamic []anchor  // in their order
	within  *resource // whose dialect holds where this one names none; nil at the root
	// plain says that its meta-schema has no keywords that limit values, annotates that in
	// it a format is an annotation.
	plain, annotates bool
}

type anchor struct {
	name string
	at   *dsl.Value
}

// A library is what references of the schemas of a file can lead to.
type library struct {
	b         *builder
	documents map[*dsl.Document]*shelf
	types     map[string]*dsl.NamedSchema
}

// A shelf is a document cut into resources.
type shelf struct {
	resources []*resource
	owner     map[*dsl.Value]*resource // of each schema
}

func newLibrary(b *builder) *library {
	l := &library{b: b, documents: map[*dsl.Document]*shelf{}, types: map[string]*dsl.NamedSchema{}}
	for _, t := range b.file.Types {
		l.types[t.Name] = t
	}
	return l
}

// shelf returns the resources of a document.
func (l *library) shelf(d *dsl.Document) *shelf {
	if s, ok := l.documents[d]; ok {
		return s
	}
	s := &shelf{owner: map[*dsl.Value]*resource{}}
	l.documents[d] = s
	root := &resource{uri: &url.URL{Scheme: "ambit", Path: "/"}, root: d.Root, anchors: map[string]*dsl.Value{}}
	s.resources = append(s.resources, root)
	l.index(s, d.Root, root)
	for _, r := range s.resources {
		if words := s.vocabulary(r); words != nil {
			r.plain, r.annotates = get(words, validationVocab) == nil, get(words, assertionVocab) == nil
		}
	}
	return s
}

// schemaKeywords are the keywords that hold schemas: one, a list, or one for each name.
var (
	oneSchema = []string{"additionalProperties", "items", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
		"unevaluatedProperties", "contentSchema"}
	listOfSchemas   = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	schemasByName   = []string{"properties", "patternProperties", "$defs", "dependentSchemas", "dependencies"}
	validationVocab = "https://json-schema.org/draft/2020-12/vocab/validation"
	assertionVocab  = "https://json-schema.org/draft/2020-12/vocab/format-assertion"
)

// index enters a schema and those inside it.
func (l *library) index(s *shelf, v *dsl.Value, in *resource) {
	if id := get(v, "$id"); id != nil {
		uri, err := in.uri.Parse(id.Text)
		if err != nil || uri.Fragment != "" {
			l.b.errorf(id.Pos, "write a URI without a fragment", "$id: %q is no URI of a schema", id.Text)
			return
		}
		uri.Fragment = ""
		if v != in.root {
			in = &resource{root: v, within: in, anchors: map[string]*dsl.Value{}}
			s.resources = append(s.resources, in)
		}
		in.uri = uri
		if i := slices.IndexFunc(s.resources, func(r *resource) bool { return r != in && r.uri.String() == uri.String() }); i >= 0 {
			l.b.errorf(id.Pos, "give each schema its own", "$id: %q is that of the schema on line %d too", id.Text, s.resources[i].root.Pos.Line)
		}
	}
	s.owner[v] = in
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		name := get(v, key)
		if name == nil {
			continue
		}
		if other := in.anchors[name.Text]; other != nil && other != v {
			l.b.errorf(name.Pos, "rename one of them", "%s: %q is the name of the schema on line %d too", key, name.Text, other.Pos.Line)
		}
		in.anchors[name.Text] = v
		if key == "$dynamicAnchor" {
			in.dynamic = append(in.dynamic, anchor{name.Text, v})
		}
	}
	for _, part := range subschemas(v) {
		l.index(s, part, in)
	}
}

// subschemas lists the schemas directly inside a schema.
func subschemas(v *dsl.Value) []*dsl.Value {
	var all []*dsl.Value
	for _, m := range v.Members {
		switch {
		case slices.Contains(oneSchema, m.Name):
			all = append(all, m.Value)
		case slices.Contains(listOfSchemas, m.Name):
			all = append(all, m.Value.Items...)
		case slices.Contains(schemasByName, m.Name):
			for _, part := range m.Value.Members {
				all = append(all, part.Value)
			}
		}
	}
	return all
}

// vocabulary returns the $vocabulary of the meta-schema that a resource names, or the one
// that it stands in; nil where the document holds no such meta-schema, or it has none.
func (s *shelf) vocabulary(r *resource) *dsl.Value {
	for ; r != nil; r = r.within {
		name := get(r.root, "$schema")
		if name == nil {
			continue
		}
		for _, meta := range s.resources {
			if meta.uri.String() == strings.TrimSuffix(name.Text, "#") {
				return get(meta.root, "$vocabulary")
			}
		}
		return nil
	}
	return nil
}

// knows reports whether a dialect is that of a declaration, or a meta-schema of the
// document describes it.
func (l *library) knows(d *dsl.Document, dialect string) bool {
	dialect = strings.TrimSuffix(dialect, "#")
	return dialect == "https://json-schema.org/draft/2020-12/schema" ||
		slices.ContainsFunc(l.shelf(d).resources, func(r *resource) bool { return r.uri.String() == dialect })
}

// find returns the schema that a reference of a schema leads to, and the document that
// it stands in; nil with a diagnostic where it leads nowhere.
func (l *library) find(d *dsl.Document, from, ref *dsl.Value) (*dsl.Document, *dsl.Value) {
	s := l.shelf(d)
	in := s.owner[from]
	if rest, ok := strings.CutPrefix(ref.Text, "#/types/"); ok && in == s.resources[0] {
		name, rest, _ := strings.Cut(rest, "/")
		if t := l.types[name]; t != nil && t.Document != nil {
			return t.Document, l.pointer(t.Document.Root, "/"+rest, rest == "", ref)
		}
	}
	uri, err := in.uri.Parse(ref.Text)
	if err != nil {
		l.b.errorf(ref.Pos, "write a URI", "$ref: %q is no URI", ref.Text)
		return nil, nil
	}
	fragment := uri.Fragment
	uri.Fragment, uri.RawFragment = "", ""
	for _, r := range s.resources {
		if r.uri.String() != uri.String() {
			continue
		}
		if fragment != "" && !strings.HasPrefix(fragment, "/") {
			if v := r.anchors[fragment]; v != nil {
				return d, v
			}
			l.b.errorf(ref.Pos, "write an $anchor of that name", "$ref: no schema has the anchor %q", fragment)
			return nil, nil
		}
		return d, l.pointer(r.root, fragment, fragment == "", ref)
	}
	l.b.errorf(ref.Pos, `copy the schema into types or $defs; nothing is fetched`, "$ref: %q leads out of the declaration", ref.Text)
	return nil, nil
}

// pointer returns the part of a value that a JSON Pointer names.
func (l *library) pointer(v *dsl.Value, pointer string, whole bool, ref *dsl.Value) *dsl.Value {
	if whole {
		return v
	}
	keys, err := wire.ParsePointer(pointer)
	for _, key := range keys {
		if v == nil {
			break
		}
		v = part(v, key)
	}
	if err != nil || v == nil || v.Kind != dsl.ValueObject && v.Kind != dsl.ValueBool {
		l.b.errorf(ref.Pos, "correct the pointer", "$ref: %q leads to no schema", ref.Text)
		return nil
	}
	return v
}

// part returns a member or an element.
func part(v *dsl.Value, key string) *dsl.Value {
	if v.Kind == dsl.ValueArray {
		for i, item := range v.Items {
			if key == strconv.Itoa(i) {
				return item
			}
		}
		return nil
	}
	return get(v, key)
}

// get returns a member of a value, nil for none.
func get(v *dsl.Value, name string) *dsl.Value {
	if v == nil {
		return nil
	}
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value
		}
	}
	return nil
}
