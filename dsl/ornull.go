package dsl

import "slices"

// annotations are the keywords that may stand beside a union of a type and null.
var annotations = []string{"title", "description", "deprecated", "x-sensitive", "examples", "default", "$comment", "readOnly", "writeOnly", "x-mcp-header"}

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
	to, toRoot := p.follow(branch, root)
	if to == nil || to.kind != nodeMap || to.get("type") == nil && to.get("oneOf") == nil {
		return nil, "", false // another union with null, or any value
	}
	if oneOf := to.get("oneOf"); oneOf != nil && slices.ContainsFunc(oneOf.items, isNull) || to != branch && p.isChecked(to, toRoot, false) {
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

// isEndless reports whether a schema holds itself in arrays, maps and unions with null only:
// a type in Go that does so would have no name to do it by. One that has to hold itself has
// no value, which is reported where it is read by its type.
func (p *parser) isEndless(n *node, root *schemaRoot) bool {
	type passed struct{ elements, ends int } // on the way to a schema, and of these those that may not be there
	var seen map[*node]passed                // references: each loop has one
	var path []asked                         // all of it leads to the same loop, or to none
	now, endless := passed{}, false
	for n != nil && n.kind == nodeMap {
		key := asked{n: n, root: root}
		if known, again := p.endless[key]; again {
			endless = known
			break
		}
		if n.get("$ref") != nil {
			if before, again := seen[n]; again {
				endless = now.elements > before.elements && now.ends > before.ends
				break
			}
			if seen == nil {
				seen = make(map[*node]passed)
			}
			seen[n] = now
		}
		path = append(path, key)
		switch to, toRoot := p.follow(n, root); {
		case to != n:
			n, root = to, toRoot
		case nullBranch(n) != nil:
			n = nullBranch(n)
			now.ends++
		default:
			if n.get("type").kindOf() == nodeList || n.get("minItems").atMost(0) && n.get("minProperties").atMost(0) {
				now.ends++
			}
			n = elements(n)
			now.elements++
		}
	}
	if p.endless == nil {
		p.endless = make(map[asked]bool)
	}
	for _, key := range path {
		p.endless[key] = endless
	}
	return endless
}

// elements returns the schema of what an array or a map holds, nil for another schema.
func elements(n *node) *node {
	name, _ := n.oneType()
	switch {
	case name == string(TypeArray) && n.get("prefixItems") == nil:
		return n.get("items")
	case name == string(TypeObject) && n.get("properties") == nil:
		return n.get("additionalProperties")
	}
	return nil
}

// nullBranch returns the other branch of a union of two with null, nil for another schema.
func nullBranch(n *node) *node {
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if u := n.get(keyword); u != nil && len(u.items) == 2 {
			for i, item := range u.items {
				if isNull(item) {
					return u.items[1-i]
				}
			}
		}
	}
	return nil
}
