package dsl

import "math/big"

// A node is a YAML node after everything that the declaration does not allow
// has been refused and every scalar has been resolved.
type node struct {
	kind  nodeKind
	pos   Pos
	text  string // of a scalar
	items []*node
	pairs []pair
	// index finds the entries of a large mapping: types has as many as there are references to them.
	index map[string]*node
}

// A pair is one entry of a mapping.
type pair struct {
	name string
	key  Pos
	val  *node
	twin bool // refused: another key differs from it only by case
}

type nodeKind uint8

const (
	nodeBad nodeKind = iota // refused already: no further fault is reported for it
	nodeNull
	nodeBool
	nodeNumber
	nodeString
	nodeList
	nodeMap
)

// shown names a value in a message.
func (n *node) shown() string {
	switch n.kind {
	case nodeNull:
		return "null"
	case nodeList:
		return "a list"
	case nodeMap:
		return "a mapping"
	case nodeString:
		return quote(n.text)
	}
	return n.text
}

// get returns the value of a key, nil for none.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	if len(n.pairs) > largeMapping {
		return n.find(name)
	}
	for _, e := range n.pairs {
		if e.name == name && !e.twin {
			return e.val
		}
	}
	return nil
}

// largeMapping is how many entries a mapping has at most that is searched one by one.
const largeMapping = 32

// find is get by the index.
func (n *node) find(name string) *node {
	if n.index == nil {
		n.index = make(map[string]*node, len(n.pairs))
		for _, e := range n.pairs {
			if n.index[e.name] == nil && !e.twin {
				n.index[e.name] = e.val
			}
		}
	}
	return n.index[name]
}

// setPairs replaces the entries of a mapping.
func (n *node) setPairs(pairs ...pair) { n.pairs, n.index = pairs, nil }

// add appends entries to a mapping.
func (n *node) add(pairs ...pair) { n.setPairs(append(n.pairs, pairs...)...) }

func (n *node) isText(text string) bool { return n != nil && n.kind == nodeString && n.text == text }

func (n *node) isFalse() bool { return n != nil && n.kind == nodeBool && n.text == "false" }

// word is the text of a node, empty for none.
func (n *node) word() string {
	if n == nil {
		return ""
	}
	return n.text
}

// schemasIn lists the schemas directly inside a schema.
func schemasIn(n *node) []*node {
	var all []*node
	for _, e := range n.pairs {
		switch e.name {
		case "allOf", "anyOf", "oneOf", "prefixItems":
			all = append(all, e.val.items...)
		case "properties", "patternProperties", "dependentSchemas", "dependencies", "$defs":
			for _, part := range e.val.pairs {
				all = append(all, part.val)
			}
		case "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties",
			"contentSchema":
			all = append(all, e.val)
		}
	}
	return all
}

// kindOf is the kind of a node, nodeBad for none.
func (n *node) kindOf() nodeKind {
	if n == nil {
		return nodeBad
	}
	return n.kind
}

// atMost reports whether a bound is not there or allows a count.
func (n *node) atMost(count int64) bool {
	return n == nil || n.kind == nodeNumber && rat(n.text).Cmp(new(big.Rat).SetInt64(count)) <= 0
}
