package runtimetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// An Opener makes an empty journal for one test, and closes it with t.Cleanup. Reopen
// abandons the journal without closing it, as far as that is possible, as a crash
// would, and returns the journal that is found afterwards.
type Opener func(t *testing.T) (j journal.Journal, reopen func() journal.Journal)

// TestJournal tests a journal against the contract of [journal.Journal].
func TestJournal(t *testing.T, open Opener) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Opener)
	}{
		{"round trip", testRoundTrip},
		{"empty", testEmpty},
		{"conflict", testConflict},
		{"limits", testLimits},
		{"call", testCall},
		{"unfinished", testUnfinished},
		{"many calls", testManyCalls},
		{"reopen", testReopen},
		{"not aliased", testNotAliased},
		{"big batch", testBigBatch},
		{"big leaf", testBigLeaf},
		{"cancelled", testCancelled},
		{"readers", testReaders},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, open) })
	}
}

// entry makes an entry that differs from every other one.
func entry(seq uint64, session, call string, mark journal.Mark) journal.Entry {
	return journal.Entry{
		Seq: seq, At: time.Unix(1_700_000_000, int64(seq)).UTC(), Kind: fmt.Sprintf("tool.%d", mark),
		Session: session, Run: "r", Call: call, Tool: "t", Mark: mark, Leaf: fmt.Appendf(nil, `{"n":%d}`, seq),
	}
}

func appendAll(t *testing.T, j journal.Journal, entries ...journal.Entry) {
	t.Helper()
	if err := j.Append(t.Context(), entries); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

// want fails unless j has exactly these entries.
func want(t *testing.T, j journal.Journal, entries []journal.Entry) {
	t.Helper()
	got, err := j.Read(t.Context(), 0, len(entries)+1)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	equal(t, got, entries)
}

func equal(t *testing.T, got, want []journal.Entry) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d entries, want %d", len(got), len(want))
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Fatalf("entry %d is\n%+v, want\n%+v", i, got[i], want[i])
		}
	}
}

// full has entries whose fields are as different as they can be.
func full() []journal.Entry {
	text := "ä\x00\xff '\";--\n"
	return []journal.Entry{
		{Seq: 1, At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Kind: "k", Session: "s", Run: "r", Call: "c", Tool: "t", Mark: journal.MarkOpened, Leaf: []byte(text), Private: []byte(text)},
		{Seq: 2, At: time.Unix(0, 1).UTC(), Kind: text, Session: text, Run: text, Call: text, Tool: text, Mark: journal.MarkStarted, Leaf: []byte{0}, Private: []byte{}},
		{Seq: 3, At: time.Date(1969, 1, 2, 3, 4, 5, 999999999, time.UTC), Kind: "k", Session: "s", Mark: journal.MarkEnded, Leaf: []byte{0xff, 0}},
		{Seq: 4, Kind: "no time", Session: "s", Leaf: []byte("x")},
	}
}

func testRoundTrip(t *testing.T, open Opener) {
	j, reopen := open(t)
	appendAll(t, j, full()...)
	want(t, j, full())
	want(t, reopen(), full())
}

func testEmpty(t *testing.T, open Opener) {
	j, reopen := open(t)
	for range 2 {
		want(t, j, nil)
		appendAll(t, j) // nothing
		if list, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: "c"}); len(list) != 0 || err != nil {
			t.Fatalf("Call: %v, %v", list, err)
		}
		if list, err := j.Unfinished(t.Context()); len(list) != 0 || err != nil {
			t.Fatalf("Unfinished: %v, %v", list, err)
		}
		j = reopen()
	}
}

func testConflict(t *testing.T, open Opener) {
	j, reopen := open(t)
	one := []journal.Entry{entry(1, "s", "c", journal.MarkOpened), entry(2, "s", "c", journal.MarkStarted)}
	refuse := func(entries ...journal.Entry) {
		t.Helper()
		if err := j.Append(t.Context(), entries); !errors.Is(err, journal.ErrConflict) {
			t.Fatalf("the error is %v, want ErrConflict", err)
		}
	}
	refuse(entry(0, "s", "c", 0))
	refuse(entry(2, "s", "c", 0))
	refuse(entry(1, "s", "c", 0), entry(3, "s", "c", 0)) // a gap
	refuse(entry(1, "s", "c", 0), entry(1, "s", "c", 0))
	want(t, j, nil)
	appendAll(t, j, one...)
	refuse(entry(2, "s", "c", 0), entry(3, "s", "c", 0))
	refuse(entry(4, "s", "c", 0))
	refuse(entry(1<<63+3, "s", "c", 0))
	many := []journal.Entry{}
	for i := range 40 {
		many = append(many, entry(uint64(i+3), "s", "c", 0))
	}
	many[39].Seq++
	refuse(many...)
	want(t, j, one)
	j = reopen()
	want(t, j, one)
	appendAll(t, j, entry(3, "s", "c", journal.MarkEnded)) // a refusal is not the end
	want(t, j, append(one, entry(3, "s", "c", journal.MarkEnded)))
}

func testLimits(t *testing.T, open Opener) {
	j, _ := open(t)
	var all []journal.Entry
	for i := range 5 {
		all = append(all, entry(uint64(i+1), "s", "", 0))
	}
	appendAll(t, j, all...)
	for _, c := range []struct {
		after       uint64
		limit       int
		first, last int
	}{
		{0, 0, 0, 0}, {0, -1, 0, 0}, {0, 2, 0, 2}, {1, 3, 1, 4}, {4, 9, 4, 5}, {5, 9, 0, 0}, {99, 9, 0, 0},
		{1 << 63, 9, 0, 0}, {1<<64 - 1, 9, 0, 0}, {0, math.MaxInt, 0, 5}, {2, math.MaxInt, 2, 5},
	} {
		got, err := j.Read(t.Context(), c.after, c.limit)
		if err != nil {
			t.Fatalf("Read(%d, %d): %v", c.after, c.limit, err)
		}
		equal(t, got, all[c.first:c.last])
	}
}

func testNotAliased(t *testing.T, open Opener) {
	j, _ := open(t)
	e := full()[0]
	appendAll(t, j, e)
	for i := range e.Leaf {
		e.Leaf[i], e.Private[i] = 'x', 'x'
	}
	want(t, j, full()[:1])
}

func testBigBatch(t *testing.T, open Opener) {
	j, reopen := open(t)
	const n = 3000
	all := make([]journal.Entry, n)
	for i := range all {
		all[i] = entry(uint64(i+1), "s", fmt.Sprint("c", i/5), 0)
		if i%7 == 0 {
			all[i].Private = fmt.Append(nil, i)
		}
	}
	appendAll(t, j, all[:1]...)
	appendAll(t, j, all[1:]...)
	want(t, j, all)
	want(t, reopen(), all)
}

func testBigLeaf(t *testing.T, open Opener) {
	j, reopen := open(t)
	e := entry(1, "s", "c", journal.MarkOpened)
	e.Leaf = []byte(strings.Repeat("0123456789abcdef", 4<<20/16))
	e.Private = bytes.Clone(e.Leaf)
	appendAll(t, j, e)
	want(t, j, []journal.Entry{e})
	want(t, reopen(), []journal.Entry{e})
}

func testCancelled(t *testing.T, open Opener) {
	j, reopen := open(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Append(ctx, full()); !errors.Is(err, context.Canceled) {
		t.Fatalf("the error is %v, want context.Canceled", err)
	}
	want(t, j, nil)
	appendAll(t, j, full()...)
	want(t, reopen(), full())
}

// testReaders reads while one goroutine appends: what is read is whole batches,
// and never less than what was read before.
func testReaders(t *testing.T, open Opener) {
	j, _ := open(t)
	const batches, size = 100, 3
	ctx, end := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for seen := 0; ctx.Err() == nil; {
				list, err := j.Read(t.Context(), 0, batches*size)
				if err != nil || len(list) < seen || len(list)%size != 0 {
					t.Errorf("%d entries after %d, in batches of %d: %v", len(list), seen, size, err)
					return
				}
				seen = len(list)
				open, err := j.Unfinished(t.Context())
				if err != nil || len(open) != 0 {
					t.Errorf("the calls %v are unfinished: %v", open, err)
					return
				}
			}
		})
	}
	for i := range batches {
		n, call := uint64(i*size), fmt.Sprint("c", i)
		appendAll(t, j, entry(n+1, "s", call, journal.MarkOpened), entry(n+2, "s", call, journal.MarkStarted), entry(n+3, "s", call, journal.MarkEnded))
		if _, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: call}); err != nil {
			t.Errorf("Call: %v", err)
		}
	}
	end()
	wg.Wait()
}
