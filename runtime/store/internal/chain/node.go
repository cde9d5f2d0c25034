package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"sort"
)

const (
	// bucketSize is how many leaves a node has before it is split.
	bucketSize = 32
	// fanOut is how many children a node has that was split: one for each digit.
	fanOut = 16

	leafSize  = NameSize + 8 + TailSize + 4
	childSize = sha256.Size + 4

	isBucket = 0 // the first byte of a node
	isSplit  = 1
)

// domainNode begins what is digested, so that a node is never something else.
const domainNode = "ambit store node 1\n"

// A node has leaves, in the order of their names, or children.
type node struct {
	bucket   bool
	leaves   []Leaf
	children [fanOut]child
}

// A child is a subtree: its root, zero when it is empty, and what is open in it.
type child struct {
	root Root
	open uint32
}

// digit returns one digit of a name.
func digit(name Name, i int) byte {
	b := name[i/2]
	if i%2 == 0 {
		return b >> 4
	}
	return b & 15
}

// digits returns the first digits of a name, one byte each.
func digits(name Name, many int) []byte {
	path := make([]byte, many)
	for i := range path {
		path[i] = digit(name, i)
	}
	return path
}

// NodePaths returns the paths of the nodes that FindLeaf can read for a name, down to a depth that no tree of a
// million million sessions has.
func NodePaths(name Name) [][]byte {
	const most = 12
	list := make([][]byte, most)
	for i := range list {
		list[i] = digits(name, i)
	}
	return list
}

// rootOf returns the digest of a node.
func rootOf(data []byte) (r Root) {
	h := sha256.New()
	h.Write([]byte(domainNode))
	h.Write(data)
	h.Sum(r[:0])
	return r
}

// read returns the node at a path, whose digest is root.
func read(n Nodes, path []byte, root Root) (node, error) {
	data, err := n.Get(path)
	if err != nil {
		return node{}, err
	}
	if data == nil || rootOf(data) != root {
		return node{}, ErrForged
	}
	return decode(data)
}

// write stores a node, and returns it as the child of another.
func write(n Nodes, path []byte, x *node) (child, error) {
	data := x.encode()
	return child{rootOf(data), x.open()}, n.Put(path, data)
}

// open returns what is open below a node.
func (x *node) open() uint32 {
	sum := uint64(0)
	for i := range x.leaves {
		sum += uint64(x.leaves[i].Open)
	}
	for i := range x.children {
		sum += uint64(x.children[i].open)
	}
	return uint32(min(sum, math.MaxUint32)) // more than that many is as good as that many
}

// find returns where the leaf of a name is.
func (x *node) find(name Name) (int, bool) {
	return sort.Find(len(x.leaves), func(i int) int { return bytes.Compare(name[:], x.leaves[i].Name[:]) })
}

func (x *node) encode() []byte {
	if !x.bucket {
		data := make([]byte, 1, 1+fanOut*childSize)
		data[0] = isSplit
		for i := range x.children {
			c := &x.children[i]
			data = binary.BigEndian.AppendUint32(append(data, c.root[:]...), c.open)
		}
		return data
	}
	data := make([]byte, 1, 1+len(x.leaves)*leafSize)
	data[0] = isBucket
	for i := range x.leaves {
		l := &x.leaves[i]
		data = binary.BigEndian.AppendUint64(append(data, l.Name[:]...), l.Last)
		data = binary.BigEndian.AppendUint32(append(data, l.Tail[:]...), l.Open)
	}
	return data
}

// decode is the reverse of encode. Only a writer with another form can have made what it refuses, because
// the digest was compared before.
func decode(data []byte) (x node, err error) {
	if len(data) == 0 {
		return x, ErrForged
	}
	kind, rest := data[0], data[1:]
	switch {
	case kind == isSplit && len(rest) == fanOut*childSize:
		for i := range x.children {
			b := rest[i*childSize:]
			x.children[i] = child{Root(b[:sha256.Size]), binary.BigEndian.Uint32(b[sha256.Size:])}
		}
	case kind == isBucket && len(rest)%leafSize == 0:
		x.bucket, x.leaves = true, make([]Leaf, len(rest)/leafSize)
		for i := range x.leaves {
			b, l := rest[i*leafSize:], &x.leaves[i]
			l.Name, l.Last = Name(b[:NameSize]), binary.BigEndian.Uint64(b[NameSize:])
			l.Tail, l.Open = [TailSize]byte(b[NameSize+8:leafSize-4]), binary.BigEndian.Uint32(b[leafSize-4:])
			if i > 0 && bytes.Compare(x.leaves[i-1].Name[:], l.Name[:]) >= 0 {
				return x, ErrForged
			}
		}
	default:
		return x, ErrForged
	}
	return x, nil
}
