package feed_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// An endless journal keeps none of its entries, and makes them anew when they are read.
type endless struct {
	journal.Journal
	head atomic.Uint64
}

func long(seq uint64) journal.Entry {
	e := entry(seq)
	e.Leaf = make([]byte, 1<<10)
	return e
}

func (j *endless) Append(_ context.Context, list []journal.Entry) error {
	j.head.Store(list[len(list)-1].Seq)
	return nil
}

func (j *endless) Read(_ context.Context, after uint64, limit int) (list []journal.Entry, err error) {
	for seq := after + 1; seq <= j.head.Load() && len(list) < limit; seq++ {
		list = append(list, long(seq))
	}
	return list, nil
}

// TestMemoryIsFlat: behind a thousand subscribers, of whom a hundred take one entry and no other, the heap
// does not grow with what they have not taken.
func TestMemoryIsFlat(t *testing.T) { synctest.Test(t, testMemoryIsFlat) }

func testMemoryIsFlat(t *testing.T) {
	const first, most = 4 * feed.WindowEntries, 16 << 20 // entries at first, and bytes that are written afterwards
	ctx, cancel := context.WithCancel(t.Context())
	f := feed.New(&endless{}, 0)
	var all sync.WaitGroup
	var taken atomic.Int32
	for i := range 1000 {
		all.Go(func() {
			filter := feed.Filter{}
			if i >= 100 {
				filter.Session = "another"
			}
			for _, err := range f.Subscribe(ctx, 0, filter) {
				if err == nil {
					taken.Add(1)
				}
				<-ctx.Done()
				return
			}
		})
	}
	seq := uint64(0)
	write := func(n int) {
		for range n {
			seq++
			require.NoError(t, f.Journal().Append(ctx, []journal.Entry{long(seq)}))
		}
	}
	heap := func() uint64 {
		synctest.Wait() // each subscriber has what it takes, and waits
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	write(first)
	before := heap()
	require.EqualValues(t, 100, taken.Load())
	write(most >> 10)
	assert.Less(t, heap(), before+most/4)
	cancel()
	all.Wait()
}
