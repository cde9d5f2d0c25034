package dsl

import "slices"

// A byType is a union whose branches have a type each, all of them different: Go has an
// interface for it.
type byType struct {
	keyword  string // anyOf, oneOf, or type for a list of types
	branches []*node
	null     int // the place of null among the branches, -1 where it is none of them
}

// byType returns what tells the values of a schema apart by their types; nil for any
// other schema, and where no type in Go says what a branch is.
func (p *parser) byType(n *node, root *schemaRoot) *byType {
	u := listOfTypes(n)
	if u == nil {
		u = unionOf(n)
	}
	if u == nil {
		return nil
	}
	seen := make(map[string]bool)
	for _, branch := range u.branches {
		to, toRoot := p.follow(branch, root)
		if branch.kind != nodeMap || to == nil || p.isChecked(branch, root, false) || to != branch && p.isChecked(to, toRoot, false) {
			return nil
		}
		name := to.get("type").word()
		if to.get("type") == nil && constrains(to) && isTexts(to) {
			name = string(TypeString)
		}
		if name == "integer" {
			name = "number"
		}
		if !slices.Contains(typeNames, name) || seen[name] {
			return nil
		}
		seen[name] = true
	}
	return u
}

// unionOf returns the branches of a schema that is a union of two or more, and maybe null.
func unionOf(n *node) *byType {
	u := &byType{null: -1}
	for _, e := range n.pairs {
		switch {
		case e.name == "anyOf" || e.name == "oneOf":
			if u.keyword != "" || e.val.kind != nodeList {
				return nil
			}
			u.keyword, u.branches = e.name, slices.Clone(e.val.items)
		case !slices.Contains(annotations, e.name):
			return nil
		}
	}
	if i := slices.IndexFunc(u.branches, isNull); i >= 0 {
		u.null, u.branches = i, slices.Delete(u.branches, i, i+1)
	}
	if len(u.branches) < 2 {
		return nil
	}
	return u
}

// listOfTypes returns the types of a list as branches, each with the keywords that say
// something of it. An object among them stays open unless it says otherwise, and one whose
// members are listed, a tuple, and constants are left to a table.
func listOfTypes(n *node) *byType {
	list := n.get("type")
	if list == nil || list.kind != nodeList {
		return nil
	}
	u := &byType{keyword: "type", null: -1}
	for i, item := range list.items {
		switch {
		case item.isText("null") && u.null < 0:
			u.null = i
		case item.kind != nodeString || !slices.Contains(typeNames, item.text):
			return nil
		default:
			u.branches = append(u.branches, &node{kind: nodeMap, pos: n.pos, pairs: []pair{{name: "type", key: item.pos, val: item}}})
		}
	}
	if len(u.branches) < 2 {
		return nil
	}
	for _, e := range n.pairs {
		types := appliesTo(e.name)
		switch {
		case e.name == "type", slices.Contains(annotations, e.name):
			continue
		case types == nil, slices.Contains([]string{"enum", "const", "properties", "required", "prefixItems"}, e.name):
			return nil
		}
		said := false
		for _, branch := range u.branches {
			if slices.Contains(types, Type(branch.get("type").text)) {
				branch.pairs, said = append(branch.pairs, e), true
			}
		}
		if !said {
			return nil
		}
	}
	for _, branch := range u.branches {
		if branch.get("type").isText("object") && branch.get("additionalProperties") == nil {
			branch.pairs = append(branch.pairs, pair{name: "additionalProperties", key: n.pos, val: &node{kind: nodeBool, pos: n.pos, text: "true"}})
		}
	}
	return u
}

// readByType reads the branches of a union that have a type each.
func (p *parser) readByType(w *schemaWork, u *byType) {
	whole := *w.node
	whole.setPairs(slices.DeleteFunc(slices.Clone(whole.pairs), func(e pair) bool { return appliesTo(e.name) != nil })...)
	w.union = true
	w.Keys = walk(p, &whole, p.levels.schema, w.owner, w.node.pos, w)
	for _, e := range w.node.pairs {
		w.Keys[e.name] = e.key
	}
	w.Union, w.ByType, w.Nullable, w.NullAt = u.keyword, true, u.null >= 0, max(u.null, 0)
	for i, branch := range u.branches {
		owner := w.owner
		if u.keyword != "type" {
			owner += " branch " + ordinal(i)
		}
		if s := p.schema(branch, owner, w.root, false); s != nil {
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
