package runtimetest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestSessions tests how a journal is read by session against the contract of [journal.Journal].
func TestSessions(t *testing.T, open Opener) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"back", testBack},
		{"back over many", testBackOverMany},
		{"back while appending", testBackWhileAppending},
		{"entries", testEntries},
		{"open sessions", testOpenSessions},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

// back returns the entries of a session before a position, the last one first, at most so many.
func back(t *testing.T, j journal.Journal, session string, before uint64, most int) (list []journal.Entry) {
	t.Helper()
	err := j.Back(t.Context(), session, before, func(e *journal.Entry) bool {
		list = append(list, *e)
		return len(list) < most
	})
	if err != nil {
		t.Fatalf("Back: %v", err)
	}
	return list
}

// backwards returns what Back is to give of all entries, in another way.
func backwards(all []journal.Entry, session string, before uint64) (list []journal.Entry) {
	for _, e := range slices.Backward(all) {
		if e.Session == session && e.Seq < before {
			list = append(list, e)
		}
	}
	return list
}

func testBack(t *testing.T, open Opener) {
	j, reopen := open(t)
	if list := back(t, j, "s", math.MaxUint64, 9); list != nil {
		t.Fatalf("an empty journal has %v", list)
	}
	var all []journal.Entry
	for i, session := range []string{"s", "", "t", "s", "S", "s\x00", "", "s", "t"} {
		e := entry(uint64(i+1), session, "", journal.MarkNone)
		if i%2 == 0 {
			e.Private = fmt.Append(nil, "private ", i)
		}
		all = append(all, e)
	}
	appendAll(t, j, all[:5]...)
	appendAll(t, j, all[5:]...)
	for range 2 {
		for _, session := range []string{"s", "t", "", "S", "s\x00", "nobody"} {
			for _, before := range []uint64{0, 1, 2, 4, 5, 8, 9, 10, 1 << 63, math.MaxUint64} {
				want := backwards(all, session, before)
				equal(t, back(t, j, session, before, 99), want)
				equal(t, back(t, j, session, before, 1), want[:min(1, len(want))])
			}
		}
		j = reopen()
	}
}

// testBackOverMany reads the first entry of a session behind thousands of others, and asks the journal meanwhile.
func testBackOverMany(t *testing.T, open Opener) {
	j, reopen := open(t)
	var all []journal.Entry
	for i := range 3000 {
		session := "many"
		if i%1000 == 0 {
			session = "few"
		}
		all = append(all, entry(uint64(i+1), session, fmt.Sprint("c", i/4), journal.MarkNone))
	}
	appendAll(t, j, all...)
	for range 2 {
		for _, session := range []string{"few", "many"} {
			equal(t, back(t, j, session, math.MaxUint64, len(all)), backwards(all, session, math.MaxUint64))
			equal(t, back(t, j, session, 1500, 700), backwards(all, session, 1500)[:min(700, len(backwards(all, session, 1500)))])
		}
		err := j.Back(t.Context(), "few", math.MaxUint64, func(e *journal.Entry) bool {
			equal(t, back(t, j, "many", e.Seq, 1), backwards(all, "many", e.Seq)[:min(1, int(e.Seq)-1)])
			return true
		})
		if err != nil {
			t.Fatalf("Back: %v", err)
		}
		j = reopen()
	}
}

// testBackWhileAppending: what is read is the session as it was at some moment.
func testBackWhileAppending(t *testing.T, open Opener) {
	j, _ := open(t)
	const n = 300
	var wg sync.WaitGroup
	wg.Go(func() {
		for seen := 0; seen < n/2; {
			var list []uint64
			err := j.Back(t.Context(), "even", math.MaxUint64, func(e *journal.Entry) bool {
				list = append(list, e.Seq)
				return true
			})
			for i, seq := range list {
				if seq != uint64(2*(len(list)-i)) {
					t.Errorf("entry %d of the session at place %d of %d", seq, i, len(list))
					return
				}
			}
			if err != nil || len(list) < seen {
				t.Errorf("%d entries after %d: %v", len(list), seen, err)
				return
			}
			seen = len(list)
		}
	})
	for seq := uint64(1); seq <= n; seq++ {
		appendAll(t, j, entry(seq, []string{"even", "odd"}[seq%2], "", journal.MarkNone))
	}
	wg.Wait()
}

func testEntries(t *testing.T, open Opener) {
	j, reopen := open(t)
	all := full()
	appendAll(t, j, all...)
	for range 2 {
		for _, seqs := range [][]uint64{nil, {1}, {4}, {3, 1}, {2, 4, 2}, {4, 3, 2, 1}} {
			got, err := j.Entries(t.Context(), seqs...)
			if err != nil {
				t.Fatalf("Entries(%v): %v", seqs, err)
			}
			var want []journal.Entry
			for _, seq := range seqs {
				want = append(want, all[seq-1])
			}
			equal(t, got, want)
		}
		for _, seqs := range [][]uint64{{0}, {5}, {1, 5, 2}, {math.MaxUint64}, {1 << 63}} {
			if got, err := j.Entries(t.Context(), seqs...); !errors.Is(err, journal.ErrNoEntry) || got != nil {
				t.Fatalf("Entries(%v): %d entries, and the error is %v, want ErrNoEntry", seqs, len(got), err)
			}
		}
		j = reopen()
	}
}

func testOpenSessions(t *testing.T, open Opener) {
	j, reopen := open(t)
	wantOpen := func(want ...string) {
		t.Helper()
		for range 2 {
			got, err := j.Open(t.Context())
			if err != nil || !slices.Equal(got, want) {
				t.Fatalf("the open sessions are %q, want %q: %v", got, want, err)
			}
			j = reopen()
		}
	}
	var seq uint64
	add := func(session, call string, marks ...journal.Mark) {
		for _, m := range marks {
			seq++
			appendAll(t, j, entry(seq, session, call, m))
		}
	}
	wantOpen()
	add("s", "", journal.MarkNone)
	wantOpen()
	add("b", "1", journal.MarkOpened)
	add("a", "1", journal.MarkOpened, journal.MarkStarted)
	add("a", "2", journal.MarkOpened)
	wantOpen("a", "b")
	add("a", "1", journal.MarkEnded)
	wantOpen("a", "b") // by the other call
	add("a", "2", journal.MarkEnded)
	wantOpen("b")
	add("a", "1", journal.MarkUndoing)
	wantOpen("a", "b")
	add("a", "2", journal.MarkUndoing, journal.MarkUndone)
	add("b", "1", journal.MarkEnded)
	wantOpen("a") // by the undo of 1
	add("a", "1", journal.MarkUndone, journal.MarkNone)
	wantOpen()
	add("a", "1", journal.MarkUndoing, journal.MarkUndone, journal.MarkUndoing) // the second attempt
	wantOpen("a")
	add("a", "1", journal.MarkUndone)
	add("c", "1", journal.MarkUndone) // of a tool without a handler
	wantOpen()
	add("b", "1", journal.MarkOpened) // the id is used again
	for range 200 {
		add("d", "1", journal.MarkOpened, journal.MarkEnded)
	}
	wantOpen("b")
	add("", "1", journal.MarkOpened)
	wantOpen("", "b")
}
