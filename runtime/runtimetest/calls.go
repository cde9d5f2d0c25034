package runtimetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ambit-tools/ambit/runtime/journal"
)

func testCall(t *testing.T, open Opener) {
	j, reopen := open(t)
	list := []journal.Entry{
		entry(1, "s", "a", journal.MarkOpened),
		entry(2, "s", "b", journal.MarkOpened),
		entry(3, "s2", "a", journal.MarkOpened), // the same id in another session
		entry(4, "s", "", 0),                    // of no call
		entry(5, "s", "a", journal.MarkEnded),
		entry(6, "s", "a", 0), // after its end
	}
	list[1].Private = []byte("p")
	for _, e := range list {
		appendAll(t, j, e)
	}
	for range 2 {
		for _, c := range []struct {
			key journal.CallKey
			at  []int
		}{
			{journal.CallKey{Session: "s", Call: "a"}, []int{0, 4, 5}},
			{journal.CallKey{Session: "s", Call: "b"}, []int{1}},
			{journal.CallKey{Session: "s2", Call: "a"}, []int{2}},
			{journal.CallKey{Session: "s2", Call: "b"}, nil},
			{journal.CallKey{Session: "s"}, nil},
		} {
			var of []journal.Entry
			for _, i := range c.at {
				of = append(of, list[i])
			}
			got, err := j.Call(t.Context(), c.key)
			if err != nil {
				t.Fatalf("Call(%v): %v", c.key, err)
			}
			equal(t, got, of)
		}
		j = reopen()
	}
}

func testUnfinished(t *testing.T, open Opener) {
	j, reopen := open(t)
	unfinished := func(want ...journal.CallKey) {
		t.Helper()
		got, err := j.Unfinished(t.Context())
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v are unfinished, want %v: %v", got, want, err)
		}
	}
	a, b, c := journal.CallKey{Session: "s", Call: "a"}, journal.CallKey{Session: "s", Call: "b"}, journal.CallKey{Session: "r", Call: "a"}
	appendAll(t, j, entry(1, "s", "b", journal.MarkOpened), entry(2, "s", "a", journal.MarkOpened), entry(3, "r", "a", journal.MarkOpened))
	unfinished(b, a, c)
	appendAll(t, j, entry(4, "s", "a", journal.MarkStarted), entry(5, "s", "b", journal.MarkEnded))
	unfinished(a, c)
	appendAll(t, j, entry(6, "s", "b", 0)) // comes late, opens nothing
	unfinished(a, c)
	j = reopen()
	unfinished(a, c)
	appendAll(t, j, entry(7, "r", "a", journal.MarkEnded), entry(8, "s", "d", journal.MarkOpened), entry(9, "s", "d", journal.MarkEnded))
	unfinished(a)
	appendAll(t, j, entry(10, "s", "a", journal.MarkEnded))
	unfinished()
	j = reopen()
	unfinished()
}

// testManyCalls has so many calls, finished in another order than begun, that a
// journal that keeps an index of them has to write it now and then.
func testManyCalls(t *testing.T, open Opener) {
	j, reopen := open(t)
	const n, late = 400, 90
	var seq uint64
	next := func(i int, mark journal.Mark) {
		seq++
		appendAll(t, j, entry(seq, fmt.Sprint("s", i%3), fmt.Sprint("c", i), mark))
	}
	key := func(i int) journal.CallKey {
		return journal.CallKey{Session: fmt.Sprint("s", i%3), Call: fmt.Sprint("c", i)}
	}
	for i := range n {
		next(i, journal.MarkOpened)
		if i >= late {
			next(i-late, journal.MarkEnded)
		}
	}
	for range 2 {
		var open []journal.CallKey
		for i := n - late; i < n; i++ {
			open = append(open, key(i))
		}
		got, err := j.Unfinished(t.Context())
		if err != nil || !slices.Equal(got, open) {
			t.Fatalf("%v are unfinished, want %v: %v", got, open, err)
		}
		for i := range n {
			list, err := j.Call(t.Context(), key(i))
			if want := 2 - min(1, i/(n-late)); err != nil || len(list) != want {
				t.Fatalf("call %d has %d entries, want %d: %v", i, len(list), want, err)
			}
		}
		j = reopen()
	}
}

// testReopen appends, gives the journal up and opens it, again and again.
func testReopen(t *testing.T, open Opener) {
	j, reopen := open(t)
	var all []journal.Entry
	for i := range 20 {
		n := uint64(len(all))
		batch := []journal.Entry{entry(n+1, "s", fmt.Sprint("c", i), journal.MarkOpened), entry(n+2, "s", fmt.Sprint("c", i), journal.MarkEnded)}
		batch[0].Private = fmt.Append(nil, i)
		all = append(all, batch...)
		appendAll(t, j, batch...)
		if i%3 == 0 {
			j = reopen()
			want(t, j, all)
		}
	}
	want(t, reopen(), all)
}
