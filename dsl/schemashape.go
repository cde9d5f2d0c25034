package dsl

import (
	"slices"
)

// checkShape checks what one schema says without looking beyond it.
func (p *parser) checkShape(w *schemaWork) {
	has := func(key string) bool { _, ok := w.Keys[key]; return ok }
	p.openRoot(w)
	switch {
	case has("$ref") && !w.Composed:
		p.checkAlone(w, "$ref", "declare a type of its own for the narrower value")
	case has("oneOf") && !w.Composed:
		p.checkAlone(w, "oneOf", "write it into the branches")
	case !has("type") && w.isCall():
		w.Type = TypeObject // what models send and handlers return is one
	case !has("type") && (has("enum") || has("const")):
		w.Type = TypeString // isChecked has seen it
	case !has("type"):
		w.Any = true
	case w.Type != "":
		for _, key := range sortedKeys(w.Keys) {
			if types := appliesTo(key); types != nil && !slices.Contains(types, w.Type) {
				hint := "remove it, or change the type to " + string(types[0])
				if key == "enum" || key == "const" {
					hint = "list the values of its members instead"
				}
				p.report(w.Keys[key], hint, "%s: %s says nothing about type %s", w.owner, key, w.Type)
			}
		}
	}
	p.checkBounds(w)
	if (has("$ref") || has("oneOf")) && !w.Composed {
		return
	}
	if w.Type == TypeObject {
		p.checkObject(w)
	}
}

// checkAlone refuses constraints beside $ref and oneOf.
func (p *parser) checkAlone(w *schemaWork, key, hint string) {
	for _, other := range sortedKeys(w.Keys) {
		switch {
		case other == key:
		case other == "type" && w.isCall() && w.Type == TypeObject:
			w.Type = "" // a root is an object anyway
		case other == "type", other == "$ref", other == "oneOf":
			p.report(w.Keys[other], "remove it: "+key+" says it already", "%s: %s beside %s is not supported yet", w.owner, other, key)
		case appliesTo(other) != nil:
			p.report(w.Keys[other], hint, "%s: %s beside %s is not supported yet", w.owner, other, key)
		}
	}
}

func (p *parser) checkObject(w *schemaWork) {
	for _, name := range w.Required {
		prop := w.property(name)
		if prop == nil && (!w.Closed || w.Composed && w.node.get("unevaluatedProperties") != nil) {
			w.Composed = true // no field says that the member is there
		} else if prop == nil {
			p.report(w.requiredAt[name], p.didYouMean(name, w.propertyNames()), "required: %s is not a property", quote(name))
		}
	}
	p.warnEmpty(w)
	if w.MaxProperties != nil && *w.MaxProperties < len(w.Required) {
		p.report(w.Keys["maxProperties"], "raise it", "maxProperties: %d is below the %d required members", *w.MaxProperties, len(w.Required))
	}
	if w.Closed && w.MinProperties != nil && *w.MinProperties > len(w.Properties) {
		p.report(w.Keys["minProperties"], "lower it, or set additionalProperties", "minProperties: %d is above the %d declared members", *w.MinProperties, len(w.Properties))
	}
}

// warnEmpty warns of an object of which nothing is said. JSON Schema takes that
// for any object. An input or an output without members is often meant, unless
// it was written for other readers, as $schema tells.
func (p *parser) warnEmpty(w *schemaWork) {
	for _, key := range []string{"properties", "additionalProperties"} {
		if _, said := w.Keys[key]; said {
			return
		}
	}
	if _, pasted := w.Keys["$schema"]; !w.Closed || !pasted && w.isCall() {
		return
	}
	p.warn("empty_object", w.Pos, "write additionalProperties: true for any members, or properties: {} for none",
		"%s: an object of which no members are declared has none: only {} fits", w.owner)
}

// checkTuple refuses counts that differ from that of a tuple.
// checkBounds compares the lower with the upper bounds.
func (p *parser) checkBounds(w *schemaWork) {
	counts := func(low, high string, a, b *int) {
		if a != nil && b != nil && *a > *b {
			p.report(w.Keys[low], "swap them", "%s: %s %d is above %s %d", w.owner, low, *a, high, *b)
		}
	}
	counts("minLength", "maxLength", w.MinLength, w.MaxLength)
	counts("minItems", "maxItems", w.MinItems, w.MaxItems)
	counts("minProperties", "maxProperties", w.MinProperties, w.MaxProperties)

	limits := func(low, high, a, b string, equal bool) {
		if a == "" || b == "" {
			return
		}
		if c := rat(a).Cmp(rat(b)); c > 0 || c == 0 && !equal {
			p.report(w.Keys[low], "widen the bounds", "%s: no value is between %s %s and %s %s", w.owner, low, a, high, b)
		}
	}
	limits("minimum", "maximum", w.Minimum, w.Maximum, true)
	limits("minimum", "exclusiveMaximum", w.Minimum, w.ExclusiveMaximum, false)
	limits("exclusiveMinimum", "maximum", w.ExclusiveMinimum, w.Maximum, false)
	limits("exclusiveMinimum", "exclusiveMaximum", w.ExclusiveMinimum, w.ExclusiveMaximum, false)
	if w.MultipleOf != "" && rat(w.MultipleOf).Sign() <= 0 {
		p.report(w.Keys["multipleOf"], "write the step between two values, such as 0.01", "%s: multipleOf must be above 0, not %s", w.owner, w.MultipleOf)
	}
}
