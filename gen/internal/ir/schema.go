package ir

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A document is one JSON Schema file in the making: what its $refs lead to is
// collected in its $defs.
type document struct {
	render func(*document, *dsl.Schema) object // one node: as published, or as OPA's type checker sees it
	names  map[*dsl.NamedSchema]string
	taken  map[string]bool
	defs   object

	file *dsl.File
	root *dsl.Schema // what the document describes
	// rough says that the document is for package internal/rego/schema, which follows no $id.
	rough bool
}

func newDocument(f *dsl.File, root *dsl.Schema, render func(*document, *dsl.Schema) object) *document {
	return &document{file: f, root: root, render: render, names: map[*dsl.NamedSchema]string{}, taken: map[string]bool{}}
}

// published is the JSON Schema of an input, an output or an undo state, which
// says everything that is enforced, also what the declaration leaves implied.
func published(f *dsl.File, s *dsl.Schema, heartbeat bool) []byte {
	root := object{{"$schema", "https://json-schema.org/draft/2020-12/schema"}}
	return pretty(append(root, publishedObject(newDocument(f, s, (*document).schema), heartbeat)...))
}

func publishedObject(d *document, heartbeat bool) object {
	s := d.root
	if s == nil {
		s = &dsl.Schema{Type: dsl.TypeObject, Closed: true}
	}
	for s.Ref != "" { // a root is an object in its own right: providers expect type there
		s = s.Target.Schema
	}
	root := d.schema(s)
	if heartbeat {
		root = withHeartbeat(root)
	}
	root.setIf(len(d.defs) > 0, "$defs", d.defs)
	return root
}

// heartbeatName is the member that tools with heartbeat: true take besides
// their declared input; the runtime takes it out before anything reads it.
const heartbeatName = "request_heartbeat"

func withHeartbeat(root object) object {
	extra := member{heartbeatName, object{
		{"description", "Ask to be called again after this tool, although it ends the turn."},
		{"type", "boolean"},
	}}
	for i, m := range root {
		if properties, ok := m.value.(object); ok && m.name == "properties" {
			root[i].value = append(properties, extra)
			return root
		}
	}
	for i, m := range root {
		if m.name == "additionalProperties" {
			tail := append(object{{"properties", object{extra}}}, root[i:]...)
			return append(root[:i:i], tail...)
		}
	}
	return root
}

// schema renders one node.
func (d *document) schema(s *dsl.Schema) object {
	if s.Checked {
		return d.source(s)
	}
	var o object
	o.setIf(s.Title != "", "title", s.Title)
	o.setIf(s.Description != "", "description", s.Description)
	o.setIf(s.Deprecated, "deprecated", true)
	o.setIf(s.Sensitive, "x-sensitive", true)
	for _, note := range s.Notes {
		o.set(note.Name, note.Value)
	}
	switch {
	case s.Any:
	case s.OrNull != nil:
		o.set(s.Union, withNull(s, d.schema(s.OrNull)))
	case s.Ref != "":
		o.set("$ref", "#/$defs/"+escapePointer(d.define(s.Target)))
	case len(s.OneOf) > 0 && !s.Composed:
		d.union(&o, s)
	case s.Nullable:
		o.set("type", []any{string(s.Type), "null"})
	default:
		o.set("type", string(s.Type))
	}
	d.values(&o, s)
	d.members(&o, s)
	d.elements(&o, s)
	if s.Composed {
		d.besides(&o, s)
	}
	if len(s.Examples) > 0 {
		o.set("examples", values(s.Examples))
	}
	return o
}

// union adds the branches of a union: as a list, or as what each says of its type.
func (d *document) union(o *object, s *dsl.Schema) {
	branches := make([]object, len(s.OneOf))
	for i, branch := range s.OneOf {
		branches[i] = d.schema(branch)
	}
	if s.Union != "type" {
		o.set(cmp.Or(s.Union, "oneOf"), withNullAt(s, branches))
		return
	}
	var types []any
	var rest object
	for _, branch := range branches {
		for _, m := range branch {
			switch m.name {
			case "x-sensitive": // said of the union
			case "type":
				types = append(types, m.value)
			default:
				rest = append(rest, m)
			}
		}
	}
	if s.Nullable {
		types = slices.Insert(types, s.NullAt, any("null"))
	}
	o.set("type", types)
	*o = append(*o, rest...)
}

// withNullAt lists the branches of a union, null at its place.
func withNullAt(s *dsl.Schema, branches []object) []any {
	all := make([]any, len(branches), len(branches)+1)
	for i, branch := range branches {
		all[i] = branch
	}
	if s.Nullable {
		all = slices.Insert(all, s.NullAt, any(typed("null")))
	}
	return all
}

// withNull lists the branches of a union of a type and null.
func withNull(s *dsl.Schema, branch object) []any {
	if s.NullFirst {
		return []any{typed("null"), branch}
	}
	return []any{branch, typed("null")}
}

func (d *document) values(o *object, s *dsl.Schema) {
	o.setIf(s.Enum != nil, "enum", enumValues(s))
	o.setIf(s.Const != nil, "const", s.Const)
	o.setIf(s.Default != nil, "default", s.Default)
	for _, bound := range []struct{ key, literal string }{
		{"minimum", s.Minimum}, {"maximum", s.Maximum},
		{"exclusiveMinimum", s.ExclusiveMinimum}, {"exclusiveMaximum", s.ExclusiveMaximum},
		{"multipleOf", s.MultipleOf},
	} {
		o.setIf(bound.literal != "", bound.key, number(bound.literal))
	}
	setCount(o, "minLength", s.MinLength)
	setCount(o, "maxLength", s.MaxLength)
	o.setIf(s.Pattern != "", "pattern", s.Pattern)
	o.setIf(s.Format != "", "format", s.Format)
}

func (d *document) members(o *object, s *dsl.Schema) {
	if s.Type != dsl.TypeObject || s.Ref != "" {
		return
	}
	var properties object
	for _, p := range s.Properties {
		properties.set(p.Name, d.schema(p.Schema))
	}
	o.setIf(len(properties) > 0, "properties", properties)
	o.setIf(len(s.Required) > 0, "required", list(s.Required))
	switch {
	case s.Closed && (get(s.Source, "additionalProperties") != nil || !s.Composed || get(s.Source, "unevaluatedProperties") == nil):
		o.set("additionalProperties", false)
	case s.Closed: // unevaluatedProperties closes it: additionalProperties would refuse the members of its parts
	case s.Composed && get(s.Source, "additionalProperties") == nil:
	case s.Additional != nil:
		o.set("additionalProperties", d.schema(s.Additional))
	default:
		o.set("additionalProperties", true)
	}
	setCount(o, "minProperties", s.MinProperties)
	setCount(o, "maxProperties", s.MaxProperties)
}

func (d *document) elements(o *object, s *dsl.Schema) {
	if len(s.PrefixItems) > 0 {
		items := make([]any, len(s.PrefixItems))
		for i, item := range s.PrefixItems {
			items[i] = d.schema(item)
		}
		o.set("prefixItems", items)
		o.set("items", false)
		o.set("minItems", int64(len(items))) // a tuple is complete: said here, since the keyword alone does not
	} else {
		if s.Items != nil {
			o.set("items", d.schema(s.Items))
		}
		setCount(o, "minItems", s.MinItems)
		setCount(o, "maxItems", s.MaxItems)
	}
	o.setIf(s.UniqueItems, "uniqueItems", true)
}

// define puts a declared schema into $defs, once, and returns its name there.
func (d *document) define(n *dsl.NamedSchema) string {
	if name, ok := d.names[n]; ok {
		return name
	}
	name := n.Name
	for i := 2; d.taken[name]; i++ {
		name = n.Name + strconv.Itoa(i)
	}
	d.names[n], d.taken[name] = name, true
	i := len(d.defs)
	d.defs.set(name, nil) // before the schema, which may refer to itself
	d.defs[i].value = d.render(d, n.Schema)
	return name
}

// escapePointer makes a name a part of a JSON Pointer in a URI fragment.
func escapePointer(name string) string {
	return url.PathEscape(wire.EscapePointer(name))
}

func values(all []*dsl.Value) []any {
	out := make([]any, len(all))
	for i, v := range all {
		out[i] = v
	}
	return out
}

// enumValues are the values of an enum as JSON Schema counts them, null too.
func enumValues(s *dsl.Schema) []any {
	out := values(s.Enum)
	if s.Nullable {
		out = append(out, &dsl.Value{Kind: dsl.ValueNull})
	}
	return out
}

func setCount(o *object, key string, n *int) {
	if n != nil {
		o.set(key, int64(*n))
	}
}
