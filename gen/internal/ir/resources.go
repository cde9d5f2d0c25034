package ir

import (
	"errors"
	"iter"
	"net/url"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// declared reads the JSON values of a declaration.
type declared struct{}

// Text implements jsonschema.Tree.
func (declared) Text(v *dsl.Value) (string, bool) { return v.Text, v.Kind == dsl.ValueString }

// Items implements jsonschema.Tree.
func (declared) Items(v *dsl.Value) []*dsl.Value {
	if v.Kind == dsl.ValueArray && v.Items == nil {
		return []*dsl.Value{}
	}
	return v.Items
}

// Members implements jsonschema.Tree.
func (declared) Members(v *dsl.Value) iter.Seq2[string, *dsl.Value] {
	return func(yield func(string, *dsl.Value) bool) {
		for _, m := range v.Members {
			if !yield(m.Name, m.Value) {
				return
			}
		}
	}
}

// A resource is a schema that references name by its URI: a document, or a part of one
// that has an $id.
type resource = jsonschema.Resource[*dsl.Value]

// A library is what references of the schemas of a file can lead to.
type library struct {
	b         *builder
	documents map[*dsl.Document]*shelf
	types     map[string]*dsl.NamedSchema
}

// A shelf is a document cut into resources.
type shelf struct {
	*jsonschema.Index[*dsl.Value]

	// plain are the resources whose meta-schema has no keywords that limit values, annotates those in
	// which a format is an annotation.
	plain, annotates map[*resource]bool
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
	s := &shelf{jsonschema.NewIndex(declared{}, d.Root), map[*resource]bool{}, map[*resource]bool{}}
	l.documents[d] = s
	for _, f := range s.Faults {
		switch {
		case errors.Is(f.Err, jsonschema.ErrURI):
			l.b.errorf(f.At.Pos, "write a URI without a fragment", "%s: %q is no URI of a schema", f.Keyword, f.Text)
		case f.Keyword == "$id":
			l.b.errorf(f.At.Pos, "give each schema its own", "$id: %q is that of the schema on line %d too", f.Text, f.Other.Pos.Line)
		default:
			l.b.errorf(f.At.Pos, "rename one of them", "%s: %q is the name of the schema on line %d too", f.Keyword, f.Text, f.Other.Pos.Line)
		}
	}
	for _, r := range s.Resources {
		if words := s.vocabulary(r); words != nil {
			s.plain[r], s.annotates[r] = get(words, validationVocab) == nil, get(words, assertionVocab) == nil
		}
	}
	return s
}

const (
	validationVocab = "https://json-schema.org/draft/2020-12/vocab/validation"
	assertionVocab  = "https://json-schema.org/draft/2020-12/vocab/format-assertion"
)

// subschemas yields the schemas directly inside a schema.
func subschemas(v *dsl.Value) iter.Seq2[string, *dsl.Value] {
	return jsonschema.Subschemas(declared{}, v)
}

// vocabulary returns the $vocabulary of the meta-schema that a resource names, or the one
// that it stands in; nil where the document holds no such meta-schema, or it has none.
func (s *shelf) vocabulary(r *resource) *dsl.Value {
	for ; r != nil; r = r.Within {
		name := get(r.Root, "$schema")
		if name == nil {
			continue
		}
		for _, meta := range s.Resources {
			if meta.URI == strings.TrimSuffix(name.Text, "#") {
				return get(meta.Root, "$vocabulary")
			}
		}
		return nil
	}
	return nil
}

// knows reports whether a schema may name a dialect: that of a declaration, draft-07 at the root, of
// which package dsl has seen that it reads the same, or one that a meta-schema of the document describes.
func (l *library) knows(d *dsl.Document, v *dsl.Value, dialect string) bool {
	dialect = strings.TrimSuffix(dialect, "#")
	draft, _ := dsl.DraftOf(dialect)
	return draft == dsl.Draft2020 || draft == dsl.Draft07 && v == d.Root ||
		slices.ContainsFunc(l.shelf(d).Resources, func(r *resource) bool { return r.URI == dialect })
}

// find returns the schema that a reference of a schema leads to, and the document that
// it stands in; nil with a diagnostic where it leads nowhere.
func (l *library) find(d *dsl.Document, from, ref *dsl.Value) (*dsl.Document, *dsl.Value) {
	s := l.shelf(d)
	text := ref.Text
	if rest, ok := strings.CutPrefix(text, "#/types/"); ok && s.Resource(from) == s.Resources[0] {
		name, rest, more := strings.Cut(rest, "/")
		if t := l.types[name]; t != nil && t.Document != nil {
			d, s = t.Document, l.shelf(t.Document)
			if from, text = d.Root, "#"; more && rest != "" {
				text += "/" + rest
			}
		}
	}
	to, err := s.Find(from, text)
	refuse := func(hint, message string, args ...any) (*dsl.Document, *dsl.Value) {
		l.b.errorf(ref.Pos, hint, message, args...)
		return nil, nil
	}
	_, fragment, _ := strings.Cut(ref.Text, "#")
	switch {
	case errors.Is(err, jsonschema.ErrURI):
		return refuse("write a URI", "$ref: %q is no URI", ref.Text)
	case errors.Is(err, jsonschema.ErrOutside):
		return refuse(`copy the schema into types or $defs; nothing is fetched`, "$ref: %q leads out of the declaration", ref.Text)
	case errors.Is(err, jsonschema.ErrAnchor):
		name, _ := url.PathUnescape(fragment)
		return refuse("write an $anchor of that name", "$ref: no schema has the anchor %q", name)
	case errors.Is(err, jsonschema.ErrAmbiguous):
		return nil, nil // said where they have the name
	case err != nil, to.Kind != dsl.ValueObject && to.Kind != dsl.ValueBool:
		return refuse("correct the pointer", "$ref: %q leads to no schema", ref.Text)
	}
	return d, to
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
