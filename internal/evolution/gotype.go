package evolution

import (
	"slices"

	"github.com/ambit-tools/ambit/dsl"
)

// goType is what a schema is in Go, without what is inside it. Code that was written for
// another one does not compile.
func goType(s *dsl.Schema) string {
	name := ""
	for i := 0; s != nil && s.Target != nil && i < 1000; i++ {
		name = " " + dsl.GoName(s.Target.Name)
		s = s.Target.Schema
	}
	if s == nil {
		return ""
	}
	if s.OrNull != nil {
		return "wire.Null of " + goType(s.OrNull)
	}
	kind := kindInGo(s, name)
	if s.Nullable && (s.Const == nil || s.Const.Kind == dsl.ValueNull) {
		return "wire.Null of " + kind
	}
	return kind
}

func kindInGo(s *dsl.Schema, name string) string {
	switch {
	case isRaw(s):
		return "wire.Raw"
	case len(s.OneOf) > 0 && !s.Composed:
		return "a union" + name
	case constants(s):
		return "constants" + name
	}
	switch s.Type {
	case dsl.TypeString:
		return "string"
	case dsl.TypeInteger:
		return "int64"
	case dsl.TypeNumber:
		return "float64"
	case dsl.TypeBoolean:
		return "bool"
	case dsl.TypeArray:
		if len(s.PrefixItems) > 0 {
			return "a tuple" + name
		}
		return "a slice"
	}
	if len(s.Properties) > 0 || s.Closed {
		return "a struct" + name
	}
	return "a map"
}

// constants reports whether the values of a schema are constants in Go.
func constants(s *dsl.Schema) bool {
	return s.Enum != nil && (s.Type == dsl.TypeString || s.Type == dsl.TypeInteger)
}

// inGo adds that the type in Go is another, unless one of the differences since before says
// what has become of it.
func (w *walk) inGo(was, now *dsl.Schema, at string, before int) {
	a, b := goType(was), goType(now)
	said := slices.ContainsFunc(w.found[before:], func(d difference) bool { return d.gone })
	if a != b && !said {
		w.add(now, "type", at, false, false, "it was %s in Go and is %s", a, b).code = true
	}
}

// field is what the field of a member of an object is in Go, beside its type.
func field(s *dsl.Schema, p *dsl.Property) string {
	switch required := slices.Contains(s.Required, p.Name); {
	case required && p.Schema.Ref == "" && p.Schema.Const != nil && p.Schema.Const.Kind == dsl.ValueString && p.Schema.Type == dsl.TypeString:
		return "no field"
	case required, defaultOf(p.Schema) != nil:
		return "always there"
	}
	return "wire.Opt"
}

// defaultOf is the default of a member: its own, or that of what it refers to.
func defaultOf(s *dsl.Schema) *dsl.Value {
	for i := 0; s != nil && i < 1000; i++ {
		if s.Default != nil || s.Target == nil {
			return s.Default
		}
		s = s.Target.Schema
	}
	return nil
}
