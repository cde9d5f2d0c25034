package ir

import (
	"strings"

	"github.com/ambit-tools/ambit/dsl"
)

// A checked schema is published as it is declared: only where its references lead is
// written anew, since the declared types that it uses are in $defs.

// source renders a checked schema.
func (d *document) source(s *dsl.Schema) object {
	if d.rough && holdsID(s.Source) {
		return object{}
	}
	if s.Source.Kind == dsl.ValueBool { // a root of $defs and of members is an object here
		return object{{"not", object{}}}
	}
	o, _ := d.part(s.Document, s.Source).(object)
	return o
}

// holdsID reports whether a schema, or one inside it, has an $id.
func holdsID(v *dsl.Value) bool {
	for _, part := range subschemas(v) {
		if holdsID(part) {
			return true
		}
	}
	return get(v, "$id") != nil
}

// besides adds the keywords of a composed schema for which its type has none.
func (d *document) besides(o *object, s *dsl.Schema) {
	for _, m := range s.Source.Members {
		switch m.Name {
		case "$ref", "$dynamicRef", "anyOf", "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies",
			"patternProperties", "propertyNames", "unevaluatedProperties":
			o.set(m.Name, d.keyword(s.Document, m))
		}
	}
}

// part renders a schema inside a checked one.
func (d *document) part(doc *dsl.Document, v *dsl.Value) any {
	if v.Kind != dsl.ValueObject {
		return v
	}
	if get(v, "$id") != nil {
		doc = nil // its references start from itself
	}
	o := object{}
	for _, m := range v.Members {
		o.set(m.Name, d.keyword(doc, m))
	}
	return o
}

func (d *document) keyword(doc *dsl.Document, m *dsl.ValueMember) any {
	switch m.Name {
	case "$ref", "$dynamicRef":
		return d.reference(doc, m.Value.Text)
	case "additionalProperties", "items", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
		"contentSchema":
		return d.part(doc, m.Value)
	case "allOf", "anyOf", "oneOf", "prefixItems":
		all := make([]any, len(m.Value.Items))
		for i, item := range m.Value.Items {
			all[i] = d.part(doc, item)
		}
		return all
	case "properties", "patternProperties", "$defs", "dependentSchemas", "dependencies":
		all := object{}
		for _, p := range m.Value.Members {
			all.set(p.Name, d.part(doc, p.Value))
		}
		return all
	}
	return m.Value
}

// reference rewrites a reference to a declared type or to another part of the schema that it
// stands in. It is kept where doc is nil.
func (d *document) reference(doc *dsl.Document, ref string) string {
	rest, local := strings.CutPrefix(ref, "#")
	if doc == nil || !local || rest != "" && rest[0] != '/' {
		return ref
	}
	if rest, ok := strings.CutPrefix(rest, "/types/"); ok {
		if to, ok := d.definedIn(d.file.Types, rest); ok {
			return to
		}
	}
	own := d.root
	for _, t := range d.file.Types {
		if doc.Type == t.Name {
			own, ref = t.Schema, "#/$defs/"+escapePointer(d.define(t))+rest
		}
	}
	if rest, ok := strings.CutPrefix(rest, "/$defs/"); ok && !own.Checked {
		if to, ok := d.definedIn(own.Defs, rest); ok {
			return to
		}
	}
	return ref
}

// definedIn is where the schema stands in $defs that a path names: one of all, and maybe a
// part of it.
func (d *document) definedIn(all []*dsl.NamedSchema, path string) (ref string, ok bool) {
	name, rest, deeper := strings.Cut(path, "/")
	for _, n := range all {
		if n.Name == name {
			ref = "#/$defs/" + escapePointer(d.define(n))
			if deeper {
				ref += "/" + rest
			}
			return ref, true
		}
	}
	return "", false
}
