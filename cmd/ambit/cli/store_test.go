package cli

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/inbox"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// asked returns a book in which requests were made: id, session and call of each.
func asked(t *testing.T, list ...[3]string) *consent.Book {
	t.Helper()
	book := consent.NewBook(nil)
	for i, q := range list {
		at := time.Date(2030, 1, 1+i, 0, 0, 0, 0, time.UTC)
		r := &consent.Request{ID: q[0], Session: q[1], CallID: q[2], Created: at, Expires: at.Add(time.Hour)}
		require.NoError(t, book.Apply(&consent.Event{Seq: uint64(i + 1), Kind: consent.EventAsked, At: at, Request: r.ID, Asked: r}))
	}
	return book
}

func TestRequestsAreNamedByTheirBeginning(t *testing.T) {
	book := asked(t, [3]string{"ABC", "s", "c1"}, [3]string{"ABD", "s", "c2"}, [3]string{"AB", "s", "c3"}, [3]string{"X", "t", "ABC"})
	for typed, want := range map[string]string{"ABC": "c1", "ABD": "c2", "AB": "c3", "X": "ABC"} {
		q, err := findRequest(book, typed)
		require.NoError(t, err, typed)
		assert.Equal(t, want, q.CallID)
	}
	_, err := findRequest(book, "A")
	assert.ErrorContains(t, err, `3 requests begin with "A"`)
	_, err = findRequest(book, "B")
	assert.ErrorContains(t, err, `there is no request "B"`)
}

func TestRequestsAreNamedByTheirCall(t *testing.T) {
	book := asked(t, [3]string{"1", "s", "c1"}, [3]string{"2", "s", "c1"}, [3]string{"3", "t", "c1"}, [3]string{"4", "t", "c2"})
	_, err := requestOf(book, "", "c1")
	assert.ErrorContains(t, err, `in session "s" and in session "t"`)
	q, err := requestOf(book, "s", "c1")
	require.NoError(t, err)
	assert.Equal(t, "2", q.ID, "the latest")
	q, err = requestOf(book, "", "c2")
	require.NoError(t, err)
	assert.Equal(t, "4", q.ID)
	_, err = requestOf(book, "s", "c2")
	assert.ErrorContains(t, err, `nobody was asked about a call "c2"`)
}

func TestOnlyOpenRequestsWait(t *testing.T) {
	book := asked(t, [3]string{"1", "s", "c1"}, [3]string{"2", "s", "c2"})
	open := waiting(book, time.Date(2030, 1, 1, 1, 0, 0, 0, time.UTC))
	require.Len(t, open, 1)
	assert.Equal(t, "2", open[0].ID)
}

func TestIdsThatSeveralSessionsHave(t *testing.T) {
	row := func(session string) sqlite.CallRow {
		return sqlite.CallRow{CallKey: journal.CallKey{Session: session, Call: "c1"}}
	}
	found, err := theOnly([]sqlite.CallRow{row("s"), row("s")}, "run", "")
	require.NoError(t, err)
	assert.Equal(t, "s", found.Session)
	_, err = theOnly([]sqlite.CallRow{row("s"), row("t")}, `call "c1"`, "")
	assert.ErrorContains(t, err, `there is a call "c1" in session "t" and in session "s"`)
}

func TestTermsOfApprovals(t *testing.T) {
	v := commandVerb{Command: inbox.Command{Lasting: "duration", For: time.Hour, Cover: "args"}}
	require.NoError(t, v.terms([]string{`path prefix "a b/"`, `n gt 3`}, `{"a":1}`))
	assert.Equal(t, []engine.Predicate{
		{Member: "path", Op: consent.OpPrefix, Value: []byte(`"a b/"`)}, {Member: "n", Op: consent.OpGreater, Value: []byte(`3`)},
	}, v.Where)
	assert.JSONEq(t, `{"a":1}`, string(v.Edit))
	for _, where := range []string{"", "path", "path eq", "path eq {", "path like 3"} {
		v := commandVerb{Command: inbox.Command{Lasting: "once", Cover: "exact"}}
		assert.ErrorContains(t, v.terms([]string{where}, ""), "--where", where)
	}
	v = commandVerb{Command: inbox.Command{Lasting: "once", Cover: "exact"}}
	assert.ErrorContains(t, v.terms(nil, "@nowhere.json"), "nowhere.json")
}

// TestRequestsAreShownWithTheirArguments looks at what an approver reads where
// the declaration names members in its message.
func TestRequestsAreShownWithTheirArguments(t *testing.T) {
	var shown bytes.Buffer
	printRequest(&shown, &consent.Request{Terms: consent.Terms{
		Args:    []byte(`{"to":"ada","pin":"(sensitive: 7 characters)"}`),
		Reasons: []consent.Reason{{Code: "declaration", Message: "Send {pin} and {more} to {to}"}},
	}})
	require.Contains(t, shown.String(), `because    declaration: Send "(sensitive: 7 characters)" and {more} to "ada"`+"\n")
	require.NotContains(t, shown.String(), "message")
	shown.Reset()
	printRequest(&shown, &consent.Request{Message: "Send to {to}", Terms: consent.Terms{
		Args: []byte(`{"to":"ada"}`), Reasons: []consent.Reason{{Code: "strangers", Message: "ask for strangers"}},
	}})
	require.Contains(t, shown.String(), `message    Send to "ada"`+"\n")
}

// TestAuditShowGoesByTheEntries hides a call in the index of calls, as an attacker that
// can write the store may, and asks for what the journal says of it.
func TestAuditShowGoesByTheEntries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	s, err := sqlite.Open(path)
	require.NoError(t, err)
	var list []journal.Entry
	for seq := uint64(1); seq <= 200; seq++ {
		leaf := []byte(`{"event":"tool.invoked"}`)
		list = append(list, journal.Entry{Seq: seq, Kind: "tool.invoked", Session: "s", Call: fmt.Sprint("c", seq/50), Leaf: leaf})
	}
	require.NoError(t, s.Append(t.Context(), list))
	require.NoError(t, s.Close())
	db, err := sql.Open("sqlite", path)
	require.NoError(t, err)
	hidden, err := db.Exec("DELETE FROM call WHERE call = 'c0'")
	require.NoError(t, err)
	n, err := hidden.RowsAffected()
	require.NoError(t, errors.Join(err, db.Close()))
	require.EqualValues(t, 1, n)

	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	shows, err := shown(t.Context(), r, 0, "", "c0")
	require.NoError(t, err)
	require.Equal(t, list[:49], shows)
	_, err = shown(t.Context(), r, 0, "", "c9")
	require.ErrorContains(t, err, `there is no call "c9"`)
}
