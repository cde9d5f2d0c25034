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
