package dsl

import "slices"

// annotations are the keywords that may stand beside a union of a type and null.
var annotations = []string{"title", "description", "deprecated", "x-sensitive", "examples", "default", "$comment", "readOnly", "writeOnly"}

// orNull returns what a value is that is not null, where a schema is a union of that and
// null; nil for any other schema, and where no type in Go says it.
func (p *parser) orNull(n *node, root *schemaRoot) (branch *node, union string, nullFirst bool) {
	for _, e := range n.pairs {
		switch {
		case e.name == "anyOf" || e.name == "oneOf":
			if union != "" || e.val.kind != nodeList || len(e.val.items) != 2 {
				return nil, "", false
			}
			union = e.name
			nullFirst = isNull(e.val.items[0])
			if branch = e.val.items[1]; !nullFirst {
				branch = e.val.items[0]
			}
			if nullFirst == isNull(e.val.items[1]) {
				return nil, "", false
			}
		case !slices.Contains(annotations, e.name):
			return nil, "", false
		}
	}
	if branch == nil || branch.kind != nodeMap || p.isChecked(branch, root, false) {
		return nil, "", false
	}
	to := p.follow(branch, root)
	if to == nil || to.kind != nodeMap || to.get("type") == nil && to.get("oneOf") == nil {
		return nil, "", false // another union with null, or any value
	}
	if oneOf := to.get("oneOf"); oneOf != nil && slices.ContainsFunc(oneOf.items, isNull) || to != branch && p.isChecked(to, root, false) {
		return nil, "", false
	}
	if t := to.get("type"); union == "oneOf" && t != nil && t.kind == nodeList {
		return nil, "", false // null may fit both
	}
	return branch, union, nullFirst
}

// isNull reports whether a schema says that the value is null, and nothing else.
func isNull(n *node) bool {
	return n.kind == nodeMap && n.get("type").isText("null") && !slices.ContainsFunc(n.pairs, func(e pair) bool {
		return e.name != "type" && !slices.Contains(annotations, e.name)
	})
}

// readOrNull reads a union of a type and null.
func (p *parser) readOrNull(w *schemaWork, branch *node, union string, nullFirst bool) {
	w.Union, w.NullFirst = union, nullFirst
	w.OrNull = p.schema(branch, w.owner, w.root, false)
	if w.OrNull != nil && w.Sensitive {
		w.OrNull.Sensitive = true
	}
}

// byType returns the branches of a union that have a type each, all of them different; nil
// for any other schema.
func (p *parser) byType(n *node, root *schemaRoot) (branches []*node, union string) {
	for _, e := range n.pairs {
		switch {
		case e.name == "anyOf" || e.name == "oneOf":
			if union != "" || e.val.kind != nodeList || len(e.val.items) < 2 {
				return nil, ""
			}
			union, branches = e.name, e.val.items
		case !slices.Contains(annotations, e.name):
			return nil, ""
		}
	}
	seen := make(map[string]bool)
	for _, branch := range branches {
		if branch.kind != nodeMap {
			return nil, ""
		}
		to := p.follow(branch, root)
		if to == nil || !slices.Contains(typeNames, to.get("type").word()) || p.isChecked(branch, root, false) || p.isChecked(to, root, false) {
			return nil, ""
		}
		name := to.get("type").word()
		if name == "integer" {
			name = "number"
		}
		if seen[name] {
			return nil, ""
		}
		seen[name] = true
	}
	return branches, union
}

// readByType reads the branches of a union that have a type each.
func (p *parser) readByType(w *schemaWork, branches []*node, union string) {
	w.Union, w.ByType = union, true
	for i, branch := range branches {
		if s := p.schema(branch, w.owner+" branch "+ordinal(i), w.root, false); s != nil {
			s.Sensitive = s.Sensitive || w.Sensitive
			w.OneOf = append(w.OneOf, s)
		}
	}
}

// fitsByType reports a value that is of none of the types of a union, or does not fit the
// branch of its own.
func (p *parser) fitsByType(v *Value, s *Schema, key string) {
	var types []string
	for _, branch := range s.OneOf {
		b := branch.base()
		if b == nil {
			return
		}
		types = append(types, string(b.Type))
		if b.Type.kind() == v.Kind {
			p.fits(v, branch, key)
			return
		}
	}
	p.report(v.Pos, "write a value of one of them", "%s: must be %s, not %s", key, oneOf(types), shownValue(v))
}

// kind is that of the values of a type.
func (t Type) kind() ValueKind {
	switch t {
	case TypeObject:
		return ValueObject
	case TypeArray:
		return ValueArray
	case TypeString:
		return ValueString
	case TypeBoolean:
		return ValueBool
	}
	return ValueNumber
}
