package holdings_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/holdings"
	"github.com/ambit-tools/ambit/runtime/journal"
)

func TestMain(m *testing.M) { battery.Main(m) }

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// add appends a record of a session to j, and takes it in.
func add(t *testing.T, j *journal.Memory, l *holdings.Ledger, session string, r journal.Record) {
	t.Helper()
	last, _ := l.Last()
	r.Session, r.At = session, start
	e, err := journal.NewEntry(last+1, &r, nil)
	require.NoError(t, err)
	require.NoError(t, j.Append(t.Context(), []journal.Entry{e}))
	require.NoError(t, l.Add([]journal.Entry{e}))
	for _, of := range []*journal.Checkpoint{nil, l.Checkpoint(start)} { // a start says the same
		again := holdings.New()
		require.NoError(t, again.Read(t.Context(), j, of))
		require.Equal(t, l.Checkpoint(start), again.Checkpoint(start))
	}
}

func asked(id string, expires time.Time) journal.Record {
	return journal.Record{Kind: runtime.EventApprovalRequested.String(), Consent: []consent.Event{
		{Kind: consent.EventAsked, Request: id, Asked: &consent.Request{ID: id, Expires: expires}},
	}}
}

func nowhere(string) bool { return false }

// TestRequestsAndGrantsAreFoundByTheirIDs, for as long as they are retained: a request for a day after it expires, a grant for a
// day after its end, one for the session until it is revoked.
// SEMANTICS 6.7.15
func TestRequestsAndGrantsAreFoundByTheirIDs(t *testing.T) {
	var j journal.Memory
	l := holdings.New()
	hour := start.Add(time.Hour)
	add(t, &j, l, "a", asked("q1", hour))
	add(t, &j, l, "b", asked("q2", hour))
	granted := func(id string, until time.Time) journal.Record {
		return journal.Record{Kind: runtime.EventApprovalDecided.String(), Consent: []consent.Event{{
			Kind: consent.EventAnswered, Request: id, Result: &consent.Result{Resolution: runtime.ResolutionAccepted, Granted: &consent.Grant{ID: id, Expires: until}},
		}}}
	}
	add(t, &j, l, "b", granted("q2", time.Time{}))
	add(t, &j, l, "c", asked("q3", hour))
	add(t, &j, l, "c", granted("q3", hour.Add(time.Hour)))
	assert.Equal(t, []string{"a", "b", "c"}, l.Asked(hour, nowhere))
	assert.Equal(t, []string{"a", "c"}, l.Asked(hour, func(id string) bool { return id == "b" }))
	assert.Equal(t, "b", l.SessionOf("q2"))
	assert.Empty(t, l.SessionOf("q4"))
	assert.Equal(t, []string{"a", "b", "c"}, l.Asked(hour.Add(history.Retained), nowhere))
	assert.Equal(t, []string{"b", "c"}, l.Asked(hour.Add(history.Retained+1), nowhere))
	assert.Equal(t, []string{"b"}, l.Asked(hour.Add(history.Retained+time.Hour+1), nowhere))
	l = holdings.New()
	require.NoError(t, l.Read(t.Context(), &j, nil))
	add(t, &j, l, "b", journal.Record{Kind: journal.KindConsent, Consent: []consent.Event{
		{Kind: consent.EventRevoked, Grant: "q2", At: hour, Result: &consent.Result{Resolution: runtime.ResolutionRejected}},
	}})
	assert.Equal(t, []string{"b"}, l.Asked(hour.AddDate(9, 0, 0), nowhere), "the revocation was refused")
	l = holdings.New()
	require.NoError(t, l.Read(t.Context(), &j, nil))
	add(t, &j, l, "b", journal.Record{Kind: journal.KindConsent, Consent: []consent.Event{
		{Kind: consent.EventRevoked, Grant: "q2", At: hour, Result: &consent.Result{Resolution: runtime.ResolutionAccepted}},
	}})
	assert.Empty(t, l.Asked(hour.AddDate(9, 0, 0), nowhere))
	assert.Empty(t, l.SessionOf("q2"))
	assert.Empty(t, l.Checkpoint(start).Held)
	var none *holdings.Ledger
	assert.Empty(t, none.SessionOf("q2"))
	assert.Empty(t, none.Asked(start, nowhere))
}

// TestUnsettledSessions have a call whose outcome is unknown, until a person or an undo settles it, or a process without a recorded
// end.
// SEMANTICS 6.7.12
func TestUnsettledSessions(t *testing.T) {
	var j journal.Memory
	l := holdings.New()
	of := func(kind runtime.EventKind, call string) journal.Record {
		return journal.Record{Kind: kind.String(), Call: call}
	}
	add(t, &j, l, "a", of(runtime.EventUnknown, "c1"))
	add(t, &j, l, "a", of(runtime.EventUnknown, "c2"))
	add(t, &j, l, "b", of(runtime.EventUnknown, "c1"))
	run := func(kind string, exit *process.Summary) journal.Record {
		return journal.Record{Kind: kind, Call: "c1", Process: &journal.Process{ID: runtime.ProcessID{PID: 7}, Exit: exit}}
	}
	add(t, &j, l, "p", run(journal.KindProcessStarted, nil))
	assert.Equal(t, []string{"a", "b", "p"}, l.Unsettled())
	add(t, &j, l, "a", of(runtime.EventReconciled, "c1"))
	add(t, &j, l, "b", of(runtime.EventUndone, "c1"))
	assert.Equal(t, []string{"a", "p"}, l.Unsettled())
	add(t, &j, l, "p", run(runtime.EventLateResult.String(), &process.Summary{}))
	add(t, &j, l, "a", of(runtime.EventReconciled, "c2"))
	assert.Empty(t, l.Unsettled())
	assert.Empty(t, l.Checkpoint(start).Held)
	last, at := l.Last()
	assert.Equal(t, uint64(8), last)
	assert.Equal(t, start, at)
	assert.Equal(t, uint64(8), l.Behind())
	l.Saved(l.Checkpoint(start))
	assert.Zero(t, l.Behind())
}

// TestEntriesThatCannotBeTakenIn are named: one twice, and one that cannot be read.
func TestEntriesThatCannotBeTakenIn(t *testing.T) {
	var j journal.Memory
	l := holdings.New()
	add(t, &j, l, "a", asked("q1", start))
	require.ErrorContains(t, l.Add([]journal.Entry{{Seq: 1}}), "entry 1 comes after entry 1")
	bad := journal.Entry{Seq: 2, Session: "a", Kind: "x", Leaf: []byte(`{"consent":[`)}
	require.ErrorContains(t, l.Add([]journal.Entry{bad}), "entry 2 of the journal")
	require.ErrorContains(t, holdings.New().Read(t.Context(), broken{&j}, nil), "read the journal after entry 0: the disk is broken")
}

type broken struct{ *journal.Memory }

func (broken) Read(_ context.Context, _ uint64, _ int) ([]journal.Entry, error) {
	return nil, errors.New("the disk is broken")
}
