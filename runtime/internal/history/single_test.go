package history_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

func TestMain(m *testing.M) { battery.Main(m) }

// A counted is a journal that counts the entries which are read.
type counted struct {
	*journal.Memory
	read int
}

func (c *counted) Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error {
	return c.Memory.Back(ctx, session, before, func(e *journal.Entry) bool {
		c.read++
		return f(e)
	})
}

func (c *counted) append(t *testing.T, r journal.Record) uint64 {
	t.Helper()
	entries, err := c.Read(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	r.At = began
	e, err := journal.NewEntry(uint64(len(entries)+1), &r, nil)
	require.NoError(t, err)
	require.NoError(t, c.Append(t.Context(), []journal.Entry{e}))
	return e.Seq
}

// call appends the entries of a call that has ended.
func (c *counted) call(t *testing.T, session, id string) {
	t.Helper()
	end := of(id, runtime.EventCompleted.String(), journal.Record{
		Mark: journal.MarkEnded, To: "COMPLETED", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}), Output: payload(`"done"`),
	})
	for _, r := range []journal.Record{opened(id), validated, started, end} {
		r.Session, r.Call = session, id
		c.append(t, r)
	}
}

func (c *counted) session(t *testing.T, id string) *history.Single {
	t.Helper()
	c.read = 0
	s, err := history.ReadSession(t.Context(), c, engine(t), key, id)
	require.NoError(t, err)
	return s
}

// snapshot appends a page, when least calls have ended, and a snapshot.
func (c *counted) snapshot(t *testing.T, id string, least int) {
	t.Helper()
	s := c.session(t, id)
	var page uint64
	if r := s.Page(began, least); r != nil {
		page = c.append(t, *r)
	}
	c.append(t, *s.Snapshot(began, page))
}

// TestASessionIsReadFromItsSnapshotOn: neither the entries before it nor those of other sessions are read, but those
// of the calls that the entries behind it are about. Calls that have ended are there by reference, from pages and from
// the snapshot.
func TestASessionIsReadFromItsSnapshotOn(t *testing.T) {
	c := &counted{Memory: new(journal.Memory)}
	for _, id := range []string{"a", "b", "c", "d"} {
		c.call(t, "s", id)
		c.call(t, "other", id)
	}
	c.snapshot(t, "s", 4)
	c.call(t, "s", "e")
	c.snapshot(t, "s", 2)
	c.call(t, "s", "f")
	s := c.session(t, "s")
	assert.Equal(t, 4+1+1, c.read, "the call behind it, the snapshot, and what tells that the rest was read")
	require.Len(t, s.Calls, 1)
	assert.Equal(t, 4, s.Tail)
	assert.Equal(t, "alice", s.Principal)
	var ids []string
	for _, r := range s.References() {
		ids = append(ids, r.Call+" "+r.Kind)
		e, err := c.Entries(t.Context(), r.Outcome)
		require.NoError(t, err)
		assert.Equal(t, []any{r.Call, journal.MarkEnded}, []any{e[0].Call, e[0].Mark})
	}
	assert.Equal(t, []string{"a completed", "b completed", "c completed", "d completed", "e completed", "f completed"}, ids)

	c.append(t, of("b", runtime.EventUndone.String(), journal.Record{Mark: journal.MarkUndone, By: "alice"}))
	s = c.session(t, "s")
	require.Len(t, s.Calls, 2)
	assert.Equal(t, "b", s.Calls[0].ID)
	assert.Equal(t, `"done"`, string(s.Calls[0].Outcome.Output), "it is read from its own entries")
	assert.True(t, s.Calls[0].Undone)

	c.snapshot(t, "s", 100)
	s = c.session(t, "s")
	assert.Empty(t, s.Calls)
	assert.True(t, s.Ended["b"].Undone, "the snapshot replaces what the page says")
	assert.False(t, s.Ended["a"].Undone)
	c.snapshot(t, "s", 1)
	s = c.session(t, "s")
	assert.True(t, s.Ended["b"].Undone, "so does a later page")
	assert.Len(t, s.Ended, 6)
}

// TestWhatIsLiveIsReadFromItsEntries: a call without an outcome, and one whose undo or process has not ended.
func TestWhatIsLiveIsReadFromItsEntries(t *testing.T) {
	c := &counted{Memory: new(journal.Memory)}
	c.append(t, journal.Record{Kind: journal.KindRunStarted, Session: "s", Run: "r", Principal: "alice", Rules: []rules.Event{{Kind: rules.EventRunStarted, Run: "r"}}})
	c.call(t, "s", "undoing")
	change := func(kind rules.EventKind) rules.Event {
		return rules.Event{Kind: kind, Run: "r", Call: "undoing", Tool: "t", Principal: "alice"}
	}
	finished := change(rules.EventFinished)
	finished.Status = rules.StatusOK
	c.append(t, of("undoing", journal.KindShadow, journal.Record{Rules: []rules.Event{change(rules.EventAdmitted), change(rules.EventStarted), finished}}))
	c.call(t, "s", "over")
	c.append(t, opened("runs"))
	r := validated
	r.Call = "runs"
	c.append(t, r)
	c.append(t, of("undoing", journal.KindUndoStarted, journal.Record{Mark: journal.MarkUndoing, By: "bob"}))
	c.snapshot(t, "s", 1)
	s := c.session(t, "s")
	require.Len(t, s.Calls, 2)
	assert.Equal(t, &history.Undo{By: "bob"}, s.Calls[0].Undo)
	assert.Equal(t, []any{"runs", `{"a":1}`}, []any{s.Calls[1].ID, string(s.Calls[1].Args)})
	assert.Contains(t, s.Ended, "over")

	c.append(t, of("undoing", runtime.EventUndoFailed.String(), journal.Record{Mark: journal.MarkUndone, By: "bob"}))
	c.snapshot(t, "s", 1)
	s = c.session(t, "s")
	require.NotNil(t, s.Ended["undoing"].Past, "it holds: later calls may be held against it")
	assert.Equal(t, rules.StatusOK, s.Ended["undoing"].Past.Status)
}

// TestALoadReadsWhatIsOpen: of a session with many calls a load reads the snapshot, what is behind it, and the entries from the first call
// on that outlives the session. Its other calls are there by reference, and all calls have their numbers.
// SEMANTICS 6.7.16
func TestALoadReadsWhatIsOpen(t *testing.T) {
	c := &counted{Memory: new(journal.Memory)}
	for i := range 500 {
		c.call(t, "s", fmt.Sprint("a", i))
	}
	lost := of("lost", runtime.EventUnknown.String(), journal.Record{
		Mark: journal.MarkEnded, To: "EXECUTING", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Unknown, Reason: runtime.ReasonInterrupted}),
	})
	for _, r := range []journal.Record{opened("lost"), validated, started, lost} {
		r.Call = "lost"
		c.append(t, r)
	}
	c.call(t, "s", "b")
	c.snapshot(t, "s", 1)
	c.call(t, "s", "c")
	c.read = 0
	s, err := history.Load(t.Context(), c, engine(t), key, "s")
	require.NoError(t, err)
	// behind the snapshot, it, and what tells that the rest was read; then back to the first entry of the unknown call
	assert.Equal(t, 4+1+1+1+4+4, c.read)
	require.Len(t, s.Calls, 1)
	assert.Equal(t, []any{"lost", 501, runtime.Unknown}, []any{s.Calls[0].ID, s.Calls[0].Number, s.Calls[0].Outcome.Kind})
	require.Len(t, s.ByReference, 502)
	for i, n := range map[int]int{0: 1, 499: 500, 500: 502, 501: 503} {
		assert.Equal(t, n, s.ByReference[i].Number)
	}
	assert.Equal(t, "c", s.ByReference[501].Call)
}

// TestACallOnAPageMayLiveAgain: its undo began after the page was made, and it is there once.
func TestACallOnAPageMayLiveAgain(t *testing.T) {
	c := &counted{Memory: new(journal.Memory)}
	c.call(t, "s", "undoing")
	c.snapshot(t, "s", 1)
	c.append(t, of("undoing", journal.KindUndoStarted, journal.Record{Mark: journal.MarkUndoing, By: "bob"}))
	c.snapshot(t, "s", 1)
	s := c.session(t, "s")
	require.Len(t, s.Calls, 1)
	assert.Equal(t, &history.Undo{By: "bob"}, s.Calls[0].Undo)
	assert.Empty(t, s.Ended)
	assert.Empty(t, s.References())
	c.append(t, of("undoing", runtime.EventUndoFailed.String(), journal.Record{Mark: journal.MarkUndone, By: "bob"}))
	c.snapshot(t, "s", 100)
	assert.Len(t, c.session(t, "s").References(), 1)
}

// TestEntriesThatASnapshotDoesNotTakeIn: one that came while it was made lies before it.
func TestEntriesThatASnapshotDoesNotTakeIn(t *testing.T) {
	c := &counted{Memory: new(journal.Memory)}
	c.call(t, "s", "a")
	before := c.session(t, "s").Snapshot(began, 0)
	c.call(t, "s", "b")
	c.append(t, *before)
	s := c.session(t, "s")
	require.Len(t, s.Calls, 1)
	assert.Equal(t, "b", s.Calls[0].ID)
	assert.Contains(t, s.Ended, "a")
}

// TestSnapshotsThatSayNothing are refused, with the session and what is wrong.
func TestSnapshotsThatSayNothing(t *testing.T) {
	book, state := &consent.Snapshot{}, &rules.Snapshot{}
	for want, of := range map[string]*journal.Snapshot{
		"it has no book":                   {Rules: state},
		"or no rules":                      {Book: book},
		"entry 9":                          {Book: book, Rules: state, Pages: []uint64{9}},
		"entry 1 is no page of it":         {Book: book, Rules: state, Pages: []uint64{1}},
		`call "x" is not in the journal`:   {Last: 4, Book: book, Rules: state, Live: []journal.LiveCall{{Call: "x", Opened: 1}}},
		`request "" is in the snapshot`:    {Book: &consent.Snapshot{Requests: make([]consent.HeldRequest, 1)}, Rules: state},
		`run "r" is in the snapshot twice`: {Book: book, Rules: &rules.Snapshot{Runs: []rules.RunFacts{{Run: "r"}, {Run: "r"}}}},
	} {
		c := &counted{Memory: new(journal.Memory)}
		c.call(t, "s", "a")
		c.append(t, journal.Record{Kind: journal.KindSnapshot, Session: "s", Snapshot: of})
		_, err := history.ReadSession(t.Context(), c, engine(t), key, "s")
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, `session "s"`)
	}
}

// TestWhatBelongsToNoSession has its snapshots too: commands, and when consent is off.
func TestWhatBelongsToNoSession(t *testing.T) {
	off, err := consent.NewBook(key).Off(began, began.Add(consent.MaxOff), "root", "migration")
	require.NoError(t, err)
	c := &counted{Memory: new(journal.Memory)}
	c.append(t, journal.Record{Kind: journal.KindConsent, Consent: []consent.Event{off}})
	c.append(t, journal.Record{Kind: journal.KindCommandImported, Command: &journal.Command{Nonce: "n1"}})
	c.snapshot(t, "", 1)
	c.append(t, journal.Record{Kind: journal.KindCommandImported, Command: &journal.Command{Nonce: "n2"}})
	c.append(t, journal.Record{Kind: journal.KindCommandDone, Command: &journal.Command{Nonce: "n1"}})
	s := c.session(t, "")
	assert.Equal(t, map[string]bool{"n1": false, "n2": true}, s.Commands)
	_, is := s.Book.IsOff(began)
	assert.True(t, is)
	assert.Equal(t, 2, s.Tail)
}

// TestAnEndedSessionIsSmall: of its calls it has those about which something is still to be said, its snapshot is as
// small, and late news of the calls that it has not change nothing.
// SEMANTICS 1.4.5
func TestAnEndedSessionIsSmall(t *testing.T) {
	c := &counted{Memory: new(journal.Memory)}
	c.append(t, journal.Record{Kind: journal.KindRunStarted, Session: "s", Run: "r", Principal: "alice", Rules: []rules.Event{{Kind: rules.EventRunStarted, Run: "r"}}})
	for _, id := range []string{"a", "b", "c"} {
		c.call(t, "s", id)
	}
	c.snapshot(t, "s", 2)
	lost := of("lost", runtime.EventUnknown.String(), journal.Record{
		Mark: journal.MarkEnded, To: "EXECUTING", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Unknown, Reason: runtime.ReasonInterrupted}),
	})
	for _, r := range []journal.Record{opened("lost"), validated, started, lost} {
		r.Call = "lost"
		c.append(t, r)
	}
	for range 2 {
		c.call(t, "s", "late")
		c.append(t, journal.Record{Kind: journal.KindSessionEnded, Session: "s", Principal: "alice"})
		c.append(t, of("a", runtime.EventLateResult.String(), journal.Record{}))
		s := c.session(t, "s")
		assert.True(t, s.Over)
		assert.Empty(t, s.Open)
		assert.Equal(t, rules.RunClosed, s.State.RunState("r"))
		ids := []string{}
		for _, r := range s.References() {
			ids = append(ids, r.Call)
			assert.Nil(t, r.Past)
		}
		assert.Equal(t, []string{"lost"}, ids)
		at := s.Snapshot(began, 0).Snapshot
		assert.True(t, at.Over)
		assert.Empty(t, at.Pages)
		assert.Len(t, at.Ended, 1)
		assert.Empty(t, at.Rules.Runs)
		c.snapshot(t, "s", 1)
		c.append(t, of("b", runtime.EventLateResult.String(), journal.Record{}))
	}
	whole, err := history.Read(t.Context(), c, engine(t), key)
	require.NoError(t, err)
	assert.True(t, whole.Sessions["s"].Over)
	s := c.session(t, "s")
	require.Len(t, s.References(), 1)
	assert.Equal(t, whole.Sessions["s"].State.Snapshot(), s.State.Snapshot())
	c.append(t, of("lost", runtime.EventReconciled.String(), journal.Record{Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed})}))
	s = c.session(t, "s")
	assert.Empty(t, s.References(), "it was resolved")
	assert.Empty(t, s.Snapshot(began, 0).Snapshot.Ended)
}
