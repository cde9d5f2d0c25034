package inclusion

import (
	"fmt"

	"github.com/ambit-tools/ambit/dsl"
)

// A writer collects the keywords of a typed schema.
type writer struct{ v *dsl.Value }

func (w writer) set(key string, value *dsl.Value) {
	w.v.Members = append(w.v.Members, &dsl.ValueMember{Name: key, Value: value})
}

func (w writer) text(key, value string) {
	if value != "" {
		w.set(key, text1(value))
	}
}

func (w writer) number(key, value string) {
	if value != "" {
		w.set(key, &dsl.Value{Kind: dsl.ValueNumber, Text: value})
	}
}

func (w writer) count(key string, n *int) {
	if n != nil {
		w.number(key, fmt.Sprint(*n))
	}
}

func text1(s string) *dsl.Value { return &dsl.Value{Kind: dsl.ValueString, Text: s} }

func list(items ...*dsl.Value) *dsl.Value { return &dsl.Value{Kind: dsl.ValueArray, Items: items} }

var nothing = &dsl.Value{Kind: dsl.ValueBool}

// link is a reference to a schema.
func (c *names) link(s *dsl.Schema) *dsl.Value {
	w := writer{&dsl.Value{Kind: dsl.ValueObject}}
	name := fmt.Sprintf("\x00%p", s)
	c.linked[name] = s
	w.text("$ref", name)
	return w.v
}

func (c *names) links(schemas []*dsl.Schema) (all []*dsl.Value) {
	for _, s := range schemas {
		all = append(all, c.link(s))
	}
	return all
}

// written is what a typed schema says, with what it leaves implied.
func (c *names) written(s *dsl.Schema) *dsl.Value {
	w := writer{&dsl.Value{Kind: dsl.ValueObject}}
	isNull := writer{&dsl.Value{Kind: dsl.ValueObject}}
	isNull.text("type", "null")
	switch {
	case s.OrNull != nil:
		w.set("anyOf", list(c.link(s.OrNull), isNull.v))
		return w.v
	case s.OneOf != nil:
		branches := c.links(s.OneOf)
		if s.Nullable {
			branches = append(branches, isNull.v)
		}
		w.set("anyOf", list(branches...)) // no value fits two branches: their tags or types differ
		return w.v
	case s.Target != nil:
		w.set("allOf", list(c.link(s.Target.Schema)))
	}
	if s.Nullable && s.Type != "" {
		w.set("type", list(text1(string(s.Type)), text1("null")))
	} else {
		w.text("type", string(s.Type))
	}
	if len(s.Enum) > 0 {
		values := s.Enum
		if s.Nullable {
			values = append(values[:len(values):len(values)], &dsl.Value{Kind: dsl.ValueNull})
		}
		w.set("enum", list(values...))
	}
	if s.Const != nil {
		w.set("const", s.Const)
	}
	c.bounds(w, s)
	c.members(w, s)
	return w.v
}

func (c *names) bounds(w writer, s *dsl.Schema) {
	w.number("minimum", s.Minimum)
	w.number("maximum", s.Maximum)
	w.number("exclusiveMinimum", s.ExclusiveMinimum)
	w.number("exclusiveMaximum", s.ExclusiveMaximum)
	w.number("multipleOf", s.MultipleOf)
	w.count("minLength", s.MinLength)
	w.count("maxLength", s.MaxLength)
	w.count("minItems", s.MinItems)
	w.count("maxItems", s.MaxItems)
	w.count("minProperties", s.MinProperties)
	w.count("maxProperties", s.MaxProperties)
	w.text("pattern", s.Pattern)
	w.text("format", s.Format)
	if s.UniqueItems {
		w.set("uniqueItems", &dsl.Value{Kind: dsl.ValueBool, Bool: true})
	}
}

func (c *names) members(w writer, s *dsl.Schema) {
	if s.Type == dsl.TypeObject {
		if len(s.Properties) > 0 {
			properties := writer{&dsl.Value{Kind: dsl.ValueObject}}
			for _, p := range s.Properties {
				properties.set(p.Name, c.link(p.Schema))
			}
			w.set("properties", properties.v)
		}
		var required []*dsl.Value
		for _, name := range s.Required {
			required = append(required, text1(name))
		}
		w.set("required", list(required...))
		if s.Closed {
			w.set("additionalProperties", nothing)
		} else if s.Additional != nil {
			w.set("additionalProperties", c.link(s.Additional))
		}
	}
	if n := len(s.PrefixItems); n > 0 {
		w.set("prefixItems", list(c.links(s.PrefixItems)...))
		w.set("items", nothing)
		if s.MinItems == nil {
			w.count("minItems", &n)
		}
	} else if s.Items != nil {
		w.set("items", c.link(s.Items))
	}
}
