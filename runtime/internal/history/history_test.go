package history_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

var (
	began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	key   = make([]byte, 32)
)

func engine(t *testing.T) *rules.Engine {
	t.Helper()
	e, err := rules.Compile(rules.Config{})
	require.NoError(t, err)
	return e
}

// journalOf returns a journal of records, one a second.
func journalOf(t *testing.T, records ...journal.Record) *journal.Memory {
	t.Helper()
	j := &journal.Memory{}
	for i := range records {
		records[i].At = began.Add(time.Duration(i) * time.Second)
		entry, err := journal.NewEntry(uint64(i+1), &records[i], nil)
		require.NoError(t, err)
		require.NoError(t, j.Append(t.Context(), []journal.Entry{entry}))
	}
	return j
}

func read(t *testing.T, records ...journal.Record) *history.History {
	t.Helper()
	h, err := history.Read(t.Context(), journalOf(t, records...), engine(t), key)
	require.NoError(t, err)
	return h
}

func TestNothingIsReadFromAnEmptyJournal(t *testing.T) {
	h := read(t)
	assert.Empty(t, h.Sessions)
	assert.Empty(t, h.Calls)
	assert.Zero(t, h.Last)
	assert.True(t, h.LastAt.IsZero())
}

func TestSessionsAreReadWithTheirRuns(t *testing.T) {
	st := engine(t).NewState()
	started := func(run string) []rules.Event {
		ev, err := st.StartRun(0, run)
		require.NoError(t, err)
		return []rules.Event{ev}
	}
	h := read(t,
		journal.Record{Kind: journal.KindRunStarted, Session: "s", Run: "r1", Principal: "alice", Rules: started("r1")},
		journal.Record{Kind: journal.KindSessionOpened, Session: "s", Principal: "alice", Setup: &journal.Setup{Behavior: "b", Capabilities: []string{"x"}}},
		journal.Record{Kind: journal.KindSessionOpened, Session: "s", Principal: "bob", Setup: &journal.Setup{Modes: map[string]string{"m": "1"}}},
		journal.Record{Kind: journal.KindRunStarted, Session: "s", Run: "r2", Principal: "bob", Metadata: map[string]string{"trace": "7"}, Rules: started("r2")},
		journal.Record{Kind: journal.KindRunClosed, Session: "s", Run: "r1", Principal: "bob"},
		journal.Record{Kind: journal.KindSessionOpened, Session: "other", Principal: "carol"},
	)
	require.Len(t, h.Sessions, 2)
	s := h.Sessions["s"]
	assert.Equal(t, "bob", s.Principal)
	assert.Equal(t, journal.Setup{Modes: map[string]string{"m": "1"}}, s.Setup, "a later configuration replaces an earlier one")
	assert.Equal(t, 2, s.Runs)
	assert.Equal(t, map[string]map[string]string{"r2": {"trace": "7"}}, s.Open)
	assert.Equal(t, rules.RunRunning, s.State.RunState("r2"))
	assert.Equal(t, rules.RunClosed, h.Sessions["other"].State.RunState("r2"), "sessions share no state")
	assert.EqualValues(t, 6, h.Last)
	assert.Equal(t, began.Add(5*time.Second), h.LastAt)
}

func TestTheBookAndTheCommandsAreRead(t *testing.T) {
	off, err := consent.NewBook(key).Off(began, began.Add(time.Hour), "root", "migration")
	require.NoError(t, err)
	h := read(t,
		journal.Record{Kind: journal.KindConsent, By: "root", Consent: []consent.Event{off}},
		journal.Record{Kind: journal.KindCommandImported, Command: &journal.Command{Nonce: "done", Kind: "undo"}},
		journal.Record{Kind: journal.KindCommandDone, Command: &journal.Command{Nonce: "done", Kind: "undo"}},
		journal.Record{Kind: journal.KindCommandImported, Command: &journal.Command{Nonce: "interrupted", Kind: "undo"}},
	)
	_, isOff := h.Books.IsOff(began.Add(time.Minute))
	assert.True(t, isOff)
	assert.Equal(t, map[string]bool{"done": false, "interrupted": true}, h.Commands)
}

// TestLongJournalsAreReadInSteps reads a journal that is longer than one step.
func TestLongJournalsAreReadInSteps(t *testing.T) {
	var records []journal.Record
	for i := range 2_500 {
		records = append(records, opened(fmt.Sprintf("c%d", i)))
	}
	h := read(t, records...)
	require.Len(t, h.Calls, len(records))
	assert.Equal(t, "c2499", h.Calls[2499].ID)
	assert.EqualValues(t, 2500, h.Last)
}

// A failing journal cannot be read after its first entries.
type failing struct {
	journal.Memory
	after uint64
}

func (f *failing) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	if after >= f.after {
		return nil, errors.New("the disk does not answer")
	}
	return f.Memory.Read(ctx, after, limit)
}

func TestErrorsNameTheEntry(t *testing.T) {
	for name, row := range map[string]struct {
		records []journal.Record
		want    string
	}{
		"no beginning": {
			[]journal.Record{opened("c1"), {Kind: runtime.EventValidated.String(), Session: "s", Call: "c2", To: "VALIDATED"}},
			`entry 2 of the journal: call "c2" has no beginning`,
		},
		"state": {
			[]journal.Record{opened("c1"), {Kind: runtime.EventValidated.String(), Session: "s", Call: "c1", To: "NOWHERE"}},
			`entry 2 of the journal: `,
		},
		"decision": {
			[]journal.Record{opened("c1"), {Kind: runtime.EventAuthorized.String(), Session: "s", Call: "c1", To: "AUTHORIZED"}},
			`entry 2 of the journal: the decision about call "c1": `,
		},
		"outcome": {
			[]journal.Record{opened("c1"), {Kind: runtime.EventAborted.String(), Session: "s", Call: "c1", Mark: journal.MarkEnded, Outcome: json.RawMessage(`{"outcome":"perhaps"}`)}},
			`entry 2 of the journal: the outcome of call "c1": `,
		},
		"rules": {
			[]journal.Record{{Kind: journal.KindRunStarted, Session: "s", Run: "r", Rules: []rules.Event{{Kind: rules.EventRunClosed, Run: "r"}}}},
			`entry 1 of the journal: `,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := history.Read(t.Context(), journalOf(t, row.records...), engine(t), key)
			require.ErrorContains(t, err, row.want)
		})
	}

	f := &failing{after: 1}
	entry, err := journal.NewEntry(1, &journal.Record{Kind: journal.KindOwner, At: began}, nil)
	require.NoError(t, err)
	require.NoError(t, f.Append(t.Context(), []journal.Entry{entry}))
	_, err = history.Read(t.Context(), f, engine(t), key)
	require.EqualError(t, err, "read the journal after entry 1: the disk does not answer")
}

// TestAnIndexThatDisagreesIsAnError changes the index of an entry, which is not what the audit log
// is about.
func TestAnIndexThatDisagreesIsAnError(t *testing.T) {
	r := opened("c1")
	r.At = began
	entry, err := journal.NewEntry(1, &r, nil)
	require.NoError(t, err)
	entry.Tool = "another"
	j := &journal.Memory{}
	require.NoError(t, j.Append(t.Context(), []journal.Entry{entry}))
	_, err = history.Read(t.Context(), j, engine(t), key)
	require.EqualError(t, err, "entry 1 of the journal: its tool is not that of its record")
}
