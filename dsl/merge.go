package dsl

import (
	"slices"
	"strings"
)

// An object that allOf puts together of parts is one type in Go where no two parts
// describe the same member differently: its schema is then written as one. Elsewhere the
// parts are held against the value one by one.

// mergeAll writes the schemas of the file anew that allOf puts together.
func (p *parser) mergeAll() {
	m := &merger{p: p, done: make(map[*node]bool)}
	if p.root.refersInto("/allOf/") {
		return // what is written anew has no such parts
	}
	types, calls := p.schemaRoots()
	for _, s := range types {
		m.walk(s, s, false)
	}
	for _, s := range calls {
		m.walk(s, s, true)
	}
}

// refersInto reports whether a reference in a value has a text in it.
func (n *node) refersInto(text string) bool {
	return slices.ContainsFunc(n.items, func(item *node) bool { return item.refersInto(text) }) ||
		slices.ContainsFunc(n.pairs, func(e pair) bool {
			return e.name == "$ref" && strings.Contains(e.val.text, text) || e.val.refersInto(text)
		})
}

type merger struct {
	p    *parser
	done map[*node]bool // begun: a schema that leads back to itself is left as it is
}

// walk merges a schema and those inside it; root is what # means in it, call says that it
// is a root that is an object anyway.
func (m *merger) walk(n, root *node, call bool) {
	if n.kind != nodeMap || m.done[n] {
		return
	}
	m.done[n] = true
	for _, part := range schemasIn(n) {
		m.walk(part, root, false)
	}
	if n.get("allOf") == nil {
		return
	}
	w := &merge{m: m, root: root, members: &node{kind: nodeMap, pos: n.pos}, required: &node{kind: nodeList, pos: n.pos}, taken: make(map[string]bool), onPath: make(map[*node]bool), object: call}
	if w.add(n, true) && w.whole() {
		n.setPairs(append(w.kept, pair{name: "type", key: n.pos, val: &node{kind: nodeString, pos: n.pos, text: "object"}},
			pair{name: "properties", key: n.pos, val: w.members})...)
		if len(w.required.items) > 0 {
			n.add(pair{name: "required", key: n.pos, val: w.required})
		}
	}
}

// A merge is one schema that is being written anew.
type merge struct {
	m                 *merger
	root              *node
	kept              []pair
	members, required *node
	taken             map[string]bool // names of members
	onPath            map[*node]bool  // what references have led to, and is being added
	object, open      bool
}

// add adds a schema, or the part of one; it reports false where that says more than
// what its members are.
func (w *merge) add(n *node, outer bool) bool {
	if n.kind != nodeMap {
		return false
	}
	for _, e := range n.pairs {
		ok := !e.twin
		switch e.name {
		case "type":
			w.object = true
			ok = ok && isObject(n, false)
		case "properties":
			ok = ok && w.addMembers(e.val)
		case "required":
			w.addRequired(e.val)
		case "allOf":
			ok = ok && e.val.kind == nodeList && !slices.ContainsFunc(e.val.items, func(part *node) bool { return !w.add(part, false) })
		case "additionalProperties":
			w.open = true
			ok = ok && e.val.kind == nodeBool && e.val.text == "true"
		case "unevaluatedProperties":
			ok = ok && outer && n.get("additionalProperties") == nil
			w.kept = append(w.kept, pair{name: "additionalProperties", key: e.key, val: e.val})
		case "$ref":
			ok = ok && !outer && w.addTarget(e.val)
		case "title", "description", "$comment":
			if outer {
				w.kept = append(w.kept, e)
			}
		default:
			ok = ok && outer && (slices.Contains(annotations, e.name) || e.name == "$schema" || e.name == "$defs")
			w.kept = append(w.kept, e)
		}
		if !ok {
			return false
		}
	}
	return true
}

// addTarget adds a copy of what a part refers to, which says the same in every place.
func (w *merge) addTarget(ref *node) bool {
	match := refText.FindStringSubmatch(ref.text)
	if match == nil {
		return false
	}
	root := w.root
	to := root.get("$defs").get(match[2])
	if match[1] == "types" {
		to = w.m.p.root.get("types").get(match[2])
		root = to
	}
	if to == nil || to.kind != nodeMap || w.onPath[to] || to.get("allOf") != nil && w.m.done[to] {
		return false // it is not there, or is no type, or leads back to itself
	}
	w.m.walk(to, root, false)
	if to.get("$defs") != nil || to.get("allOf") != nil || !w.m.p.mayCopy(to, ref) || root != w.root && to.refersElsewhere() {
		return false
	}
	w.onPath[to] = true
	defer delete(w.onPath, to)
	return w.add(to.clone(), false)
}

// maxCopied is how many nodes may be written anew for references, in all of a file: more than any
// file holds that is written by hand, so that a few short references to one large type do not fill the memory.
const maxCopied = 500_000

// mayCopy reports whether a copy of a schema stays within maxCopied; it reports the reference
// that exceeds it.
func (p *parser) mayCopy(n, ref *node) bool {
	if p.copied > maxCopied {
		return false
	}
	if p.copied += n.size(); p.copied > maxCopied {
		p.report(ref.pos, "let a member refer to it, or declare fewer schemas of it", "$ref: the schemas that references put together have more than %d parts", maxCopied)
		return false
	}
	return true
}

// size is how many nodes a value consists of.
func (n *node) size() int {
	size := 1
	for _, item := range n.items {
		size += item.size()
	}
	for _, e := range n.pairs {
		size += e.val.size()
	}
	return size
}

// refersElsewhere reports whether a schema refers to what is no entry of types.
func (n *node) refersElsewhere() bool {
	return slices.ContainsFunc(n.items, (*node).refersElsewhere) || slices.ContainsFunc(n.pairs, func(e pair) bool {
		match := refText.FindStringSubmatch(e.val.text)
		return e.name == "$ref" && (match == nil || match[1] != "types") || e.val.refersElsewhere()
	})
}

func (n *node) clone() *node {
	own := *n
	own.items, own.pairs, own.index = slices.Clone(n.items), slices.Clone(n.pairs), nil
	for i := range own.items {
		own.items[i] = own.items[i].clone()
	}
	for i := range own.pairs {
		own.pairs[i].val = own.pairs[i].val.clone()
	}
	return &own
}

// addMembers adds members; it reports false where one is there already and says something else, or says too
// little for a field.
func (w *merge) addMembers(properties *node) bool {
	for _, e := range properties.pairs {
		if w.taken[e.name] && w.members.get(e.name).says(e.val) {
			continue
		}
		if w.taken[e.name] || e.val.kind != nodeMap || e.val.get("description") == nil && e.val.get("$ref") == nil || len(w.members.pairs) == maxProperties {
			return false
		}
		w.taken[e.name] = true
		w.members.add(e)
	}
	return true
}

// says reports whether two values are the same, wherever they stand.
func (n *node) says(other *node) bool {
	if n == nil || n.kind == nodeBad || n.kind != other.kind || n.text != other.text || len(n.items) != len(other.items) || len(n.pairs) != len(other.pairs) {
		return false
	}
	for i, item := range n.items {
		if !item.says(other.items[i]) {
			return false
		}
	}
	return !slices.ContainsFunc(n.pairs, func(e pair) bool {
		of := other.get(e.name)
		return e.twin || of == nil || !e.val.says(of)
	})
}

func (w *merge) addRequired(list *node) {
	for _, item := range list.items {
		if !slices.ContainsFunc(w.required.items, func(other *node) bool { return other.text == item.text }) {
			w.required.items = append(w.required.items, item)
		}
	}
}

// whole reports whether what was added is an object with members, of which those that are
// required are declared.
func (w *merge) whole() bool {
	if !w.object || len(w.members.pairs) == 0 {
		return false
	}
	if w.open {
		if slices.ContainsFunc(w.kept, func(e pair) bool { return e.name == "additionalProperties" }) {
			return false // unevaluatedProperties, of which nothing is left
		}
		w.kept = append(w.kept, pair{name: "additionalProperties", key: w.members.pos, val: &node{kind: nodeBool, pos: w.members.pos, text: "true"}})
	}
	return !slices.ContainsFunc(w.required.items, func(item *node) bool { return w.members.get(item.text) == nil })
}
