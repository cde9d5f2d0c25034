package chain

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"slices"
)

const (
	// NameSize is the length of a name in bytes.
	NameSize = 16
	// TailSize is the length of what a leaf holds of an authenticator.
	TailSize = 16
)

// A Name stands for a session: a digest of its id under a key of the store.
type Name [NameSize]byte

// A Root is the digest of the first node of the tree of sessions, which has one leaf for each session of a store. It proves which leaf a
// session has, and that a session has none. The tree is a radix tree over keyed names, so that its depth does not depend on
// which ids are chosen. The zero value is the root of the empty tree.
type Root [sha256.Size]byte

// A Leaf is what is known of a session.
type Leaf struct {
	Name Name
	Last uint64         // the position of its last entry
	Tail [TailSize]byte // how the authenticator of that entry begins
	Open uint32         // its calls and undos that have begun and not ended
}

// Nodes stores the nodes of a tree by the path to them: the digits of the names below, one byte each.
type Nodes interface {
	Get(path []byte) ([]byte, error) // nil: there is none
	Put(path, data []byte) error
}

// ErrForged says that a node is not one of the tree with that root: it is missing, was changed, or is
// that of another tree or of an earlier one.
var ErrForged = errors.New("a node of the tree of sessions is not authentic")

// FindLeaf returns the leaf of a name, or reports that there is none. Both answers are proved: every node that
// FindLeaf reads is compared with the root.
func FindLeaf(n Nodes, root Root, name Name) (Leaf, bool, error) {
	if root == (Root{}) {
		return Leaf{}, false, nil
	}
	for depth := 0; ; depth++ {
		node, err := read(n, digits(name, depth), root)
		if err != nil {
			return Leaf{}, false, err
		}
		if node.bucket {
			i, found := node.find(name)
			if !found {
				return Leaf{}, false, nil
			}
			return node.leaves[i], true, nil
		}
		next := node.children[digit(name, depth)]
		if next.root == (Root{}) {
			return Leaf{}, false, nil
		}
		root = next.root
	}
}

// UpdateTree stores leaves in the tree, each in the place of the one of its name, and returns the new root. It
// sorts list. With an error the nodes are to be thrown away.
func UpdateTree(n Nodes, root Root, list []Leaf) (Root, error) {
	if len(list) == 0 {
		return root, nil
	}
	slices.SortFunc(list, func(a, b Leaf) int { return bytes.Compare(a.Name[:], b.Name[:]) })
	c, err := update(n, root, 0, list)
	return c.root, err
}

// update is UpdateTree for the subtree at a depth, whose names begin like all of list.
func update(n Nodes, root Root, depth int, list []Leaf) (child, error) {
	path := digits(list[0].Name, depth)
	now := node{bucket: true}
	if root != (Root{}) {
		var err error
		if now, err = read(n, path, root); err != nil {
			return child{}, err
		}
	}
	if now.bucket {
		list = merge(now.leaves, list)
		if len(list) <= bucketSize {
			return write(n, path, &node{bucket: true, leaves: list})
		}
		now = node{} // it is split
	}
	for len(list) > 0 {
		d := digit(list[0].Name, depth)
		many := 1
		for many < len(list) && digit(list[many].Name, depth) == d {
			many++
		}
		c, err := update(n, now.children[d].root, depth+1, list[:many])
		if err != nil {
			return child{}, err
		}
		now.children[d], list = c, list[many:]
	}
	return write(n, path, &now)
}

// merge returns the leaves of two lists in the order of their names; of two with one name that of news.
func merge(leaves, news []Leaf) []Leaf {
	list := make([]Leaf, 0, len(leaves)+len(news))
	for len(leaves) > 0 && len(news) > 0 {
		switch order := bytes.Compare(leaves[0].Name[:], news[0].Name[:]); {
		case order < 0:
			list, leaves = append(list, leaves[0]), leaves[1:]
		case order > 0:
			list, news = append(list, news[0]), news[1:]
		default:
			leaves = leaves[1:]
		}
	}
	return append(append(list, leaves...), news...)
}

// EachLeaf calls f for every leaf, in the order of the names. With open it calls f for those of which something
// is open, and reads no node in which there is none.
func EachLeaf(n Nodes, root Root, open bool, f func(*Leaf) error) error {
	if root == (Root{}) {
		return nil
	}
	return each(n, nil, root, open, f)
}

func each(n Nodes, path []byte, root Root, open bool, f func(*Leaf) error) error {
	node, err := read(n, path, root)
	if err != nil {
		return err
	}
	for i := range node.leaves {
		if l := &node.leaves[i]; !open || l.Open > 0 {
			if err := f(l); err != nil {
				return err
			}
		}
	}
	for d := range node.children {
		c := &node.children[d]
		if c.root == (Root{}) || open && c.open == 0 {
			continue
		}
		if err := each(n, append(path[:len(path):len(path)], byte(d)), c.root, open, f); err != nil {
			return err
		}
	}
	return nil
}
