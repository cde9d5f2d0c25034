package commitlog_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/journal"
)

var (
	errBroken = errors.New("the disk is broken")
	errFull   = fmt.Errorf("the disk is full: %w", journal.ErrUnavailable)
)

// A disk is what a Writer writes to. A write takes a millisecond.
type disk struct {
	mu      sync.Mutex
	fails   error // of the next writes
	batches [][]uint64
	written []error  // what Written was told
	consent []int    // changes of the book, by entry
	filed   []string // the session of each entry, and its changes
}

func (d *disk) append(entries []journal.Entry) error {
	time.Sleep(time.Millisecond)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fails != nil {
		return d.fails
	}
	var batch []uint64
	for i := range entries {
		batch = append(batch, entries[i].Seq)
		r, err := journal.Decode(entries[i].Leaf)
		if err != nil {
			return err
		}
		d.consent = append(d.consent, len(r.Consent))
		d.filed = append(d.filed, fmt.Sprint(r.Session, len(r.Consent)))
	}
	d.batches = append(d.batches, batch)
	return nil
}

func (d *disk) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails = err
}

// stored returns the batches that were written.
func (d *disk) stored() [][]uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.batches)
}

// bubble runs test with a Writer that has begun after position 0.
func bubble(t *testing.T, test func(t *testing.T, w *commitlog.Writer, d *disk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w, d := open()
		w.Begin(0)
		test(t, w, d)
	})
}

func open() (*commitlog.Writer, *disk) {
	d := &disk{}
	return commitlog.New(commitlog.Config{Sched: &sched.Scheduler{}, Append: d.append, Written: func(err error) {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.written = append(d.written, err)
	}}), d
}

func record() *journal.Record { return &journal.Record{Kind: journal.KindOwner, At: time.Now()} }

func add(w *commitlog.Writer) uint64 { return w.Add(record(), nil) }

func TestNothingIsWrittenBeforeBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d := open()
		assert.ErrorIs(t, w.Health(), commitlog.ErrNotRecovered)
		assert.ErrorIs(t, w.Flush(add(w)), commitlog.ErrNotRecovered)
		time.Sleep(time.Second)
		assert.Empty(t, d.stored())
		w.Begin(41)
		require.NoError(t, w.Health())
		require.NoError(t, w.Flush(add(w)))
		assert.Equal(t, [][]uint64{{42}}, d.stored())
	})
}

func TestNoWriterRecordsNothing(t *testing.T) {
	var w *commitlog.Writer
	assert.False(t, w.On())
	w.ConsentChanged("", &consent.Event{})
	w.HoldBatch()
	w.ReleaseBatch()
	assert.NoError(t, errors.Join(w.Health(), w.Flush(1), w.FlushAll(), w.Close()))
}

// TestOneWriteIsForAllWhoWait: while the first goroutine writes, 31 add their entries; one of these
// writes them all.
func TestOneWriteIsForAllWhoWait(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		first := add(w)
		go func() { assert.NoError(t, w.Flush(first)) }()
		synctest.Wait() // it sleeps in its write
		var done sync.WaitGroup
		for range 31 {
			done.Go(func() { assert.NoError(t, w.Flush(add(w))) })
		}
		done.Wait()
		batches := d.stored()
		require.Len(t, batches, 2)
		assert.Equal(t, []uint64{1}, batches[0])
		assert.Len(t, batches[1], 31)
		assert.True(t, slices.IsSorted(batches[1]), "entries keep the order in which they were added")
		assert.Equal(t, []error{nil, nil}, d.written)
		require.NoError(t, w.FlushAll(), "all is durable")
		assert.Len(t, d.stored(), 2)
	})
}

// TestAFlushWaitsForTheWriteUnderWay: the entry is in the batch that is being written.
func TestAFlushWaitsForTheWriteUnderWay(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		position := add(w)
		go func() { assert.NoError(t, w.FlushAll()) }()
		synctest.Wait()
		assert.Empty(t, d.stored())
		require.NoError(t, w.Flush(position))
		assert.Equal(t, [][]uint64{{1}}, d.stored())
	})
}

func TestEntriesOfNoOneAreWrittenInTime(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		for range 3 {
			add(w)
			time.Sleep(30 * time.Millisecond)
		}
		assert.Empty(t, d.stored())
		time.Sleep(12 * time.Millisecond)
		assert.Equal(t, [][]uint64{{1, 2, 3}}, d.stored())
		add(w)
		time.Sleep(99 * time.Millisecond)
		assert.Len(t, d.stored(), 1)
		time.Sleep(3 * time.Millisecond)
		assert.Len(t, d.stored(), 2, "the timer runs again")
	})
}

func TestAFailedWriteIsSticky(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errBroken)
		require.ErrorIs(t, w.Flush(add(w)), errBroken)
		d.fail(nil)
		require.ErrorIs(t, w.Flush(add(w)), errBroken)
		require.ErrorIs(t, w.FlushThroughStall(add(w)), errBroken)
		require.ErrorIs(t, w.Health(), errBroken)
		assert.False(t, w.Stalled())
		w.Fail(errors.New("another reason"))
		require.ErrorIs(t, w.Health(), errBroken, "the first reason counts")
		time.Sleep(time.Minute)
		assert.Empty(t, d.stored())
		assert.Equal(t, []error{errBroken}, d.written)
	})
}

// TestAFailedWriteFailsWhoWaitsForTheNext: the next batch would leave a gap.
func TestAFailedWriteFailsWhoWaitsForTheNext(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errBroken)
		first := add(w)
		go func() { assert.ErrorIs(t, w.Flush(first), errBroken) }()
		synctest.Wait() // the first write has not failed yet
		second := add(w)
		go func() { assert.ErrorIs(t, w.Flush(second), errBroken) }()
		time.Sleep(time.Second)
		assert.Empty(t, d.stored())
	})
}

func TestARecordThatCannotBeEncodedIsAGap(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		add(w)
		r := record()
		r.Call = "c"
		w.ConsentChanged("", &consent.Event{At: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}) // JSON has no such year
		w.Add(r, nil)
		later := add(w)
		require.ErrorContains(t, w.Flush(later), `owner.changed of call "c" cannot be recorded: `)
		assert.Empty(t, d.stored())
	})
}

func TestConsentTravelsWithTheNextEntry(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		ev, err := consent.NewBook(make([]byte, 32)).Off(time.Now(), time.Now().Add(time.Minute), "root", "test")
		require.NoError(t, err)
		add(w)
		w.ConsentChanged("", &ev)
		w.ConsentChanged("", &ev)
		add(w)
		add(w)
		require.NoError(t, w.FlushAll())
		assert.Equal(t, []int{0, 2, 0}, d.consent)
	})
}

// TestConsentIsFiledUnderItsSession: a change waits for an entry of its own session, and Close writes one for
// those that have had none.
func TestConsentIsFiledUnderItsSession(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		for _, session := range []string{"a", "", "b", "a", "c"} {
			w.ConsentChanged(session, &consent.Event{})
		}
		for _, session := range []string{"x", "a", "a", ""} {
			w.Add(&journal.Record{Kind: journal.KindConsent, Session: session, At: time.Now().UTC()}, nil)
		}
		require.NoError(t, w.Close())
		assert.Equal(t, []string{"x0", "a2", "a0", "1", "b1", "c1"}, d.filed)
	})
}

// TestHeldEntriesAreInOneBatch: a write begins when the batch is released, and not between its
// entries.
func TestHeldEntriesAreInOneBatch(t *testing.T) {
	w, d := open()
	w.Begin(0)
	w.HoldBatch()
	first := add(w)
	flushed := make(chan error)
	go func() { flushed <- w.Flush(first) }()
	time.Sleep(5 * time.Millisecond)
	add(w)
	w.ReleaseBatch()
	require.NoError(t, <-flushed)
	assert.Equal(t, [][]uint64{{1, 2}}, d.stored())
}

func TestCloseWritesAllAndStops(t *testing.T) {
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		add(w)
		require.NoError(t, w.Close())
		assert.Equal(t, [][]uint64{{1}}, d.stored())
		require.ErrorIs(t, w.Health(), commitlog.ErrClosed)
		require.ErrorIs(t, w.Flush(add(w)), commitlog.ErrClosed)
		require.NoError(t, w.Close(), "again")
		time.Sleep(time.Minute)
		assert.Len(t, d.stored(), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		w, _ := open()
		require.NoError(t, w.Close(), "before Begin")
		require.ErrorIs(t, w.Health(), commitlog.ErrClosed)
	})
	bubble(t, func(t *testing.T, w *commitlog.Writer, d *disk) {
		d.fail(errBroken)
		add(w)
		require.ErrorIs(t, w.Close(), errBroken)
	})
}
