package facts_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/internal/facts"
)

// A run reads facts that change with each snapshot.
type run struct {
	mu      sync.Mutex
	present *facts.Snapshot
	own     int
	reads   int
}

func (r *run) ReadFacts(v *facts.View) *facts.Snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reads++
	return v.Read(r.present, r.own)
}

// next changes the facts.
func (r *run) next(used int32) {
	var changed []int
	r.mu.Lock()
	defer r.mu.Unlock()
	r.present = r.present.Next(1, []int32{used}, nil, &changed)
}

// TestView: an evaluation has the facts of its first read, without the slot of its call, and can tell whether they
// are still current.
func TestView(t *testing.T) {
	r := &run{own: -1}
	present := func() *facts.Snapshot { return r.present }
	r.next(1)
	var v facts.View
	v.Open(r)
	assert.True(t, v.Unchanged(func() *facts.Snapshot { t.Error("it was not read"); return nil }))
	first := v.Facts()
	assert.Same(t, r.present, first)
	r.next(2)
	assert.Same(t, first, v.Facts(), "the facts stay the same")
	assert.Same(t, first, v.Read(r.present, r.own), "for a goroutine that comes second, too")
	assert.Equal(t, 1, r.reads)
	assert.False(t, v.Unchanged(present))

	r.own = 0
	v.Open(r)
	assert.True(t, v.Unchanged(present))
	assert.EqualValues(t, 1, v.Facts().Tool(0).Invocations, "without its own slot")
	assert.True(t, v.Unchanged(present))

	r.next(3)
	v.Open(r)
	got := make(chan *facts.Snapshot, 8)
	for range cap(got) {
		go func() { got <- v.Facts() }()
	}
	one := <-got
	for range cap(got) - 1 {
		assert.Same(t, one, <-got)
	}
}
