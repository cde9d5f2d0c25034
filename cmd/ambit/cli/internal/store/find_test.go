package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// asked returns a book in which requests were made: id, session and call of each.
func asked(t *testing.T, list ...[3]string) *consent.Books {
	t.Helper()
	book := consent.NewBooks(nil)
	for i, q := range list {
		at := time.Date(2030, 1, 1+i, 0, 0, 0, 0, time.UTC)
		r := &consent.Request{ID: q[0], Session: q[1], CallID: q[2], Created: at, Expires: at.Add(time.Hour)}
		require.NoError(t, book.Continue(q[1], &consent.Event{Seq: uint64(i + 1), Kind: consent.EventAsked, At: at, Request: r.ID, Asked: r}))
	}
	return book
}

func TestRequestsAreNamedByTheirBeginning(t *testing.T) {
	book := asked(t, [3]string{"ABC", "s", "c1"}, [3]string{"ABD", "s", "c2"}, [3]string{"AB", "s", "c3"}, [3]string{"X", "t", "ABC"})
	for typed, want := range map[string]string{"ABC": "c1", "ABD": "c2", "AB": "c3", "X": "ABC"} {
		q, err := requestIn(book, typed)
		require.NoError(t, err, typed)
		assert.Equal(t, want, q.CallID)
	}
	_, err := requestIn(book, "A")
	assert.ErrorContains(t, err, `3 requests begin with "A"`)
	_, err = requestIn(book, "B")
	assert.ErrorContains(t, err, `there is no request "B"`)
}

func TestRequestsAreNamedByTheirCall(t *testing.T) {
	book := asked(t, [3]string{"1", "s", "c1"}, [3]string{"2", "s", "c1"}, [3]string{"3", "t", "c1"}, [3]string{"4", "t", "c2"})
	_, err := requestOfCall(book, "", "c1")
	assert.ErrorContains(t, err, `in session "s" and in session "t"`)
	q, err := requestOfCall(book, "s", "c1")
	require.NoError(t, err)
	assert.Equal(t, "2", q.ID, "the latest")
	q, err = requestOfCall(book, "", "c2")
	require.NoError(t, err)
	assert.Equal(t, "4", q.ID)
	_, err = requestOfCall(book, "s", "c2")
	assert.ErrorContains(t, err, `nobody was asked about a call "c2"`)
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

// TestIDsMayBeCut finds calls by ids that are cut.
func TestIDsMayBeCut(t *testing.T) {
	row := func(session, call string) sqlite.CallRow {
		return sqlite.CallRow{CallKey: journal.CallKey{Session: session, Call: call}}
	}
	for _, c := range []struct {
		rows          []sqlite.CallRow
		session, call string
		want, err     string
	}{
		{[]sqlite.CallRow{row("s", "c12")}, "", "c1", "s/c12", ""},
		{[]sqlite.CallRow{row("s", "c12"), row("s", "c1")}, "", "c1", "s/c1", ""},
		{[]sqlite.CallRow{row("s", "c12"), row("s", "c13")}, "", "c1", "", `2 calls begin with "c1", such as "c12" and "c13"`},
		{[]sqlite.CallRow{row("s2", "c1"), row("s", "c1")}, "s", "c1", "s/c1", ""},
		{[]sqlite.CallRow{row("s2", "c1"), row("s3", "c1")}, "s", "c1", "", `in session "s3" and in session "s2"`},
		{nil, "s", "c1", "", `there is no call "c1" in session "s"`},
	} {
		got, err := OnlyCall(c.rows, c.session, c.call)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.want, got.Session+"/"+got.Call)
	}
}
