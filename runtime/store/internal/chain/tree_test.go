package chain_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// nodes stores nodes in memory, and counts those that are read.
type nodes struct {
	m    map[string][]byte
	gets int
}

func (n *nodes) Get(path []byte) ([]byte, error) {
	n.gets++
	return n.m[string(path)], nil
}

func (n *nodes) Put(path, data []byte) error {
	n.m[string(path)] = data
	return nil
}

func (n *nodes) clone() *nodes { return &nodes{m: maps.Clone(n.m)} }

// name returns a name that looks random, as those of sessions do.
func name(i uint64) (n chain.Name) {
	rng := rand.New(rand.NewPCG(i, 1))
	binary.BigEndian.PutUint64(n[:], rng.Uint64())
	binary.BigEndian.PutUint64(n[8:], rng.Uint64())
	return n
}

func leaf(i, last uint64, open uint32) chain.Leaf {
	return chain.Leaf{Name: name(i), Last: last, Tail: [chain.TailSize]byte(bytes.Repeat([]byte{byte(last)}, chain.TailSize)), Open: open}
}

func collect(t require.TestingT, n *nodes, root chain.Root, open bool) (list []chain.Leaf) {
	require.NoError(t, chain.EachLeaf(n, root, open, func(l *chain.Leaf) error {
		list = append(list, *l)
		return nil
	}))
	return list
}

// TestAgreesWithAMap updates a tree in batches and compares it with a map, and with a tree that has the same
// leaves by other batches.
func TestAgreesWithAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	n, model := &nodes{m: map[string][]byte{}}, map[chain.Name]chain.Leaf{}
	var root chain.Root
	for batch := range 60 {
		var list []chain.Leaf
		met := map[uint64]bool{}
		for range 1 + rng.IntN(120) {
			i := rng.Uint64N(2000)
			if met[i] {
				continue
			}
			met[i] = true
			list = append(list, leaf(i, uint64(batch), uint32(max(0, rng.IntN(20)-17))))
		}
		for _, l := range list {
			model[l.Name] = l
		}
		var err error
		root, err = chain.UpdateTree(n, root, list)
		require.NoError(t, err)
		require.ElementsMatch(t, slices.Collect(maps.Values(model)), collect(t, n, root, false))
		var open []chain.Leaf
		for _, l := range model {
			if l.Open > 0 {
				open = append(open, l)
			}
		}
		require.ElementsMatch(t, open, collect(t, n, root, true))
	}
	for i := range uint64(2000) {
		got, found, err := chain.FindLeaf(n, root, name(i))
		want, there := model[name(i)]
		require.NoError(t, err)
		require.Equal(t, there, found)
		require.Equal(t, want, got)
	}
	again := &nodes{m: map[string][]byte{}}
	other, err := chain.UpdateTree(again, chain.Root{}, slices.Collect(maps.Values(model)))
	require.NoError(t, err)
	require.Equal(t, root, other, "the root depends on the leaves alone")
}

// TestReadsFewNodes: a proof reads as many nodes as the tree is deep, and what is open is found by those
// nodes that lead to it.
func TestReadsFewNodes(t *testing.T) {
	n := &nodes{m: map[string][]byte{}}
	var list []chain.Leaf
	for i := range uint64(20_000) {
		list = append(list, leaf(i, i, 0))
	}
	for i := range 3 {
		list[i*5000].Open = 1
	}
	root, err := chain.UpdateTree(n, chain.Root{}, list)
	require.NoError(t, err)
	for i := range uint64(100) {
		n.gets = 0
		_, found, err := chain.FindLeaf(n, root, name(i*400))
		require.NoError(t, err)
		require.Equal(t, i < 50, found)
		require.LessOrEqual(t, n.gets, 5)
		for _, path := range chain.NodePaths(name(i * 400))[:1] {
			require.Empty(t, path)
		}
	}
	n.gets = 0
	require.Len(t, collect(t, n, root, true), 3)
	require.LessOrEqual(t, n.gets, 15)
}

// TestForgedNodes changes, removes, swaps and rolls back each node: no answer about a name below it is
// believed, and those about other names still are.
func TestForgedNodes(t *testing.T) {
	old := &nodes{m: map[string][]byte{}}
	var list []chain.Leaf
	for i := range uint64(300) {
		list = append(list, leaf(i, i, 0))
	}
	before, err := chain.UpdateTree(old, chain.Root{}, list)
	require.NoError(t, err)
	n := old.clone()
	var all []chain.Leaf
	for i := range uint64(310) { // ten of them are new
		all = append(all, leaf(i, i+1000, 1))
	}
	root, err := chain.UpdateTree(n, before, slices.Clone(all))
	require.NoError(t, err)
	paths := slices.Sorted(maps.Keys(n.m))
	for i, path := range paths {
		for what, data := range map[string][]byte{
			"removed":     nil,
			"emptied":     {},
			"changed":     append(n.m[path][:len(n.m[path])-1:len(n.m[path])-1], n.m[path][len(n.m[path])-1]^1),
			"shortened":   n.m[path][:1],
			"swapped":     n.m[paths[(i+1)%len(paths)]],
			"rolled back": old.m[path],
		} {
			spoiled := n.clone()
			spoiled.m[path] = data
			if data == nil {
				delete(spoiled.m, path)
			}
			for j := range uint64(400) {
				got, found, err := chain.FindLeaf(spoiled, root, name(j))
				if slices.ContainsFunc(chain.NodePaths(name(j)), func(p []byte) bool { return string(p) == path }) {
					require.ErrorIs(t, err, chain.ErrForged, "%s: %q", what, path)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, j < 310, found)
				if found {
					require.Equal(t, all[j], got)
				}
			}
			require.ErrorIs(t, chain.EachLeaf(spoiled, root, true, func(*chain.Leaf) error { return nil }), chain.ErrForged)
			_, err := chain.UpdateTree(spoiled, root, slices.Clone(all))
			require.ErrorIs(t, err, chain.ErrForged)
		}
	}
	_, _, err = chain.FindLeaf(n, before, name(1))
	require.ErrorIs(t, err, chain.ErrForged, "an older root over newer nodes")
}

// broken refuses to read or to write.
type broken struct{}

var errBroken = errors.New("broken")

func (broken) Get([]byte) ([]byte, error) { return nil, errBroken }
func (broken) Put([]byte, []byte) error   { return errBroken }

func TestErrorsOfTheStore(t *testing.T) {
	_, err := chain.UpdateTree(broken{}, chain.Root{}, []chain.Leaf{leaf(1, 1, 0)})
	require.ErrorIs(t, err, errBroken)
	_, err = chain.UpdateTree(broken{}, chain.Root{1}, []chain.Leaf{leaf(1, 1, 0)})
	require.ErrorIs(t, err, errBroken)
	_, _, err = chain.FindLeaf(broken{}, chain.Root{1}, name(1))
	require.ErrorIs(t, err, errBroken)
	_, found, err := chain.FindLeaf(broken{}, chain.Root{}, name(1))
	require.NoError(t, err)
	require.False(t, found)
	root, err := chain.UpdateTree(broken{}, chain.Root{1}, nil)
	require.NoError(t, err)
	require.Equal(t, chain.Root{1}, root)
	n := &nodes{m: map[string][]byte{}}
	root, err = chain.UpdateTree(n, chain.Root{}, []chain.Leaf{leaf(1, 1, 1)})
	require.NoError(t, err)
	require.ErrorIs(t, chain.EachLeaf(n, root, false, func(*chain.Leaf) error { return errBroken }), errBroken)
}

// FuzzTree reads names and positions out of bytes: names that share long beginnings, in any order.
func FuzzTree(f *testing.F) {
	f.Add([]byte("some names"), uint8(3))
	f.Add(bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7}, 40), uint8(40))
	f.Fuzz(func(t *testing.T, data []byte, batch uint8) {
		n, model := &nodes{m: map[string][]byte{}}, map[chain.Name]chain.Leaf{}
		var root chain.Root
		var list []chain.Leaf
		flush := func() {
			var err error
			root, err = chain.UpdateTree(n, root, list)
			require.NoError(t, err)
			list = nil
		}
		for i := 0; i+2 <= len(data) && i < 1000; i += 2 {
			l := chain.Leaf{Last: uint64(i), Open: uint32(data[i+1] & 1)}
			l.Name[0], l.Name[chain.NameSize-1] = data[i]&3, data[i+1]
			if !slices.ContainsFunc(list, func(o chain.Leaf) bool { return o.Name == l.Name }) {
				list, model[l.Name] = append(list, l), l
			}
			if len(list) > int(batch) {
				flush()
			}
		}
		flush()
		require.Len(t, collect(t, n, root, false), len(model))
		for name, want := range model {
			got, found, err := chain.FindLeaf(n, root, name)
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, want, got)
		}
	})
}
