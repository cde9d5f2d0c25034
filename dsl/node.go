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
	for _, e := range n.pairs {
		if e.name == name && !e.twin {
			return e.val
		}
	}
	return nil
}

func (n *node) isText(text string) bool { return n != nil && n.kind == nodeString && n.text == text }

func (n *node) isFalse() bool { return n != nil && n.kind == nodeBool && n.text == "false" }

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
