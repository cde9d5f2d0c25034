package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// imported imports a command that alice gave.
func (r *rig) imported(c inbox.Command) inbox.CommandResult {
	r.t.Helper()
	if c.By == "" {
		c.By = "alice"
	}
	c.Method = runtime.MethodOwner
	res, err := inbox.Import(r.t.Context(), r.exec, c)
	require.NoError(r.t, err)
	return res
}

// records returns the records of a journal.
func records(t *testing.T, j journal.Journal) (list []*journal.Record) {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for i := range entries {
		r, err := journal.Decode(entries[i].Leaf)
		require.NoError(t, err)
		list = append(list, r)
	}
	return list
}

func TestCommandsOfOtherProcesses(t *testing.T) {
	var j journal.Memory
	var l loginTool
	r := recovered(t, &j, l.tool(asking()))
	turn := r.turn()
	first := turn.Execute(t.Context(), callOf("c1", "login", adaLogsIn))
	second := turn.Execute(t.Context(), callOf("c2", "login", adaLogsIn))
	require.Equal(t, runtime.Pending, first.Kind)

	res := r.imported(inbox.Command{
		Nonce: "n1", Kind: inbox.CommandApprove, Request: first.RequestID, Reason: "fine", MAC: "beef",
		Lasting: "duration", For: time.Minute, Cover: "tool", Edit: json.RawMessage(`{"user":"bob","password":"secret9"}`),
	})
	assert.Equal(t, inbox.CommandResult{Done: true, Result: "accepted", Call: "c1", Grant: first.RequestID}, res)
	require.Equal(t, runtime.Completed, r.sessionAgain().Await(t.Context(), "c1").Kind)
	res = r.imported(inbox.Command{Nonce: "n2", Kind: inbox.CommandDeny, Request: second.RequestID, Reason: "no"})
	assert.Equal(t, inbox.CommandResult{Done: true, Result: "accepted", Call: "c2"}, res)
	assert.Equal(t, runtime.Denied, r.sessionAgain().Await(t.Context(), "c2").Kind)
	res = r.imported(inbox.Command{Nonce: "n3", Kind: inbox.CommandUndo, Session: "s", Call: "c1", Reason: "oops"})
	assert.Equal(t, inbox.CommandResult{Done: true, Result: "ok", Session: "s", Call: "c1"}, res)
	require.Len(t, l.undone, 1)
	assert.Equal(t, "bob", l.undone[0].Input.User)
	res = r.imported(inbox.Command{Nonce: "n4", Kind: inbox.CommandUndo, Session: "s", Run: "r"})
	assert.Equal(t, inbox.CommandResult{Done: true, Result: "ok", Session: "s"}, res)
	res = r.imported(inbox.Command{Nonce: "n5", Kind: inbox.CommandRevoke, Grant: first.RequestID})
	assert.Equal(t, inbox.CommandResult{Done: true, Result: "accepted", Call: "c1"}, res)

	third := turn.Execute(t.Context(), callOf("c3", "login", adaLogsIn))
	require.Equal(t, runtime.Pending, third.Kind)
	res = r.imported(inbox.Command{Nonce: "n6", Kind: inbox.CommandCancel, Session: "s", Call: "c3", Reason: "never mind"})
	assert.Equal(t, inbox.CommandResult{Done: true, Result: "ok", Session: "s", Call: "c3"}, res)
	assert.Equal(t, runtime.Cancelled, r.sessionAgain().Await(t.Context(), "c3").Kind)

	var asked, done []string
	for _, rec := range records(t, &j) {
		if rec.Command == nil {
			continue
		}
		text, err := journal.Encode(rec)
		require.NoError(t, err)
		assert.NotContains(t, string(text), "secret9")
		if rec.Kind == journal.KindCommandImported {
			assert.Equal(t, "alice", rec.By)
			assert.Nil(t, rec.Command.Result)
			asked = append(asked, rec.Command.Nonce+rec.Command.MAC)
		} else {
			require.NotNil(t, rec.Command.Result)
			done = append(done, rec.Command.Nonce)
		}
	}
	assert.Equal(t, []string{"n1beef", "n2", "n3", "n4", "n5", "n6"}, asked)
	assert.Equal(t, []string{"n1", "n2", "n3", "n4", "n5", "n6"}, done)
	assert.Empty(t, r.allFaults())
}

// SEMANTICS 5.5.10
func TestCommandsThatAreRejected(t *testing.T) {
	r := recovered(t, new(journal.Memory), readTool(okRead))
	r.turn().Execute(t.Context(), callOf("c1", "file_read", goodInput))
	for want, c := range map[string]inbox.Command{
		inbox.RejectedIncomplete:     {Kind: inbox.CommandApprove},
		inbox.RejectedUnknownKind:    {Kind: "launch"},
		inbox.RejectedUnknownSession: {Kind: inbox.CommandUndo, Session: "nowhere", Call: "c1"},
		inbox.RejectedBadArguments:   {Kind: inbox.CommandApprove, Request: "q", Lasting: "forever"},
		"unknown_request":            {Kind: inbox.CommandDeny, Request: "q"},
		"not_undoable":               {Kind: inbox.CommandUndo, Session: "s", Call: "c1"},
		"unknown_call":               {Kind: inbox.CommandUndo, Session: "s", Call: "c9"},
		"already_ended":              {Kind: inbox.CommandCancel, Session: "s", Call: "c1"},
		"not_unknown":                {Kind: inbox.CommandResolve, Session: "s", Call: "c1"},
	} {
		c.Nonce = want
		res := r.imported(c)
		assert.Equal(t, "rejected", res.Result, want)
		assert.Equal(t, want, res.Reason)
		assert.False(t, res.Done)
	}
	_, err := inbox.Import(t.Context(), r.exec, inbox.Command{By: "alice", Kind: inbox.CommandDeny, Request: "q"})
	assert.ErrorContains(t, err, "without a nonce")
	_, err = inbox.Import(t.Context(), new(engine.Executor), inbox.Command{})
	assert.ErrorContains(t, err, "NewExecutor")
}

func TestCommandsWaitForTheNextStart(t *testing.T) {
	r := recovered(t, new(journal.Memory), readTool(okRead))
	require.NoError(t, r.exec.Shutdown(t.Context()))
	_, err := inbox.Import(t.Context(), r.exec, inbox.Command{Nonce: "n1", By: "alice", Kind: inbox.CommandDeny, Request: "q"})
	assert.Error(t, err)
	assert.NotErrorIs(t, err, engine.ErrCommandKnown)
}

// A cutJournal takes no entries of one kind.
type cutJournal struct {
	journal.Memory
	kind string
}

func (j *cutJournal) Append(ctx context.Context, entries []journal.Entry) error {
	for i := range entries {
		if entries[i].Kind == j.kind {
			return errors.New("the disk is full")
		}
	}
	return j.Memory.Append(ctx, entries)
}

// TestCommandsAreCarriedOutOnce imports a command again after a crash at each possible
// point.
func TestCommandsAreCarriedOutOnce(t *testing.T) {
	undo := inbox.Command{Nonce: "n1", By: "alice", Method: runtime.MethodOwner, Kind: inbox.CommandUndo, Session: "s", Call: "c1"}
	for _, c := range []struct {
		cut     string
		undone  int // before the crash
		again   error
		results int
	}{
		{"", 1, engine.ErrCommandKnown, 1},
		{journal.KindCommandImported, 0, nil, 1},
		{journal.KindCommandDone, 1, engine.ErrCommandKnown, 1},
		{runtime.EventUndone.String(), 1, engine.ErrCommandKnown, 1},
	} {
		j := &cutJournal{kind: c.cut}
		var l loginTool
		r := recovered(t, j, l.tool())
		require.Equal(t, runtime.Completed, r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn)).Kind)
		_, err := inbox.Import(t.Context(), r.exec, undo)
		require.Equal(t, c.cut == "", err == nil, "%q: %v", c.cut, err)
		require.Len(t, l.undone, c.undone, c.cut)
		_, err = inbox.Import(t.Context(), r.exec, undo)
		require.Error(t, err)
		require.Len(t, l.undone, c.undone, c.cut)

		j.kind = ""
		r = recovered(t, j, l.tool())
		res, err := inbox.Import(t.Context(), r.exec, undo)
		require.ErrorIs(t, err, c.again, c.cut)
		require.Len(t, l.undone, 1, c.cut)
		if c.cut != "" && c.again != nil {
			assert.Equal(t, string(action.CodeInterrupted), res.Result, c.cut)
		}
		r = recovered(t, j, l.tool())
		_, err = inbox.Import(t.Context(), r.exec, undo)
		require.ErrorIs(t, err, engine.ErrCommandKnown)
		results := 0
		for _, rec := range records(t, j) {
			if rec.Kind == journal.KindCommandDone {
				results++
			}
		}
		assert.Equal(t, c.results, results, c.cut)
	}
}
