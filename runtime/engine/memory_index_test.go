package engine

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestIndex does the same operations on an index and on a map.
func TestIndex(t *testing.T) {
	var x callIndex
	want := map[string]*callRecord{}
	assert.Nil(t, x.find("a"))
	assert.Empty(t, slices.Collect(x.all()))
	random := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		id := strconv.Itoa(random.IntN(2000))
		require.Same(t, want[id], x.find(id))
		r := &callRecord{ID: id}
		require.Same(t, want[id], x.putIfAbsent(r))
		if want[id] == nil {
			want[id] = r
		}
		require.Same(t, want[id], x.find(id))
	}
	found := map[string]*callRecord{}
	for r := range x.all() {
		require.NotContains(t, found, r.ID)
		found[r.ID] = r
	}
	assert.Equal(t, len(want), x.count)
	assert.Len(t, found, len(want))
	for range x.all() {
		break // a caller may stop the iteration
	}
}

// TestIndexOfOneHash makes all ids collide.
func TestIndexOfOneHash(t *testing.T) {
	var x callIndex
	require.Nil(t, x.putIfAbsent(&callRecord{ID: "a"}))
	first := x.find("a")
	second := &callRecord{ID: "b", hash: first.hash}
	x.link(second)
	assert.Same(t, first, x.lookup("a", first.hash))
	assert.Same(t, second, x.lookup("b", first.hash))
	assert.Nil(t, x.lookup("c", first.hash))
}

// BenchmarkIndex adds 512 calls to an index, and to a map.
func BenchmarkIndex(b *testing.B) {
	records := make([]*callRecord, 512)
	for i := range records {
		records[i] = &callRecord{ID: "c" + strconv.Itoa(i)}
	}
	b.Run("index", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var x callIndex
			for _, r := range records {
				x.putIfAbsent(r)
			}
		}
	})
	b.Run("map", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m := map[string]*callRecord{}
			for _, r := range records {
				if m[r.ID] == nil {
					m[r.ID] = r
				}
			}
		}
	})
}
