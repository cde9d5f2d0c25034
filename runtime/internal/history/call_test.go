package history_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// opened returns the first record of a call.
func opened(id string) journal.Record {
	return of(id, runtime.EventInvoked.String(), journal.Record{
		Mark: journal.MarkOpened, To: "DECLARED", Agent: "sub", Principal: "alice", InputMAC: "mac of " + id,
		Metadata: map[string]string{"k": "v"}, TurnEnds: began.Add(time.Hour), TurnCap: time.Minute,
	})
}

// of returns r as a record of a call.
func of(id, kind string, r journal.Record) journal.Record {
	r.Kind, r.Session, r.Run, r.Call, r.Tool = kind, "s", "r", id, "t"
	return r
}

func payload(text string) *journal.Payload {
	return &journal.Payload{Bytes: len(text), Value: json.RawMessage(text)}
}

func outcome(t *testing.T, o runtime.Outcome) json.RawMessage {
	t.Helper()
	text, err := history.EncodeOutcome(&o)
	require.NoError(t, err)
	return text
}

// one reads records of one call.
func one(t *testing.T, records ...journal.Record) *history.Call {
	t.Helper()
	h := read(t, append([]journal.Record{opened("c")}, records...)...)
	require.Len(t, h.Calls, 1)
	return h.Calls[0]
}

var (
	validated = of("c", runtime.EventValidated.String(), journal.Record{To: "VALIDATED", Args: payload(`{"a":1}`), Heartbeat: true})
	started   = of("c", runtime.EventStarted.String(), journal.Record{
		Mark: journal.MarkStarted, To: "EXECUTING", Pin: "p1", Effects: journal.EffectsNone, Attempt: 1, Epoch: 3,
	})
)

func TestACallIsReadFromItsRecords(t *testing.T) {
	authorized := of("c", runtime.EventAuthorized.String(), journal.Record{
		To: "AUTHORIZED", Revision: "v1", Request: "q", Final: payload(`{"a":2}`),
		Decision: json.RawMessage(`{"effect":"allow","obligations":[{"code":"notify","args":{"to":"ops"},"at":"p.rego:3"}]}`),
	})
	completed := of("c", runtime.EventCompleted.String(), journal.Record{
		Mark: journal.MarkEnded, To: "COMPLETED", Revision: "v1", Duration: time.Second, Output: payload(`"done"`),
		Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}),
	})
	c := one(t, validated, authorized, started, completed)
	obligations := []runtime.Obligation{{Code: "notify", Args: []byte(`{"to":"ops"}`), At: "p.rego:3"}}
	assert.Equal(t, &history.Call{
		Session: "s", Run: "r", ID: "c", Agent: "sub", Principal: "alice", Tool: "t", Opened: 1, Concluded: 5,
		Began: began, Ended: began.Add(4 * time.Second), TurnEnds: began.Add(time.Hour), TurnCap: time.Minute, InputMAC: "mac of c",
		Metadata: map[string]string{"k": "v"}, Heartbeat: true,
		State: runtime.StateCompleted, Attempts: 1, Epoch: 3, Pin: "p1", Effects: journal.EffectsNone, Revision: "v1", Request: "q",
		Obligations: obligations, Args: json.RawMessage(`{"a":1}`), Final: json.RawMessage(`{"a":2}`), Rewritten: true,
		Outcome: &runtime.Outcome{CallID: "c", Tool: "t", Kind: runtime.Completed, Output: []byte(`"done"`), Duration: time.Second, Revision: "v1"},
	}, c)
}

// TestRetriesCountTheAttemptThatTheyStart: no other record says that it started.
func TestRetriesCountTheAttemptThatTheyStart(t *testing.T) {
	retrying := of("c", runtime.EventRetrying.String(), journal.Record{Attempt: 1, Effects: journal.EffectsNone})
	c := one(t, validated, started, retrying)
	assert.Equal(t, 2, c.Attempts)
	assert.Equal(t, journal.EffectsNone, c.Effects)

	retrying.Effects = journal.EffectsInParts
	c = one(t, validated, started, retrying)
	assert.Empty(t, c.Effects, "the attempts were started under several declarations")
}

// TestProcessesWithoutAnEnd: a process that was started is one to end until its end is recorded, also when
// its call has an outcome.
func TestProcessesWithoutAnEnd(t *testing.T) {
	run := func(kind string, pid int, exit *process.Summary) journal.Record {
		return of("c", kind, journal.Record{Process: &journal.Process{ID: runtime.ProcessID{PID: pid, Start: "1"}, Program: "/bin/x", Exit: exit}})
	}
	timedOut := of("c", runtime.EventAborted.String(), journal.Record{Mark: journal.MarkEnded, To: "ABORTED"})
	first, second := run(journal.KindProcessStarted, 1, nil), run(journal.KindProcessStarted, 2, nil)
	c := one(t, validated, started, first, run(runtime.EventRetrying.String(), 1, &process.Summary{}), second, timedOut)
	require.Len(t, c.Processes, 1)
	assert.Equal(t, 2, c.Processes[0].ID.PID)
	assert.Equal(t, "/bin/x", c.Processes[0].Program)
	assert.Equal(t, runtime.StateAborted, c.State)

	c = one(t, validated, started, first, second, timedOut, run(runtime.EventLateResult.String(), 2, &process.Summary{}))
	require.Len(t, c.Processes, 1)
	assert.Equal(t, 1, c.Processes[0].ID.PID)
}

func TestValuesThatWereNotRecordedAreLost(t *testing.T) {
	c := one(t, validated, of("c", journal.KindPrepared, journal.Record{Lost: "too long"}))
	assert.True(t, c.Prepared)
	assert.True(t, c.Stored, "there was a state")
	assert.Nil(t, c.PreparedState)
	assert.Equal(t, "too long", c.Lost)

	c = one(t, validated, of("c", journal.KindPrepared, journal.Record{}))
	assert.True(t, c.Prepared)
	assert.False(t, c.Stored, "the tool prepared no state")

	c = one(t, validated, of("c", journal.KindPrepared, journal.Record{Prepared: payload(`{"old":1}`)}))
	assert.Equal(t, json.RawMessage(`{"old":1}`), c.PreparedState)
	assert.Empty(t, c.Lost)

	c = one(t, validated, of("c", runtime.EventCompleted.String(), journal.Record{Mark: journal.MarkEnded, To: "COMPLETED", Lost: "the output"}))
	assert.Empty(t, c.Lost, "an undo does not need the output")
}

// TestADecidedCommitHasItsOutcome: the outcome is known before the call has ended, and a recovery
// that completes the call records no output again.
func TestADecidedCommitHasItsOutcome(t *testing.T) {
	seals := []journal.Seal{{Participant: "db", Digest: "d"}}
	decided := of("c", journal.KindCommitting, journal.Record{
		Sealed: seals, Output: payload(`"done"`), Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}),
	})
	c := one(t, validated, started, decided)
	assert.Nil(t, c.Outcome)
	assert.Equal(t, seals, c.Sealed)
	assert.Equal(t, `"done"`, string(c.Decided.Output))

	ended := of("c", runtime.EventCompleted.String(), journal.Record{
		Mark: journal.MarkEnded, To: "COMPLETED", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}),
	})
	c = one(t, validated, started, decided, ended)
	assert.Equal(t, `"done"`, string(c.Outcome.Output))
}

// TestAReconciledCallHasNoOutputButItsOwn: the word of an operator brings no output, also when the
// commit of the call had been decided.
func TestAReconciledCallHasNoOutputButItsOwn(t *testing.T) {
	decided := of("c", journal.KindCommitting, journal.Record{
		Sealed: []journal.Seal{{Participant: "db"}}, Output: payload(`"done"`), Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}),
	})
	unknown := of("c", runtime.EventUnknown.String(), journal.Record{
		Mark: journal.MarkEnded, To: "EXECUTING", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Unknown, Reason: runtime.ReasonInterrupted}),
	})
	reconciled := of("c", runtime.EventReconciled.String(), journal.Record{
		To: "COMPLETED", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed, Message: "a person found it"}),
	})
	c := one(t, validated, started, decided, unknown)
	assert.Equal(t, runtime.Unknown, c.Outcome.Kind)
	c = one(t, validated, started, decided, unknown, reconciled)
	assert.Equal(t, runtime.Completed, c.Outcome.Kind)
	assert.Nil(t, c.Outcome.Output)
	assert.Equal(t, runtime.StateCompleted, c.State)
}

func TestAnArtifactReplacesTheOutput(t *testing.T) {
	ref := runtime.ArtifactRef{SHA256: "00", Type: "text/plain", Bytes: 9}
	c := one(t, validated, started, of("c", runtime.EventCompleted.String(), journal.Record{
		Mark: journal.MarkEnded, To: "COMPLETED", Artifact: &ref, Output: payload(`"begins"`), Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}),
	}))
	assert.Nil(t, c.Outcome.Output)
	assert.Equal(t, &runtime.StoredOutput{ArtifactRef: ref, Preview: []byte(`"begins"`)}, c.Outcome.Artifact)
}

func TestADuplicateHasTheOutputOfTheEarlierCall(t *testing.T) {
	first := of("c", runtime.EventCompleted.String(), journal.Record{
		Mark: journal.MarkEnded, To: "COMPLETED", Output: payload(`"done"`), Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}),
	})
	second := of("d", runtime.EventCompleted.String(), journal.Record{
		Mark: journal.MarkEnded, To: "COMPLETED", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Duplicate, Of: "c"}),
	})
	h := read(t, opened("c"), first, opened("d"), second)
	require.Len(t, h.Calls, 2)
	assert.Equal(t, `"done"`, string(h.Calls[1].Outcome.Output))
}

// TestACallThatReusesAnIDIsNotRead: its records have the id of the call that had it first.
func TestACallThatReusesAnIDIsNotRead(t *testing.T) {
	c := one(t, validated,
		of("c", runtime.EventInvoked.String(), journal.Record{To: "DECLARED", InputMAC: "another", Heartbeat: true}),
		of("c", runtime.EventDenied.String(), journal.Record{To: "DENIED", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Denied})}),
	)
	assert.Equal(t, runtime.StateValidated, c.State)
	assert.Equal(t, "mac of c", c.InputMAC)
	assert.Nil(t, c.Outcome)
}

func TestAnUndoIsReadUntilItEnds(t *testing.T) {
	undoes := &rules.Event{Kind: rules.EventUndone, Run: "r", Call: "c"}
	seals := []journal.Seal{{Participant: "db", Digest: "d"}}
	begun := of("c", journal.KindUndoStarted, journal.Record{By: "bob"})
	decided := of("c", journal.KindUndoDecided, journal.Record{By: "bob", Sealed: seals, Undoes: undoes})
	undone := of("c", runtime.EventUndone.String(), journal.Record{By: "bob", To: "ROLLED_BACK"})
	failed := of("c", runtime.EventUndoFailed.String(), journal.Record{By: "bob"})
	for _, row := range []struct {
		records []journal.Record
		undo    *history.Undo
		undone  bool
	}{
		{[]journal.Record{begun}, &history.Undo{By: "bob"}, false},
		{[]journal.Record{begun, decided}, &history.Undo{By: "bob", Sealed: seals, Undoes: undoes}, false},
		{[]journal.Record{begun, decided, undone}, nil, true},
		{[]journal.Record{begun, failed}, nil, false},
		{[]journal.Record{begun, failed, begun}, &history.Undo{By: "bob"}, false},
	} {
		c := one(t, row.records...)
		assert.Equal(t, row.undo, c.Undo)
		assert.Equal(t, row.undone, c.Undone)
	}
}

// TestErasedSecretsTakeTheirValueAlong: a value without its secrets is incomplete.
func TestErasedSecretsTakeTheirValueAlong(t *testing.T) {
	salt := make([]byte, journal.SaltSize)
	secrets := []journal.Secret{{Pointer: "/args/value/token", Salt: salt, Value: []byte(`"hunter2"`)}}
	private, err := journal.EncodePrivate(secrets)
	require.NoError(t, err)
	r := validated
	committed, err := json.Marshal(map[string]string{"token": journal.Commit(salt, secrets[0].Value)})
	require.NoError(t, err)
	r.Args, r.At = &journal.Payload{Value: committed, Secrets: 1}, began
	for _, row := range []struct {
		private []byte
		want    json.RawMessage
	}{{private, json.RawMessage(`{"token":"hunter2"}`)}, {nil, nil}} {
		j := journalOf(t, opened("c"))
		entry, err := journal.NewEntry(2, &r, row.private)
		require.NoError(t, err)
		require.NoError(t, j.Append(t.Context(), []journal.Entry{entry}))
		h, err := history.Read(t.Context(), j, engine(t), key)
		require.NoError(t, err)
		assert.Equal(t, row.want, h.Calls[0].Args)
	}
}

func TestAskedIsForCallsThatWait(t *testing.T) {
	books := consent.NewBooks(key)
	ask := func(id string) {
		ev, err := books.Ask(began, id, "nonce", &consent.Question{
			Call: consent.Call{ID: id, Session: "s", Tool: "t", Pin: "p", Principal: "alice", Args: wire.Raw(`{}`)}, Reasons: []consent.Reason{{Code: "rule"}},
			Requirement: consent.Requirement{Quorum: 1, Timeout: time.Hour},
		})
		require.NoError(t, err)
		require.NoError(t, books.Continue("s", &ev))
	}
	ask("open")
	for _, row := range []struct {
		call history.Call
		want bool
	}{
		{history.Call{Request: "open", State: runtime.StateValidated}, true},
		{history.Call{Request: "open", State: runtime.StateAuthorized}, true},
		{history.Call{Request: "open", State: runtime.StateExecuting}, false},
		{history.Call{Request: "open", State: runtime.StateValidated, Outcome: &runtime.Outcome{}}, false},
		{history.Call{Request: "forgotten", State: runtime.StateValidated}, false},
		{history.Call{State: runtime.StateValidated}, false},
	} {
		_, asked := row.call.OpenRequest(books)
		assert.Equal(t, row.want, asked, row.call)
	}
}
