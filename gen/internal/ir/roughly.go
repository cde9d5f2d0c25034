package ir

import (
	"slices"

	"github.com/ambit-tools/ambit/dsl"
)

// roughly is what OPA's type checker is told of a checked schema: its types and those of its
// parts, or any value where another keyword has a say in them.
func roughly(v *dsl.Value) object {
	for _, m := range v.Members {
		switch m.Name {
		case "$ref", "$dynamicRef", "allOf", "not", "if", "dependentSchemas", "dependencies", "prefixItems", "patternProperties", "unevaluatedProperties",
			"unevaluatedItems", "$id":
			return object{}
		}
	}
	kind := get(v, "type")
	for _, key := range []string{"anyOf", "oneOf"} {
		union := get(v, key)
		switch {
		case union == nil:
		case kind != nil || get(v, "properties") != nil || get(v, "items") != nil:
			return object{}
		default:
			return anyOf(union.Items, roughly)
		}
	}
	switch {
	case kind == nil:
		return object{}
	case kind.Kind == dsl.ValueArray:
		return anyOf(kind.Items, func(name *dsl.Value) object { return roughType(v, name.Text) })
	}
	return roughType(v, kind.Text)
}

// anyOf is a union; of any value where a branch is.
func anyOf(of []*dsl.Value, branch func(*dsl.Value) object) object {
	var all []any
	for _, v := range of {
		o := branch(v)
		if len(o) == 0 {
			return o
		}
		all = append(all, o)
	}
	return object{{"anyOf", all}}
}

// roughType is roughly for values of one type.
func roughType(v *dsl.Value, name string) object {
	o := object{{"type", name}}
	switch name {
	case "array":
		if items := get(v, "items"); items != nil {
			o.set("items", roughly(items))
		}
	case "object":
		var properties object
		for _, p := range memberValues(get(v, "properties")) {
			properties.set(p.Name, roughly(p.Value))
		}
		o.setIf(len(properties) > 0, "properties", properties)
		required := []string{}
		for _, item := range itemsOf(get(v, "required")) {
			required = append(required, item.Text)
		}
		slices.Sort(required)
		o.set("required", list(required))
		closed := get(v, "additionalProperties")
		o.setIf(closed != nil && closed.Kind == dsl.ValueBool && !closed.Bool, "additionalProperties", false)
	}
	return o
}

func memberValues(v *dsl.Value) []*dsl.ValueMember {
	if v == nil {
		return nil
	}
	return v.Members
}

func itemsOf(v *dsl.Value) []*dsl.Value {
	if v == nil {
		return nil
	}
	return v.Items
}
