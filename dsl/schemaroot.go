package dsl

import "slices"

// The root of an input, an output or a state is an object, whether it says so or not:
// models send nothing else, and handlers return nothing else. What no type in Go
// says of it is said besides, by a table.

// rootSchema reads an input, an output or a state, which must be an object.
func (p *parser) rootSchema(n *node, key string) *Schema {
	if n.kind == nodeBool && n.text == "true" {
		n = &node{kind: nodeMap, pos: n.pos}
	}
	s := p.schema(n, key, &schemaRoot{call: true}, true)
	p.later(func() {
		b := s.base()
		switch {
		case b == nil:
		case n.kind == nodeBool:
			p.report(s.Pos, "write {} for any object, or properties: {} for one without members", "%s: no value fits false", key)
		case b.Any, b.Checked, (b.Type != TypeObject || b.Nullable) && (b.Type != "" || b.OneOf != nil):
			p.report(s.Pos, "wrap the value in an object with one property", "%s must be an object", key)
		}
	})
	return s
}

// isCall reports whether a schema is the root of an input, an output or a state.
func (w *schemaWork) isCall() bool { return w.top && w.root.call }

// isComposedRoot is isComposed for a schema that may be a root. A root is composed too when
// what it refers to has no type in Go, or is not all that it says.
func (p *parser) isComposedRoot(w *schemaWork) bool {
	n := w.node
	if !w.isCall() {
		return isComposed(n, false)
	}
	ref := n.get("$ref")
	if ref == nil || ref.kind != nodeString {
		return isComposed(n, true)
	}
	if !isObject(n, true) {
		return false
	}
	if slices.ContainsFunc(n.pairs, func(e pair) bool {
		return slices.Contains(composedKeys, e.name) || slices.Contains(appliesTo(e.name), TypeObject)
	}) {
		return true
	}
	to, root := p.follow(n, w.root)
	if to == nil {
		return !refText.MatchString(ref.text)
	}
	name, one := to.oneType()
	return p.isChecked(to, root, false) && (to.get("type") == nil || !one || name == string(TypeObject))
}

// isObject reports whether object is the only type of a schema, or implied.
func isObject(n *node, implied bool) bool {
	t := n.get("type")
	if t == nil {
		return implied
	}
	return t.isText("object") || t.kind == nodeList && len(t.items) == 1 && t.items[0].isText("object")
}

// openRoot lets an object have any members of which a root says nothing at all, or only
// says what parts of it want: nothing lists those that it might be closed to.
func (p *parser) openRoot(w *schemaWork) {
	if !w.isCall() {
		return
	}
	for _, key := range []string{"properties", "additionalProperties", "patternProperties", "unevaluatedProperties"} {
		if _, said := w.Keys[key]; said {
			return
		}
	}
	_, typed := w.Keys["type"]
	if !typed && (w.Ref == "" || w.Composed) || w.Composed && p.undeclared(w.node) != nil {
		w.Closed = false
	}
}
