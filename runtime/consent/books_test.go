package consent_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// A filed is an event among the entries of a session.
type filed struct {
	session string
	consent.Event
}

// A library is Books and one Book for all sessions, which get the same events.
type library struct {
	t       testing.TB
	books   *consent.Books
	one     *consent.Book
	rnd     *rand.Rand
	now     float64
	asked   int
	pending map[string][]filed // by session: not in the journal yet
	journal []filed
}

func newLibrary(t testing.TB, seed uint64) *library {
	return &library{
		t: t, books: consent.NewBooks(key), one: consent.NewBook(key), rnd: rand.New(rand.NewPCG(seed, 5)), pending: map[string][]filed{},
	}
}

// apply adds an event to the books, and to the one Book under the number that it has there.
func (l *library) apply(e consent.Event) {
	l.t.Helper()
	session, err := l.books.Apply(&e)
	require.NoError(l.t, err)
	require.Equal(l.t, session, l.books.SessionOf(&e))
	l.pending[session] = append(l.pending[session], filed{session, e})
	e.Seq = l.one.Seq() + 1
	require.NoError(l.t, l.one.Apply(&e))
}

// file writes what is pending of a session to the journal.
func (l *library) file(session string) {
	l.journal = append(l.journal, l.pending[session]...)
	delete(l.pending, session)
}

func (l *library) fileAll() {
	for _, s := range []string{"", "s0", "s1", "s2", "s3"} {
		l.file(s)
	}
}

func (l *library) someID() string { return fmt.Sprintf("q%d", l.asked-l.rnd.IntN(8)) }

// question returns one of a session; the rules that ask differ.
func (l *library) question() *consent.Question {
	q := question(fmt.Sprintf(`{"to":"%d"}`, l.rnd.IntN(3)), consent.Requirement{Quorum: 1, Timeout: time.Duration(20+l.rnd.IntN(200)) * time.Second, MaxCover: runtime.CoverTool, MaxFor: time.Hour})
	q.Call.Session, q.Call.ID = fmt.Sprintf("s%d", l.rnd.IntN(4)), fmt.Sprintf("c%d", l.asked)
	q.Reasons = []consent.Reason{{Code: pick(l.rnd, "x", "y", "z")}}
	return q
}

func (l *library) step() {
	l.now += 0.5 + float64(l.rnd.IntN(4))
	at := after(l.now)
	switch l.rnd.IntN(16) {
	case 0, 1, 2:
		l.asked++
		e, err := l.books.Ask(at, fmt.Sprintf("q%d", l.asked), "nonce", l.question())
		require.NoError(l.t, err)
		l.apply(e)
	case 3, 4, 5, 6:
		offer := pick(l.rnd, session(runtime.CoverTool), session(runtime.CoverExact), lasting(40), consent.Offer{})
		l.apply(l.books.Decide(at, l.someID(), &consent.Answer{By: pick(l.rnd, "alice", "bob"), Approve: l.rnd.IntN(6) > 0, Offer: offer}))
	case 7:
		id := l.someID()
		r, _ := l.books.Request(id)
		q := &consent.Question{Call: consent.Call{ID: r.CallID, Tool: r.Tool, Session: r.Session}, Reasons: r.Reasons}
		if e, err := l.books.Use(at, id, q, false); err == nil {
			l.apply(e)
		}
	case 8:
		if e, ok := l.books.Cancel(at, l.someID()); ok {
			l.apply(e)
		}
	case 9, 10:
		l.matches(at)
	case 11:
		l.apply(l.books.Revoke(at, l.someID(), "carol", "enough"))
	case 12:
		gone := pick(l.rnd, "x", "y", "z")
		if e, some := l.books.Retire(at, func(r consent.Rule) bool { return r.Code != gone }); some {
			l.apply(e)
		}
	case 13:
		e, err := l.books.Off(at, at.Add(5*time.Second), "root", "a drill")
		require.NoError(l.t, err)
		l.apply(e)
	case 14:
		l.bring(at)
	case 15:
		l.file(fmt.Sprintf("s%d", l.rnd.IntN(4)))
		l.file("")
	}
}

// matches compares which grant answers a question, and uses it.
func (l *library) matches(at time.Time) {
	q := l.question()
	got, ok := l.books.Match(at, q)
	want, wants := l.one.Match(at, q)
	require.Equal(l.t, wants, ok)
	require.Equal(l.t, want, got)
	if ok {
		e, err := l.books.UseGrant(at, got.ID, q)
		require.NoError(l.t, err)
		l.apply(e)
	}
}

// bring applies what time has brought. The order among sessions may differ, so that the one Book is
// compared when all of it is applied.
func (l *library) bring(at time.Time) {
	for list := l.books.Due(at); list != nil; list = l.books.Due(at) {
		for _, e := range list {
			l.apply(e)
		}
	}
	require.Empty(l.t, l.one.Due(at), "nothing else is due")
}

// compare compares all that both tell.
func (l *library) compare() {
	at := after(l.now)
	require.Equal(l.t, l.one.Requests(), l.books.Requests())
	require.Equal(l.t, l.one.Open(), l.books.Open())
	for _, f := range []consent.RequestFilter{{Limit: 3}, {Limit: 100}, {Limit: 2, Session: "s1"}} {
		require.Equal(l.t, l.one.Page(f), l.books.Page(f))
	}
	require.Equal(l.t, l.one.Len(), l.books.Len())
	require.Equal(l.t, l.one.Grants(), l.books.Grants())
	for _, before := range []string{"", l.someID(), "unknown"} {
		require.Equal(l.t, l.one.Ended(at, before, 5), l.books.Ended(at, before, 5))
	}
	for _, s := range []string{"s0", "s1", "s2", "s3", "s9"} {
		require.Equal(l.t, l.one.Waiting(s), l.books.Waiting(s))
	}
	next, due := l.one.Next()
	got, is := l.books.Next()
	require.Equal(l.t, due, is)
	require.Equal(l.t, next, got)
	pause, off := l.one.IsOff(at)
	paused, isOff := l.books.IsOff(at)
	require.Equal(l.t, off, isOff)
	require.Equal(l.t, pause, paused)
}

// TestBooksAreOneBook plays random sessions in Books and in one Book for all of them.
func TestBooksAreOneBook(t *testing.T) {
	for seed := range uint64(40) {
		l := newLibrary(t, seed)
		for range 300 {
			l.step()
			if l.rnd.IntN(8) == 0 {
				l.compare()
			}
			if l.rnd.IntN(60) == 0 {
				gone, want := l.books.Prune(after(l.now-60), 1000), l.one.Prune(after(l.now-60), 1000)
				slices.Sort(gone)
				slices.Sort(want)
				require.Equal(t, want, gone)
			}
		}
		l.compare()
	}
}

// TestBooksAreReadFromTheEntriesOfTheirSessions: the events of a session come with the entries of that, so
// that they may come after later ones of another session. What they make is the same.
func TestBooksAreReadFromTheEntriesOfTheirSessions(t *testing.T) {
	for seed := range uint64(40) {
		l := newLibrary(t, seed)
		for range 200 {
			l.step()
		}
		l.fileAll()
		again := consent.NewBooks(key)
		for i := range l.journal {
			require.NoError(t, again.Continue(l.journal[i].session, &l.journal[i].Event))
		}
		l.books = again
		l.compare()
		for range 50 {
			l.step()
		}
		l.compare()
	}
}

// TestASessionIsReadWithoutTheOthers: a book is restored from its snapshot and the later entries of its session,
// some of which hold what the snapshot has. Rules that were retired meanwhile are gone from its grants.
func TestASessionIsReadWithoutTheOthers(t *testing.T) {
	for seed := range uint64(40) {
		l := newLibrary(t, seed)
		var snapshots map[string]*consent.Snapshot
		from := 0
		for n := range 200 {
			l.step()
			if n == 120 {
				from, snapshots = len(l.journal), map[string]*consent.Snapshot{}
				for _, s := range []string{"", "s0", "s1", "s2", "s3"} {
					snapshots[s] = stored(t, l.books.Of(s).Snapshot())
				}
			}
		}
		l.fileAll()
		read := func(session string) *consent.Book {
			book, err := consent.Restore(key, snapshots[session])
			require.NoError(t, err)
			for i := from; i < len(l.journal); i++ {
				if e := &l.journal[i]; e.session == session {
					require.NoError(t, book.Continue(&e.Event))
				}
			}
			return book
		}
		again := consent.NewBooks(key)
		again.PutCommon(read(""))
		for _, s := range []string{"s2", "s0", "s3", "s1"} {
			again.Put(s, read(s))
		}
		l.books = again
		l.compare()
		for range 50 {
			l.step()
		}
		l.compare()
	}
}

// stored returns a snapshot as it is read again.
func stored(t testing.TB, of *consent.Snapshot) *consent.Snapshot {
	var text bytes.Buffer
	require.NoError(t, json.NewEncoder(&text).Encode(of))
	var again consent.Snapshot
	require.NoError(t, json.Unmarshal(text.Bytes(), &again))
	return &again
}

// TestARuleThatComesBackAsksAgain: a grant that was given under it before it was retired does not answer, whether
// or not the book of its session was here by then; one that was given afterwards does (SEMANTICS 5.7).
func TestARuleThatComesBackAsksAgain(t *testing.T) {
	l := newLibrary(t, 1)
	q := question(`{}`, consent.Requirement{Quorum: 1, Timeout: time.Hour, MaxCover: runtime.CoverTool})
	grant := func(id string) {
		e, err := l.books.Ask(after(1), id, "nonce", q)
		require.NoError(t, err)
		l.apply(e)
		l.apply(l.books.Decide(after(2), id, &consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverTool)}))
	}
	grant("before")
	away := stored(t, l.books.Of("s1").Snapshot())
	e, some := l.books.Retire(after(3), func(consent.Rule) bool { return false })
	require.True(t, some)
	l.apply(e)
	_, answers := l.books.Match(after(4), q)
	assert.False(t, answers)

	again := consent.NewBooks(key)
	again.PutCommon(l.books.Of(""))
	book, err := consent.Restore(key, away)
	require.NoError(t, err)
	again.Put("s1", book)
	_, answers = again.Match(after(4), q)
	assert.False(t, answers, "it was elsewhere")

	grant("afterwards")
	g, answers := l.books.Match(after(5), q)
	assert.True(t, answers)
	assert.Equal(t, "afterwards", g.ID)
	book, err = consent.Restore(key, stored(t, l.books.Of("s1").Snapshot()))
	require.NoError(t, err)
	again = consent.NewBooks(key)
	again.PutCommon(l.books.Of(""))
	again.Put("s1", book)
	_, answers = again.Match(after(5), q)
	assert.True(t, answers)
}

// TestABookStaysForAsLongAsItHasSomething: when its session leaves memory its grants and requests are listed, answered and
// revoked as before. Then it goes, and a book that is read again takes its place.
func TestABookStaysForAsLongAsItHasSomething(t *testing.T) {
	l := newLibrary(t, 1)
	q := question(`{}`, consent.Requirement{Quorum: 1, Timeout: time.Hour, MaxCover: runtime.CoverTool})
	e, err := l.books.Ask(after(1), "q1", "nonce", q)
	require.NoError(t, err)
	l.apply(e)
	l.apply(l.books.Decide(after(2), "q1", &consent.Answer{By: "alice", Approve: true, Offer: session(runtime.CoverTool)}))
	session := q.Call.Session
	of := stored(t, l.books.Of(session).Snapshot())
	assert.Equal(t, []string{"q1"}, l.books.Leave(session))
	require.True(t, l.books.Has(session))
	require.Len(t, l.books.Grants(), 1)
	l.apply(l.books.Revoke(after(3), "q1", "alice", "enough"))
	cancel, open := l.books.Cancel(after(3), "q1")
	require.True(t, open)
	l.apply(cancel)

	older, err := consent.Restore(key, of)
	require.NoError(t, err)
	l.books.Put(session, older)
	_, answers := l.books.Match(after(4), q)
	assert.False(t, answers, "the book that was here is the later one")

	for range 9 { // the request and the grant of it are forgotten one after the other
		l.books.Prune(after(1<<30), 9)
	}
	assert.True(t, l.books.Has(session), "the session is in memory")
	assert.Empty(t, l.books.Leave(session))
	assert.False(t, l.books.Has(session))
	assert.Empty(t, l.books.Leave("no such session"))
}
