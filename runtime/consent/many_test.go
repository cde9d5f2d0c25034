package consent_test

import (
	"fmt"
	"math/bits"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// TestWorkOnOpenRequestsIsLogarithmic counts how many open requests an operation
// looks at while there are many of them.
func TestWorkOnOpenRequestsIsLogarithmic(t *testing.T) {
	n := battery.Count(t, 2_000, 100_000)
	book := consent.NewBook(key)
	looks := book.CountLooks()
	most, log := 0, bits.Len(uint(n))
	do := func(e consent.Event) {
		t.Helper()
		before := *looks
		require.NoError(t, book.Apply(&e))
		most = max(most, *looks-before)
	}
	id := func(i int) string { return fmt.Sprint("q", i) }
	for i := range n {
		q := question(`{}`, approvers("alice"))
		q.Call.Session = fmt.Sprint("s", i%(n/100))
		q.Requirement.Timeout = time.Duration(100+i*7919%n) * time.Second // in no order
		e, err := book.Ask(start, id(i), "n", q)
		require.NoError(t, err)
		do(e)
	}
	require.Equal(t, 100, book.Waiting("s3"))
	for i := 0; i < n; i += 4 {
		do(book.Decide(after(1), id(i), &consent.Answer{By: "alice", Approve: true}))
		e, ok := book.Cancel(after(1), id(i+1))
		require.True(t, ok)
		do(e)
	}
	assert.LessOrEqual(t, most, 2*log, "asked, answered and cancelled")
	assert.Len(t, book.Open(), n/2)

	end := start.Add(time.Duration(n+1000) * time.Second)
	assert.Equal(t, n/2, expireAll(t, book, looks, end, 2*log))
	_, more := book.Next()
	assert.False(t, more)
	assert.Zero(t, book.Waiting("s3"))

	ids := book.Prune(end.Add(time.Hour), 8)
	assert.Len(t, ids, 8)
	require.Len(t, book.Prune(end.Add(time.Hour), n), n*3/4-8, "approved and not used are kept")
	assert.Len(t, book.Requests(), n/4)
}

// expireAll does what time has brought until an instant, and returns how many
// requests ran out. Each event looks at no more than most of them.
func expireAll(t *testing.T, book *consent.Book, looks *int, end time.Time, most int) (expired int) {
	t.Helper()
	var last, latest time.Time
	for {
		before := *looks
		events := book.Due(end)
		require.LessOrEqual(t, *looks-before, consent.AtOnce*(consent.AtOnce+3), "whatever waits")
		if events == nil {
			return expired
		}
		requests := map[string]bool{}
		for _, e := range events {
			requests[e.Request] = true
			before := *looks
			require.NoError(t, book.Apply(&e))
			require.LessOrEqual(t, *looks-before, most, "reminded and expired")
			r, _ := book.Request(e.Request)
			latest = later(latest, r.Remind)
			if e.Kind == consent.EventExpired {
				expired++
				require.False(t, r.Remind.Before(last), "those that were due first")
			}
		}
		last = latest
		require.LessOrEqual(t, len(requests), consent.AtOnce)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TestDueOf ends one request and leaves the other requests to Due.
func TestDueOf(t *testing.T) {
	d := newDesk(t)
	q := question(`{}`, approvers("alice"))
	first, second := d.ask(0, q), d.ask(0, q)
	assert.Empty(t, d.book.DueOf(after(1), second))
	for _, e := range d.book.DueOf(after(100), second) {
		d.apply(e)
	}
	assert.Equal(t, consent.StatusExpired, d.status(second))
	assert.Equal(t, consent.StatusOpen, d.status(first))
	assert.Empty(t, d.book.DueOf(after(100), second))
	assert.Empty(t, d.book.DueOf(after(100), "unknown"))
}
