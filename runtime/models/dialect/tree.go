package dialect

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/internal/jsonschema"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A value is a part of a schema. Its members keep their order: a model writes the members of its arguments in the order
// of the schema. Its Pointer is of where it was read; empty for the root and for what was made. A program does not change a
// member in place: a schema that was made of another one shares it.
type value = jsonschema.Value

// A member is one of an object. From are the objects in which it was read, which a merged schema is not: the first is its
// origin. It is nil for what was made.
type member = jsonschema.Member

// origin returns the object in which the member called name was read: a schema that is merged of several
// has keywords of each. It is o where o has no such member, or it was made.
func origin(o *value, name string) *value {
	if m := o.Member(name); m != nil && len(m.From) > 0 {
		return m.From[0]
	}
	return o
}

// combine replaces a member by what it and that of another schema became together.
func combine(o *value, name string, v *value, other *value) {
	for i, m := range o.Members {
		if m.Name == name {
			o.Members[i] = &member{Name: name, Value: v, From: slices.Concat(sources(o, name), sources(other, name))}
		}
	}
}

// sources returns the objects in which the member called name was read.
func sources(o *value, name string) []*value {
	if m := o.Member(name); m != nil && len(m.From) > 0 {
		return m.From
	}
	return []*value{o}
}

// places returns the places of the objects in which the member called name was read: a note is about each.
func places(o *value, name string) []string {
	var out []string
	for _, in := range sources(o, name) {
		out = append(out, in.Pointer)
	}
	return out
}

// place returns the JSON Pointer of the member called name.
func place(o *value, name string) string {
	return origin(o, name).Pointer + "/" + wire.EscapePointer(name)
}

// made returns an object of names and values in turn.
func made(pairs ...any) *value {
	o := &value{Kind: jsonschema.Object}
	for i := 0; i+1 < len(pairs); i += 2 {
		set(o, pairs[i].(string), pairs[i+1])
	}
	return o
}

// set replaces or adds a member: a text, a boolean, a number, a list or a value.
func set(o *value, name string, v any) {
	out, ok := v.(*value)
	switch v := v.(type) {
	case string:
		out = &value{Kind: jsonschema.String, Text: v}
	case bool:
		out = &value{Kind: jsonschema.Bool, Bool: v}
	case []*value:
		out = &value{Kind: jsonschema.Array, Items: v}
	case []string:
		out = &value{Kind: jsonschema.Array}
		for _, text := range v {
			out.Items = append(out.Items, &value{Kind: jsonschema.String, Text: text})
		}
	default:
		if !ok {
			panic(fmt.Sprintf("dialect: no value of a schema is a %T", v))
		}
	}
	o.Set(name, out)
}

const (
	maxSize  = 4 << 20 // bytes of a schema
	maxDepth = 100     // levels of objects and arrays
)

// parse reads the schema of an object.
func parse(text []byte) (*value, error) {
	if len(text) > maxSize {
		return nil, fmt.Errorf("the schema has %d bytes, which is more than %d", len(text), maxSize)
	}
	root, err := jsonschema.Parse(text, maxDepth)
	switch {
	case err != nil:
		return nil, fmt.Errorf("the schema cannot be read: %w", err)
	case !root.Is(jsonschema.Object):
		return nil, errors.New("the schema is not an object")
	}
	read(root)
	return root, nil
}

// read notes of each member in v where it was read.
func read(v *value) {
	for _, item := range v.Items {
		read(item)
	}
	from := []*value{v}
	for _, m := range v.Members {
		m.From = from
		read(m.Value)
	}
}

// renamed returns an object with another name for one of its members.
func renamed(o *value, from, to string) *value {
	out := &value{Kind: jsonschema.Object, Pointer: o.Pointer, Members: slices.Clone(o.Members)}
	for i, m := range out.Members {
		if m.Name == from {
			own := *m
			own.Name = to
			out.Members[i] = &own
		}
	}
	return out
}
