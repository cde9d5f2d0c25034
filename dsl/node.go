package dsl

import (
	"iter"
	"math/big"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

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

// nodes reads the nodes of a file.
type nodes struct{}

// Text implements jsonschema.Tree.
func (nodes) Text(n *node) (string, bool) { return n.text, n.kind == nodeString }

// Items implements jsonschema.Tree.
func (nodes) Items(n *node) []*node {
	if n.kind == nodeList && n.items == nil {
		return []*node{}
	}
	return n.items
}

// Members implements jsonschema.Tree.
func (nodes) Members(n *node) iter.Seq2[string, *node] {
	return func(yield func(string, *node) bool) {
		for _, e := range n.pairs {
			if !e.twin && !yield(e.name, e.val) {
				return
			}
		}
	}
}

// schemasIn lists the schemas directly inside a schema.
func schemasIn(n *node) []*node {
	var all []*node
	for _, part := range jsonschema.Subschemas(nodes{}, n) {
		all = append(all, part)
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
