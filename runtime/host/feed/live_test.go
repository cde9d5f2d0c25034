package feed_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// errEnough ends a subscription of a test.
var errEnough = errors.New("enough")

// follow notes the items that a subscriber gets until ctx ends, as "7" for an entry and "7+3" for the third
// piece after it.
func follow(ctx context.Context, f *feed.Feed, after uint64, filter feed.Filter) (list []string, missed uint64) {
	for item, err := range f.Follow(ctx, after, filter, nil) {
		switch {
		case err != nil:
			return list, missed
		case item.Live != nil:
			list = append(list, fmt.Sprintf("%d+%d", item.Live.After, item.Live.Number))
			missed += item.Missed
		default:
			list = append(list, fmt.Sprint(item.Entry.Seq))
		}
	}
	return list, missed
}

// pieceOf returns a piece of the call of an entry.
func pieceOf(e journal.Entry, number int64) journal.Live {
	return journal.Live{Session: e.Session, Run: e.Run, Call: e.Call, After: e.Seq, Number: number}
}

// TestPiecesAreBetweenTheirEntries: with random appends and reports every subscriber that keeps up gets
// each entry and each piece that match, each piece after the entry that it names and before the entries
// that were appended after it.
// SEMANTICS 2.5.2
func TestPiecesAreBetweenTheirEntries(t *testing.T) {
	for i, filter := range []feed.Filter{{}, {Session: "s3"}, {Run: "r1"}, {Kinds: []string{"tool.output"}}, {Kinds: []string{"kind.1"}}} {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 9))
			f := feed.New(new(journal.Memory), 0)
			ctx, cancel := context.WithCancelCause(t.Context())
			got := make(chan []string, 1)
			go func() {
				list, _ := follow(ctx, f, 0, filter)
				got <- list
			}()
			var want []string
			live := len(filter.Kinds) == 0 || filter.Kinds[0] == "tool.output"
			for n := int64(1); n <= 400; n++ {
				if synctest.Wait(); rng.IntN(2) == 0 {
					appendTo(t, f, 1)
					if seq := f.Head(); len(matching(seq-1, seq, filter)) == 1 {
						want = append(want, fmt.Sprint(seq))
					}
					continue
				}
				if f.Head() == 0 {
					continue
				}
				e := entry(f.Head())
				f.Live(pieceOf(e, n))
				inScope := filter
				inScope.Kinds = nil
				if live && len(matching(e.Seq-1, e.Seq, inScope)) == 1 {
					want = append(want, fmt.Sprintf("%d+%d", e.Seq, n))
				}
			}
			synctest.Wait()
			cancel(errEnough)
			list := <-got
			assert.Equal(t, want, list)
		})
	}
}

// TestPiecesWaitForTheirEntry: a piece is not passed on before its entry is durable, and then goes
// before the next entry. It does not keep the piece of another call.
// SEMANTICS 2.5.2
func TestPiecesWaitForTheirEntry(t *testing.T) {
	for _, filter := range []feed.Filter{{}, {Kinds: []string{"tool.output"}}} {
		synctest.Test(t, func(t *testing.T) {
			f := feed.New(new(journal.Memory), 0)
			ctx, cancel := context.WithCancelCause(t.Context())
			var got []string
			done := make(chan struct{})
			go func() {
				defer close(done)
				got, _ = follow(ctx, f, 0, filter)
			}()
			appendTo(t, f, 1)
			synctest.Wait()
			f.Live(pieceOf(entry(2), 1))
			f.Live(pieceOf(entry(1), 2))
			synctest.Wait()
			require.NoError(t, f.Journal().Append(t.Context(), []journal.Entry{entry(2), entry(3)}))
			synctest.Wait()
			cancel(errEnough)
			<-done
			want := []string{"1", "1+2", "2", "2+1", "3"}
			if filter.Kinds != nil {
				want = []string{"1+2", "2+1"}
			}
			assert.Equal(t, want, got)
		})
	}
}

// TestSlowFollowersMissPieces, the oldest first, and no entry. Neither a report nor an append waits for
// them.
func TestSlowFollowersMissPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(new(journal.Memory), 0)
		ctx, cancel := context.WithCancelCause(t.Context())
		first, release := make(chan struct{}), make(chan struct{})
		var entries, missed uint64
		var pieces []int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for item, err := range f.Follow(ctx, 0, feed.Filter{}, nil) {
				switch {
				case err != nil:
					return
				case item.Live != nil:
					pieces, missed = append(pieces, item.Live.Number), missed+item.Missed
				default:
					if entries++; entries == 1 {
						close(first)
						<-release
					}
				}
			}
		}()
		appendTo(t, f, 1)
		<-first
		for n := range int64(1000) {
			f.Live(pieceOf(entry(1), n+1))
			appendTo(t, f, 1)
		}
		close(release)
		synctest.Wait()
		cancel(errEnough)
		<-done
		assert.EqualValues(t, 1001, entries)
		assert.Len(t, pieces, 64)
		assert.EqualValues(t, 937, pieces[0])
		assert.EqualValues(t, 936, missed)
	})
}

// TestFollowEnds as Subscribe does, and nothing is left of the subscriber.
func TestFollowEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(new(journal.Memory), 0)
		for item, err := range f.Follow(t.Context(), 1, feed.Filter{}, nil) {
			assert.Zero(t, item)
			var p *feed.PositionError
			assert.ErrorAs(t, err, &p)
		}
		ended := make(chan error, 1)
		go func() {
			for item, err := range f.Follow(t.Context(), 0, feed.Filter{Session: "s1"}, nil) {
				if item.Live == nil {
					ended <- err
				}
			}
		}()
		time.Sleep(time.Second)
		f.Live(pieceOf(entry(1), 1)) // its entry never comes
		assert.Equal(t, 1, f.Following())
		f.Close()
		assert.ErrorIs(t, <-ended, journal.ErrClosed)
		synctest.Wait()
		assert.Zero(t, f.Following())
		f.Live(pieceOf(entry(1), 2))
	})
}

// TestKeptPieces: what a call wrote before goes first, all of it; pieces that were reported meanwhile follow
// where they do not repeat it.
// SEMANTICS 2.5.7
func TestKeptPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := feed.New(new(journal.Memory), 0)
		appendTo(t, f, 1)
		ofCommand := func(attempt int, stream string, end, number int64) journal.Live {
			p := pieceOf(entry(1), number)
			p.Attempt, p.Stream, p.End = attempt, stream, end
			return p
		}
		kept := func() (list []journal.Live) {
			for n := range int64(100) { // more than wait for a slow subscriber
				p := ofCommand(2, "stdout", n+1, 7)
				p.Kept = int(n) + 1
				list = append(list, p)
			}
			f.Live(ofCommand(2, "stdout", 100, 8))
			f.Live(ofCommand(2, "stdout", 101, 9))
			f.Live(ofCommand(2, "stderr", 5, 10))
			f.Live(ofCommand(3, "stdout", 5, 11))
			f.Live(pieceOf(entry(1), 12))
			return list
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		var got []int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for item, err := range f.Follow(ctx, 1, feed.Filter{}, kept) {
				if err != nil {
					return
				}
				assert.Zero(t, item.Missed)
				if item.Live.Kept > 0 {
					assert.Len(t, got, item.Live.Kept-1)
				}
				got = append(got, item.Live.Number)
			}
		}()
		synctest.Wait()
		f.Live(pieceOf(entry(1), 13))
		synctest.Wait()
		cancel(errEnough)
		<-done
		require.Len(t, got, 105)
		assert.Equal(t, []int64{9, 10, 11, 12, 13}, got[100:])
	})
}
