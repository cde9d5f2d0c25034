package store

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestListsOfAnArchivedStore archives the entry that made a request, of which a snapshot has the grant.
// SEMANTICS 6.14.9
func TestListsOfAnArchivedStore(t *testing.T) {
	p := newPast(t)
	for _, id := range []string{"kept", "gone"} {
		session := "s" + id
		e, err := p.books.Ask(noon, id, "nonce", asks(session, "c1"))
		require.NoError(t, err)
		p.add(e)
		p.add(p.books.Decide(noon, id, &consent.Answer{By: "ann", Approve: true, Offer: consent.Offer{Lasting: consent.ForSession, Cover: runtime.CoverTool}}))
	}
	before := uint64(len(p.entries))
	snapshot, err := journal.NewEntry(before+1, &journal.Record{Kind: journal.KindSnapshot, At: noon, Session: "skept", Snapshot: &journal.Snapshot{Last: before, Book: p.books.Of("skept").Snapshot()}}, nil)
	require.NoError(t, err)
	p.entries = append(p.entries, snapshot)
	used, err := p.books.UseGrant(noon, "kept", asks("skept", "c1"))
	require.NoError(t, err)
	p.add(used)

	r := p.archived(before)
	books, err := Books(t.Context(), r, journal.RequestFilter{At: noon, Granted: true, Live: true})
	require.NoError(t, err)
	require.Equal(t, "kept", ids(books.Grants(), grantID), "the other session has no entry that is not archived")
	g, _ := books.Grant("kept")
	require.Equal(t, 1, g.Uses)
}

// snapshot adds a snapshot of a session, empty for what belongs to none.
func (p *past) snapshot(session string) {
	p.t.Helper()
	last := uint64(len(p.entries))
	e, err := journal.NewEntry(last+1, &journal.Record{Kind: journal.KindSnapshot, At: p.now, Session: session, Snapshot: &journal.Snapshot{Last: last, Book: p.books.Of(session).Snapshot()}}, nil)
	require.NoError(p.t, err)
	p.entries = append(p.entries, e)
}

// archived writes the history into a store and archives its entries up to a position.
func (p *past) archived(last uint64) *sqlite.Reader {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(p.t, err)
	require.NoError(p.t, s.Append(p.t.Context(), p.entries))
	require.NoError(p.t, s.SaveCheckpoint(p.t.Context(), last, []byte("note")))
	require.NoError(p.t, s.Archive(p.t.Context(), journal.Segment{First: 1, Last: last}))
	require.NoError(p.t, s.Close())
	r, err := sqlite.OpenReader(path)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { require.NoError(p.t, r.Close()) })
	return r
}

// TestListsOfRandomArchivedStores archives the first entries of random histories, with the retirements of rules among them. Live grants are
// those of all entries, and so are the requests that wait and whose entries are in the store: an archive takes none of one that waits.
// SEMANTICS 6.14.9
func TestListsOfRandomArchivedStores(t *testing.T) {
	alive, retired := 0, 0
	seed := rand.Uint64N(1 << 32)
	for n := range uint64(8) {
		t.Logf("seed %d", seed+n)
		rng := rand.New(rand.NewPCG(seed+n, 2))
		p := newPast(t)
		p.make(seed+n, 150)
		if e, ok := p.books.Retire(p.now, func(r consent.Rule) bool { return r.Code < "rule5" }); ok {
			p.add(e)
		}
		p.make(seed+n+500, 150)
		now := p.now.Add(10 * time.Minute) // which ends all requests
		for _, e := range p.books.Due(now) {
			p.add(e)
		}
		p.now = now
		last := 1 + rng.Uint64N(uint64(len(p.entries)))
		for _, session := range []string{"", "s0", "s1", "s2", "s3", "s4"} {
			p.snapshot(session)
		}
		if rng.IntN(2) == 0 {
			now = p.make(seed+n+1000, 100)
		}
		r := p.archived(last)
		live := alives(p.books.Grants(), now)
		got := booksOf(t, r, journal.RequestFilter{At: now, Granted: true, Live: true})
		require.ElementsMatch(t, live, alives(got.Grants(), now))
		require.Equal(t, waiting(p.books.Open(), now), waiting(booksOf(t, r, journal.RequestFilter{At: now, Waiting: true}).Open(), now))
		for i := range live {
			id, err := FindGrant(t.Context(), r, live[i].ID)
			require.NoError(t, err)
			require.Equal(t, live[i].ID, id)
		}
		if p.about[""] != nil && p.about[""][0] <= last {
			retired++
		}
		alive += len(live)
	}
	t.Logf("%d live grants, %d stores with archived retirements", alive, retired)
}
