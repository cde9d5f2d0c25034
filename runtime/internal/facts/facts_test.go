package facts_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/facts"
)

// TestNext: a snapshot is the same pointer until a count changes, and its version grows with it.
func TestNext(t *testing.T) {
	var none *facts.Snapshot
	var changed []int
	first := none.Next(3, []int32{1}, nil, &changed)
	assert.Equal(t, facts.Tool{Invocations: 1}, first.Tool(0))
	assert.Zero(t, first.Tool(1))
	assert.Zero(t, first.Tool(-1))
	assert.Zero(t, first.Tool(3))
	assert.Equal(t, 3, first.Len())
	assert.Same(t, first, first.Next(3, []int32{1, 0, 0}, []int32{0}, &changed))
	second := first.Next(3, []int32{1, 0, 2}, []int32{1}, &changed)
	assert.Equal(t, []int{0, 2}, changed)
	assert.Equal(t, first.Version()+1, second.Version())
	assert.Equal(t, facts.Tool{Invocations: 1, Successes: 1}, second.Tool(0))
	assert.Zero(t, first.Tool(2), "a snapshot does not change")
	many := none.Next(20, nil, nil, &changed)
	assert.Equal(t, 20, many.Len())
	assert.Zero(t, none.Version())
	assert.Zero(t, none.Len())
}

// TestWithout takes the slot of one call off, and not below zero.
func TestWithout(t *testing.T) {
	var none *facts.Snapshot
	var changed []int
	f := none.Next(2, []int32{2}, nil, &changed)
	assert.EqualValues(t, 1, f.Without(0).Tool(0).Invocations)
	assert.EqualValues(t, 0, f.Without(1).Tool(1).Invocations)
	assert.EqualValues(t, 2, f.Tool(0).Invocations)
	assert.Equal(t, f.Version(), f.Without(0).Version())
}

// TestByName: tools are named that were invoked or have a success, successes in the order of the registry.
func TestByName(t *testing.T) {
	var none *facts.Snapshot
	var changed []int
	name := func(i int) string { return string(rune('a' + i)) }
	invocations, succeeded := none.ByName(name)
	assert.Equal(t, map[string]int{}, invocations)
	assert.Empty(t, succeeded)
	invocations, succeeded = none.Next(4, []int32{1, 0, 2}, []int32{1, 0, 0, 1}, &changed).ByName(name)
	assert.Equal(t, map[string]int{"a": 1, "c": 2}, invocations)
	assert.Equal(t, []string{"a", "d"}, succeeded)
}

// TestMemo: what is derived is built once a snapshot, from what was built for an earlier one, until
// too much has changed.
func TestMemo(t *testing.T) {
	var none *facts.Snapshot
	var changed []int
	type memo struct {
		base    any
		changed []int
	}
	build := func(base any, changed []int) any { return &memo{base, changed} }
	f := none.Next(1, nil, nil, &changed)
	first := f.Memo(build)
	assert.Same(t, first, f.Memo(func(any, []int) any { panic("it was built") }))
	f = f.Next(1, []int32{1}, nil, &changed).Next(1, []int32{2}, nil, &changed)
	second := f.Memo(build).(*memo)
	assert.Same(t, first, second.base)
	assert.Equal(t, []int{0, 0}, second.changed)
	for i := range int32(100) {
		f = f.Next(1, []int32{3 + i}, nil, &changed)
	}
	third := f.Memo(build).(*memo)
	assert.Nil(t, third.base, "too much has changed")
	require.Nil(t, none.Memo(build).(*memo).base)
}

// TestFollowing: the counts are asked for when their version has changed, and the snapshot stays the
// same pointer while no count has.
func TestFollowing(t *testing.T) {
	var of facts.Following
	used, asked := []int32{1}, 0
	counts := func() ([]int32, []int32) { asked++; return used, nil }
	first := of.At(0, 2, counts)
	assert.Equal(t, facts.Tool{Invocations: 1}, first.Tool(0))
	assert.Same(t, first, of.At(0, 2, counts))
	assert.Equal(t, 1, asked)
	assert.Same(t, first, of.At(1, 2, counts), "what changed is not of this run")
	assert.Equal(t, 2, asked)
	used = []int32{1, 1}
	second := of.At(2, 2, counts)
	assert.Equal(t, facts.Tool{Invocations: 1}, second.Tool(1))
	assert.Equal(t, first.Version()+1, second.Version())
	assert.Same(t, second, of.At(2, 2, counts))
	assert.Equal(t, 3, asked)
}
