package store

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// noon is when a history begins.
var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// A past is a history of requests, with entries between that tell of none.
type past struct {
	t       *testing.T
	books   *consent.Books // of all
	entries []journal.Entry
	about   map[string][]uint64 // positions by request
	now     time.Time
}

func newPast(t *testing.T) *past {
	return &past{t: t, books: consent.NewBooks([]byte("key")), about: map[string][]uint64{}, now: noon}
}

// add adds an event.
func (p *past) add(e consent.Event) {
	p.t.Helper()
	session, err := p.books.Apply(&e)
	require.NoError(p.t, err)
	p.entry(session, e)
	id := e.Request + e.Grant
	p.about[id] = append(p.about[id], uint64(len(p.entries)))
}

// entry adds an entry.
func (p *past) entry(session string, events ...consent.Event) {
	p.t.Helper()
	e, err := journal.NewEntry(uint64(len(p.entries)+1), &journal.Record{Kind: journal.KindConsent, At: noon, Session: session, Consent: events}, nil)
	require.NoError(p.t, err)
	p.entries = append(p.entries, e)
}

// asks returns a question about a call of a session.
func asks(session, call string) *consent.Question {
	return &consent.Question{
		Call:        consent.Call{ID: call, Tool: "pay", Pin: "1", Session: session, Principal: "agent", Args: wire.Raw(`{"n":1}`)},
		Requirement: consent.Requirement{Quorum: 1, Timeout: 10 * time.Minute, MaxCover: runtime.CoverTool, MaxFor: time.Hour},
		Reasons:     []consent.Reason{{Code: "rule" + call[len(call)-1:]}},
	}
}

// make makes a random history, or continues it, and returns when it ends.
func (p *past) make(seed uint64, steps int) time.Time {
	r, now, before := rand.New(rand.NewPCG(seed, 1)), p.now, len(p.entries)
	for i := range steps {
		now = now.Add(time.Duration(r.IntN(90)) * time.Second)
		session := fmt.Sprint("s", r.IntN(5))
		for range r.IntN(4) {
			p.entry(session)
		}
		for _, e := range p.books.Due(now) {
			p.add(e)
		}
		requests, grants := p.books.Requests(), p.books.Grants()
		switch kind := r.IntN(8); {
		case kind < 3 || len(requests) == 0:
			e, err := p.books.Ask(now, fmt.Sprintf("q%d-%d", r.IntN(10), before+i), "nonce", asks(session, fmt.Sprint("c", before+i)))
			require.NoError(p.t, err)
			p.add(e)
		case kind == 3:
			q := requests[r.IntN(len(requests))]
			offer := []consent.Offer{{}, {Lasting: consent.ForSession, Cover: runtime.CoverTool}, {Lasting: consent.ForDuration, For: time.Hour}}[r.IntN(3)]
			p.add(p.books.Decide(now, q.ID, &consent.Answer{By: []string{"alice", "agent"}[r.IntN(2)], Approve: r.IntN(3) > 0, Offer: offer}))
		case kind == 4:
			q := requests[r.IntN(len(requests))]
			if e, err := p.books.Use(now, q.ID, asks(q.Session, q.CallID), false); err == nil {
				p.add(e)
			}
		case kind == 5:
			if e, ok := p.books.Cancel(now, requests[r.IntN(len(requests))].ID); ok {
				p.add(e)
			}
		case kind == 6 && len(grants) > 0:
			g := grants[r.IntN(len(grants))]
			if e, err := p.books.UseGrant(now, g.ID, asks(g.Session, g.CallID)); err == nil {
				p.add(e)
			} else {
				p.add(p.books.Revoke(now, g.ID, []string{"", "bob"}[r.IntN(2)], "enough"))
			}
		case i%16 == 0:
			gone := fmt.Sprint("rule", r.IntN(10))
			if e, ok := p.books.Retire(now, func(r consent.Rule) bool { return r.Code != gone }); ok {
				p.add(e)
			}
		}
	}
	p.now = now
	return now
}

// store writes the history into a store, and changes that.
func (p *past) store(change string, args ...any) *sqlite.Reader {
	path := filepath.Join(p.t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(p.t, err)
	for list := range slices.Chunk(p.entries, 7) {
		require.NoError(p.t, s.Append(p.t.Context(), list))
	}
	require.NoError(p.t, s.Close())
	db, err := sql.Open("sqlite", path)
	require.NoError(p.t, err)
	_, err = db.Exec(change, args...)
	require.NoError(p.t, err)
	require.NoError(p.t, db.Close())
	r, err := sqlite.OpenReader(path)
	require.NoError(p.t, err)
	p.t.Cleanup(func() { require.NoError(p.t, r.Close()) })
	return r
}

// ids returns those of a list in its order.
func ids[T any](list []T, id func(*T) string) string { return strings.Join(idsOf(list, id), " ") }

func requestID(q *consent.Request) string { return q.ID }
func grantID(g *consent.Grant) string     { return g.ID }

// booksOf returns what Books does, which is no error.
func booksOf(t *testing.T, r *sqlite.Reader, f journal.RequestFilter) *consent.Books {
	t.Helper()
	books, err := Books(t.Context(), r, f)
	require.NoError(t, err)
	return books
}

// waiting returns those of a list that take answers at an instant.
func waiting(list []consent.Request, at time.Time) []consent.Request {
	return slices.DeleteFunc(list, func(q consent.Request) bool { return !at.Before(q.Expires) })
}

// alives returns those of a list that live at an instant.
func alives(list []consent.Grant, at time.Time) []consent.Grant {
	return slices.DeleteFunc(list, func(g consent.Grant) bool { return !g.Live(at) })
}

// TestListsAreThoseOfAllEntries compares what is found by the index with what all entries say, of random histories.
func TestListsAreThoseOfAllEntries(t *testing.T) {
	alive := 0
	for seed := range uint64(8) {
		p := newPast(t)
		now := p.make(seed, 400)
		r := p.store("SELECT 1")
		in := func(f journal.RequestFilter) *consent.Books { return booksOf(t, r, f) }
		waits := func(list []consent.Request) []consent.Request { return waiting(list, now) }
		lives := func(list []consent.Grant) []consent.Grant { return alives(list, now) }
		require.Equal(t, waits(p.books.Open()), in(journal.RequestFilter{At: now, Waiting: true}).Open())
		require.Equal(t, p.books.Ended(now, "", 9), in(journal.RequestFilter{At: now, Ended: true, Limit: 9}).Ended(now, "", 9))
		require.Equal(t, ids(p.books.Grants(), grantID), ids(in(journal.RequestFilter{Granted: true}).Grants(), grantID))
		require.Equal(t, p.books.Grants(), in(journal.RequestFilter{Granted: true}).Grants())
		alive += len(lives(p.books.Grants()))
		require.Equal(t, lives(p.books.Grants()), lives(in(journal.RequestFilter{At: now, Granted: true, Live: true}).Grants()))
		for _, q := range p.books.Requests() {
			got, err := FindRequest(t.Context(), r, q.ID)
			require.NoError(t, err)
			require.Equal(t, q, got)
			got, err = FindRequestOfCall(t.Context(), r, q.Session, q.CallID)
			require.NoError(t, err)
			require.Equal(t, q.ID, got.ID)
		}
	}
	require.Positive(t, alive)
}

// unreadable makes the entries unreadable that a condition names: what reads one of them fails.
const unreadable = `PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '') WHERE name = 'entry';
DELETE FROM sqlite_schema WHERE type = 'trigger';
PRAGMA writable_schema = RESET;
UPDATE entry SET leaf = 'text' WHERE `

// TestListsReadWhatTheyShow makes all entries unreadable but those of one request.
func TestListsReadWhatTheyShow(t *testing.T) {
	p := newPast(t)
	now := p.make(1, 300)
	open := p.books.Open()
	open = slices.DeleteFunc(open, func(q consent.Request) bool { return !now.Before(q.Expires) })
	live := slices.DeleteFunc(p.books.Grants(), func(g consent.Grant) bool { // those of retired rules too
		return !g.Revoked.IsZero() || !g.Expires.IsZero() && !now.Before(g.Expires)
	})
	require.NotEmpty(t, open)
	require.NotEmpty(t, live)
	var kept []string
	keep := func(id string) {
		for _, seq := range p.about[id] {
			kept = append(kept, fmt.Sprint(seq))
		}
	}
	for i := range open {
		keep(open[i].ID)
	}
	for i := range live {
		keep(live[i].ID)
	}
	keep("") // retirements
	r := p.store(unreadable + "seq NOT IN (" + strings.Join(kept, ",") + ")")
	books, err := Books(t.Context(), r, journal.RequestFilter{At: now, Waiting: true})
	require.NoError(t, err)
	require.Equal(t, ids(open, requestID), ids(books.Open(), requestID))
	books, err = Books(t.Context(), r, journal.RequestFilter{At: now, Live: true})
	require.NoError(t, err)
	require.Equal(t, ids(live, grantID), ids(books.Grants(), grantID))
	_, err = Books(t.Context(), r, journal.RequestFilter{})
	require.Error(t, err, "the rest is not read because it cannot be")
}

// TestIndexOfRequestsIsNotBelieved changes the index, as a process that can write the store may.
func TestIndexOfRequestsIsNotBelieved(t *testing.T) {
	p := newPast(t)
	for _, session := range []string{"s", "t"} {
		e, err := p.books.Ask(noon, "q"+session, "nonce", asks(session, "c"))
		require.NoError(t, err)
		p.add(e)
		p.entry(session)
	}
	e, ok := p.books.Cancel(noon, "qs")
	require.True(t, ok)
	p.add(e)
	for change, want := range map[string]string{
		"UPDATE request SET steps = '3a' WHERE id = 'qs'":                                                                 `entry 3: it says that the entry tells of request "qs"`,
		"UPDATE request SET steps = '1a2e' WHERE id = 'qs'":                                                               `entry 2: it says that the entry tells of request "qs"`,
		"UPDATE request SET steps = '5e' WHERE id = 'qs'":                                                                 `request "qs" is not known`,
		"UPDATE request SET session = 'u' WHERE id = 'qs'":                                                                `of session "u"`,
		"UPDATE request SET id = 'forged' WHERE id = 'qs'":                                                                `request "forged"`,
		"UPDATE request SET steps = '99a' WHERE id = 'qs'":                                                                "no such entry",
		"UPDATE request SET steps = 'a' WHERE id = 'qs'":                                                                  "no list of entries",
		"UPDATE request SET used = 2 WHERE id = 'qs'":                                                                     "entry 2",
		"INSERT INTO request SELECT 'x', 's', 'c', asked, steps, used, expires, until, 1, 1 FROM request WHERE id = 'qs'": `request "x"`,
	} {
		_, err := Books(t.Context(), p.store(change), journal.RequestFilter{})
		require.ErrorContains(t, err, want, change)
	}
	books, err := Books(t.Context(), p.store("UPDATE request SET open = 1 WHERE id = 'qs'"), journal.RequestFilter{Waiting: true})
	require.NoError(t, err)
	require.Equal(t, "qt", ids(books.Open(), requestID), "its entries say that it was cancelled")
}
