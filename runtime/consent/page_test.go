package consent_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// A list is what pages are read from: a book, or those of all sessions.
type list interface {
	Open() []consent.Request
	Page(consent.RequestFilter) []consent.Request
}

// sortedOpen is what Page is compared with: the whole list, filtered and in order.
func sortedOpen(b list, f consent.RequestFilter) (ids []string) {
	all := slices.DeleteFunc(b.Open(), func(r consent.Request) bool {
		admitted := f.Approver == "" || r.Requirement.Permits(f.Approver, f.Groups, r.Principal) == consent.NotRejected
		return f.Tool != "" && f.Tool != r.Tool || f.Effect != "" && f.Effect != r.Effect || f.Session != "" && f.Session != r.Session || !admitted
	})
	slices.SortFunc(all, func(x, y consent.Request) int { return cmp.Or(x.Expires.Compare(y.Expires), cmp.Compare(x.ID, y.ID)) })
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}

// pagesOf reads all pages of a filter.
func pagesOf(t *testing.T, b list, f consent.RequestFilter) (ids []string) {
	t.Helper()
	for {
		page := b.Page(f)
		require.LessOrEqual(t, len(page), f.Limit)
		for _, r := range page {
			require.Equal(t, consent.StatusOpen, r.Status)
			ids, f.After = append(ids, r.ID), r.Place()
		}
		if len(page) < f.Limit {
			return ids
		}
	}
}

// randomQuestion returns a question that differs in all that a page is filtered by. Many expire at one instant.
func randomQuestion(random *rand.Rand) *consent.Question {
	requirement := approvers([]string{"alice", "bob", "group:finance", "agent"}[random.IntN(4)])
	requirement.Timeout = time.Duration(1+random.IntN(8)) * 50 * time.Second
	q := question(`{}`, requirement)
	q.Call.Tool = []string{"transfer", "send"}[random.IntN(2)]
	q.Call.Session = fmt.Sprint("s", random.IntN(3))
	q.Effect = []string{"write", "destructive"}[random.IntN(2)]
	return q
}

var pageFilters = []consent.RequestFilter{
	{}, {Tool: "send"}, {Effect: "destructive"}, {Session: "s1"}, {Approver: "alice"}, {Approver: "carol", Groups: []string{"finance"}},
	{Approver: "agent"}, {Tool: "transfer", Effect: "write", Session: "s2", Approver: "bob"}, {Tool: "none"},
}

// TestPagesAreTheListInOrder: while requests come, are answered, are cancelled and expire, the pages of every filter
// are together what the whole list is when it is filtered and sorted.
func TestPagesAreTheListInOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	d := newDesk(t)
	assert.Empty(t, d.book.Page(consent.RequestFilter{Limit: 3}))
	for step := range battery.Count(t, 400, 4_000) {
		now := float64(step)
		for _, e := range d.book.Due(after(now)) {
			d.apply(e)
		}
		id := fmt.Sprint("q", 1+random.IntN(d.asked+1))
		switch random.IntN(8) {
		case 0:
			r, _ := d.book.Request(id)
			d.decide(now, id, consent.Answer{By: "alice", Approve: true, Binding: r.Binding})
		case 1:
			if e, ok := d.book.Cancel(after(now), id); ok {
				d.apply(e)
			}
		default:
			d.ask(now, randomQuestion(random))
		}
		f := pageFilters[step%len(pageFilters)]
		f.Limit = 1 + random.IntN(9)
		require.Equal(t, sortedOpen(d.book, f), pagesOf(t, d.book, f), "%d: %+v", step, f)
	}
	require.Greater(t, d.book.Len(), 20, "it was worth comparing")
	assert.Empty(t, d.book.Page(consent.RequestFilter{}))
	assert.Empty(t, d.book.Page(consent.RequestFilter{Limit: -1}))
	assert.Len(t, d.book.Page(consent.RequestFilter{Limit: 1 << 62}), d.book.Len())
}

// TestPagesWhileTheListChanges: a request that waits while all pages are read is on one of them, and on no other,
// although requests come and go meanwhile.
func TestPagesWhileTheListChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	d := newDesk(t)
	for range 60 {
		d.ask(0, randomQuestion(random))
	}
	stay := sortedOpen(d.book, consent.RequestFilter{})
	f := consent.RequestFilter{Limit: 7}
	var seen []string
	for {
		page := d.book.Page(f)
		for _, r := range page {
			seen, f.After = append(seen, r.ID), r.Place()
		}
		if len(page) < f.Limit {
			break
		}
		e, ok := d.book.Cancel(after(1), page[0].ID) // also the one that the place names
		require.True(t, ok)
		d.apply(e)
		e, ok = d.book.Cancel(after(1), page[len(page)-1].ID)
		require.True(t, ok)
		d.apply(e)
		d.ask(1, randomQuestion(random))
	}
	for _, id := range stay {
		require.Equal(t, 1, len(slices.DeleteFunc(slices.Clone(seen), func(s string) bool { return s != id })), id)
	}
}

// TestPagesOfAllSessions: the pages of the books of all sessions are their whole list, filtered and in order.
func TestPagesOfAllSessions(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	books := consent.NewBooks(key)
	for i := range 200 {
		e, err := books.Ask(after(float64(i)), fmt.Sprint("q", i), "nonce", randomQuestion(random))
		require.NoError(t, err)
		_, err = books.Apply(&e)
		require.NoError(t, err)
		if e, ok := books.Cancel(after(float64(i)), fmt.Sprint("q", random.IntN(2*i+1))); ok {
			_, err = books.Apply(&e)
			require.NoError(t, err)
		}
		f := pageFilters[i%len(pageFilters)]
		f.Limit = 1 + random.IntN(9)
		require.Equal(t, sortedOpen(books, f), pagesOf(t, books, f), "%d: %+v", i, f)
	}
	require.Greater(t, len(books.Open()), 20, "it was worth comparing")
}
