package runtimetest

import (
	"errors"
	"strconv"
	"testing"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A CrashOpener makes an empty journal on a storage that can fail, and sees to its
// end with t.Cleanup. Fail has an operation of the storage fail, the n-th from then
// on: it may be one that writes or one that makes durable. Crash is a loss of power:
// it gives the journal up, and returns what is found afterwards, on a storage that
// works again.
type CrashOpener func(t *testing.T) (j journal.Journal, fail func(n int), crash func() journal.Journal)

// TestCrashes holds a journal to what [journal.Journal] promises when its storage
// fails in the middle of an append, and then loses power: what was acknowledged is
// there, what failed is there whole or not at all, what failed with ErrUnavailable is
// not there, and nothing is acknowledged after an error of which it is not known what
// it left behind.
func TestCrashes(t *testing.T, open CrashOpener) {
	const operations = 40 // of some appends
	for n := range operations {
		t.Run(strconv.Itoa(n), func(t *testing.T) { testCrash(t, open, n) })
	}
}

func testCrash(t *testing.T, open CrashOpener, n int) {
	j, fail, crash := open(t)
	var acked, maybe []journal.Entry
	refused := false
	if n > 0 {
		fail(n)
	}
	for i := range 8 {
		batch := batchOf(len(acked), []int{1, 20, 40}[i%3])
		if err := j.Append(t.Context(), batch); err != nil {
			switch again := j.Append(t.Context(), batch); {
			case errors.Is(err, journal.ErrUnavailable) && errors.Is(again, journal.ErrUnavailable):
				refused = true
			case errors.Is(again, journal.ErrLost):
				maybe = batch
			case again != nil || errors.Is(err, journal.ErrLost):
				t.Fatalf("after the error %q an append gives the error %v", err, again)
			}
		}
		if refused || maybe != nil {
			break
		}
		acked = append(acked, batch...)
	}
	j = crash()
	list, err := j.Read(t.Context(), 0, len(acked)+len(maybe)+1)
	if err != nil {
		t.Fatalf("Read after a crash: %v", err)
	}
	if len(list) > len(acked) {
		acked = append(acked, maybe...)
	}
	equal(t, list, acked)
	more := batchOf(len(acked), 2)
	appendAll(t, j, more...)
	want(t, j, append(acked, more...))
}

// batchOf makes entries that continue a journal.
func batchOf(after, n int) (list []journal.Entry) {
	for i := range n {
		list = append(list, entry(uint64(after+i+1), "s", strconv.Itoa(after), journal.MarkOpened))
	}
	return list
}
