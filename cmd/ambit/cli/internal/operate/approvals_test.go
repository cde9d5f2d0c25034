package operate

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
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

func TestOnlyOpenRequestsWait(t *testing.T) {
	book := asked(t, [3]string{"1", "s", "c1"}, [3]string{"2", "s", "c2"})
	open := waiting(book, time.Date(2030, 1, 1, 1, 0, 0, 0, time.UTC))
	require.Len(t, open, 1)
	assert.Equal(t, "2", open[0].ID)
}

func TestTermsOfApprovals(t *testing.T) {
	v := commandVerb{Command: inbox.Command{Lasting: "duration", For: time.Hour, Cover: "args"}}
	require.NoError(t, v.terms([]string{`path prefix "a b/"`, `n gt 3`}, `{"a":1}`))
	assert.Equal(t, []consent.Predicate{
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
	}}, nil)
	require.Contains(t, shown.String(), `because    declaration: Send "(sensitive: 7 characters)" and {more} to "ada"`+"\n")
	require.NotContains(t, shown.String(), "message")
	shown.Reset()
	printRequest(&shown, &consent.Request{Message: "Send to {to}", Terms: consent.Terms{
		Args: []byte(`{"to":"ada"}`), Reasons: []consent.Reason{{Code: "strangers", Message: "ask for strangers"}},
	}}, nil)
	require.Contains(t, shown.String(), `message    Send to "ada"`+"\n")
}
