package feed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// entry is the entry at a position. It belongs to one of ten sessions.
func entry(seq uint64) journal.Entry {
	return journal.Entry{
		Seq: seq, At: time.Unix(int64(seq), 0).UTC(), Kind: fmt.Sprint("kind.", seq%3), Session: fmt.Sprint("s", seq%10), Run: fmt.Sprint("r", seq%4),
		Call: fmt.Sprint("c", seq%7), Leaf: fmt.Appendf(nil, `{"n":%d}`, seq), Private: []byte("secret"),
	}
}

// appendTo appends n entries, in batches of random sizes.
func appendTo(t *testing.T, f *feed.Feed, n int) {
	t.Helper()
	j := f.Journal()
	for n > 0 {
		batch := make([]journal.Entry, min(n, 1+rand.IntN(8)))
		for i := range batch {
			batch[i] = entry(f.Head() + 1 + uint64(i))
		}
		require.NoError(t, j.Append(t.Context(), batch))
		n -= len(batch)
	}
}

// take reads entries up to a position that matches the filter.
func take(ctx context.Context, f *feed.Feed, after, last uint64, filter feed.Filter) (list []uint64, err error) {
	for e, err := range f.Subscribe(ctx, after, filter) {
		if err != nil {
			return list, err
		}
		if e.Private != nil || string(e.Leaf) != fmt.Sprintf(`{"n":%d}`, e.Seq) {
			return list, fmt.Errorf("entry %d is %+v", e.Seq, e)
		}
		list = append(list, e.Seq)
		if e.Seq == last {
			return list, nil
		}
	}
	return list, errors.New("the subscription ended without an error")
}

// matching returns the positions of matching entries after a position.
func matching(after, last uint64, filter feed.Filter) (list []uint64) {
	for seq := after + 1; seq <= last; seq++ {
		e := entry(seq)
		if (filter.Session == "" || filter.Session == e.Session) && (filter.Run == "" || filter.Run == e.Run) && (filter.Call == "" || filter.Call == e.Call) &&
			(filter.Kinds == nil || filter.Kinds[0] == e.Kind) {
			list = append(list, seq)
		}
	}
	return list
}

// TestJournalIsAJournal runs the suite of all journals.
func TestJournalIsAJournal(t *testing.T) {
	runtimetest.TestJournal(t, func(t *testing.T) (journal.Journal, func() journal.Journal) {
		m := new(journal.Memory)
		f := feed.New(m, 0)
		return f.Journal(), func() journal.Journal {
			f = feed.New(m, f.Head())
			return f.Journal()
		}
	})
}

// TestSubscribersGetEachEntryOnce has subscribers with random filters read from random positions
// while the journal grows, stop at random and resume.
func TestSubscribersGetEachEntryOnce(t *testing.T) {
	const before, after = 6000, 3000
	m := new(journal.Memory)
	appendTo(t, feed.New(m, 0), before)
	f := feed.New(m, before)
	var readers sync.WaitGroup
	for range battery.Count(t, 20, 100) {
		from := rand.Uint64N(before)
		filter := []feed.Filter{{}, {Session: "s3"}, {Run: "r0"}, {Call: "c2"}, {Kinds: []string{"kind.1"}}, {Session: "s6", Kinds: []string{"kind.0"}}}[rand.IntN(6)]
		want := matching(from, before+after, filter)
		readers.Go(func() {
			var got []uint64
			for at := from; len(got) < len(want); at = got[len(got)-1] {
				stop := want[min(len(got)+rand.IntN(500), len(want)-1)]
				list, err := take(t.Context(), f, at, stop, filter)
				if !assert.NoError(t, err) {
					return
				}
				got = append(got, list...)
			}
			assert.Equal(t, want, got)
		})
	}
	appendTo(t, f, after)
	readers.Wait()
}

// TestAThousandSubscribers has 990 that ask for other sessions and 100 that never read.
func TestAThousandSubscribers(t *testing.T) {
	events := battery.Count(t, 2000, 10_000)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := feed.New(new(journal.Memory), 0)
		var others, readers sync.WaitGroup
		for range 990 {
			others.Go(func() {
				list, err := take(ctx, f, 0, 0, feed.Filter{Session: "another"})
				assert.Empty(t, list)
				assert.ErrorIs(t, err, context.Canceled)
			})
		}
		for range 100 {
			others.Go(func() {
				for range f.Subscribe(ctx, 0, feed.Filter{}) {
					<-ctx.Done()
					return
				}
			})
		}
		for range 10 {
			readers.Go(func() {
				list, err := take(ctx, f, 0, uint64(events), feed.Filter{})
				assert.NoError(t, err)
				assert.Equal(t, matching(0, uint64(events), feed.Filter{}), list)
			})
		}
		appendTo(t, f, events)
		readers.Wait()
		synctest.Wait()
		n, size := f.Window()
		assert.LessOrEqual(t, n, feed.WindowEntries)
		assert.LessOrEqual(t, size, feed.WindowBytes)
		assert.Equal(t, 990, f.Waiting())
		cancel()
		others.Wait()
		assert.Zero(t, f.Waiting())
	})
}

// TestTheWindowIsBounded appends long entries.
func TestTheWindowIsBounded(t *testing.T) {
	f := feed.New(new(journal.Memory), 0)
	for seq := uint64(1); seq <= 40; seq++ {
		e := entry(seq)
		e.Leaf = make([]byte, feed.WindowBytes/10)
		require.NoError(t, f.Journal().Append(t.Context(), []journal.Entry{e}))
		n, size := f.Window()
		require.LessOrEqual(t, size, feed.WindowBytes)
		require.LessOrEqual(t, n, 10)
	}
	e := entry(41)
	e.Leaf = make([]byte, 2*feed.WindowBytes)
	require.NoError(t, f.Journal().Append(t.Context(), []journal.Entry{e}))
	n, _ := f.Window()
	assert.Equal(t, 1, n, "the latest entry, however long it is")
	seen := 0
	for e, err := range f.Subscribe(t.Context(), 0, feed.Filter{}) {
		require.NoError(t, err)
		if seen++; e.Seq == 41 {
			break
		}
	}
	assert.Equal(t, 41, seen)
}

// TestAppendWaitsForNoSubscriber keeps a subscriber in its loop body.
func TestAppendWaitsForNoSubscriber(t *testing.T) {
	const n = 3 * feed.WindowEntries
	f := feed.New(new(journal.Memory), 0)
	begun, release, done := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() {
		seen := 0
		for e := range f.Subscribe(t.Context(), 0, feed.Filter{}) {
			if seen++; seen == 1 {
				close(begun)
				<-release
			}
			if e.Seq == n {
				break
			}
		}
		done <- seen
	}()
	appendTo(t, f, 1)
	<-begun
	appendTo(t, f, n-1)
	close(release)
	assert.Equal(t, n, <-done)
}

// A slow journal has stored entries before it says that they are durable.
type slow struct {
	*journal.Memory
	durable chan error
}

func (s slow) Append(ctx context.Context, entries []journal.Entry) error {
	if err := s.Memory.Append(ctx, entries); err != nil {
		return err
	}
	return <-s.durable
}

// TestNoEntryBeforeItIsDurable has subscribers wait at the end, and begin while an entry is stored
// and not durable.
func TestNoEntryBeforeItIsDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slow{new(journal.Memory), make(chan error)}
		require.NoError(t, s.Memory.Append(t.Context(), []journal.Entry{entry(1)}))
		f := feed.New(s, 1)
		got := make(chan uint64, 10)
		read := func() {
			list, err := take(t.Context(), f, 0, 2, feed.Filter{})
			assert.NoError(t, err)
			for _, seq := range list {
				got <- seq
			}
		}
		go read()
		go func() { assert.NoError(t, f.Journal().Append(t.Context(), []journal.Entry{entry(2)})) }()
		synctest.Wait()
		go read()
		synctest.Wait()
		assert.Equal(t, 2, f.Waiting())
		assert.Empty(t, got)
		s.durable <- nil
		synctest.Wait()
		assert.Len(t, got, 4)
	})
}

// A full journal refuses to append.
type full struct{ *journal.Memory }

func (full) Append(context.Context, []journal.Entry) error { return journal.ErrUnavailable }

// TestRefusedEntriesAreNotPassedOn appends what the feed, or the inner journal, refuses.
func TestRefusedEntriesAreNotPassedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := feed.New(full{new(journal.Memory)}, 0)
		ended := make(chan []uint64)
		go func() {
			list, err := take(ctx, f, 0, 0, feed.Filter{})
			assert.ErrorIs(t, err, context.Canceled)
			ended <- list
		}()
		synctest.Wait()
		require.ErrorIs(t, f.Journal().Append(t.Context(), []journal.Entry{entry(2)}), journal.ErrConflict)
		require.ErrorIs(t, f.Journal().Append(t.Context(), []journal.Entry{entry(1)}), journal.ErrUnavailable)
		synctest.Wait()
		assert.Equal(t, 1, f.Waiting())
		assert.Zero(t, f.Head())
		cancel()
		assert.Empty(t, <-ended)
	})
}

// TestSubscriptionsEnd ends subscriptions in all ways.
func TestSubscriptionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(new(journal.Memory), 0)
		appendTo(t, f, 5)

		_, err := take(t.Context(), f, 6, 0, feed.Filter{})
		var position *feed.PositionError
		require.ErrorAs(t, err, &position)
		assert.Equal(t, feed.PositionError{After: 6, Head: 5}, *position)
		assert.EqualError(t, err, "there is no entry 6: the journal ends with entry 5")

		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := take(ctx, f, 5, 0, feed.Filter{})
			ended <- err
		}()
		synctest.Wait()
		over := errors.New("over")
		cancel(over)
		assert.Equal(t, over, <-ended)
		assert.Zero(t, f.Waiting())

		for range 2 {
			go func() {
				list, err := take(t.Context(), f, 2, 0, feed.Filter{})
				assert.Equal(t, []uint64{3, 4, 5}, list)
				ended <- err
			}()
			synctest.Wait()
			f.Close()
			assert.ErrorIs(t, <-ended, journal.ErrClosed)
		}
		assert.ErrorIs(t, f.Journal().Append(t.Context(), []journal.Entry{entry(6)}), journal.ErrClosed)
	})
}

// A broken journal cannot be read.
type broken struct{ *journal.Memory }

func (broken) Read(context.Context, uint64, int) ([]journal.Entry, error) {
	return []journal.Entry{entry(1)}, errors.New("damaged after entry 1")
}

// TestDamageEndsASubscription reads a journal up to where it is damaged, and one that lacks entries.
func TestDamageEndsASubscription(t *testing.T) {
	list, err := take(t.Context(), feed.New(broken{new(journal.Memory)}, 3), 0, 3, feed.Filter{})
	assert.Equal(t, []uint64{1}, list)
	assert.EqualError(t, err, "damaged after entry 1")
	_, err = take(t.Context(), feed.New(new(journal.Memory), 3), 1, 3, feed.Filter{})
	assert.EqualError(t, err, "the journal has no entry after 1, although it ends with entry 3")
}
