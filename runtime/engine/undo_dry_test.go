package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/internal/ruleinput"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// dryRig makes calls of which some can be undone:
//
//	c1 put a.md   c2 put b.md   c3 send a.md   c4 file_read a.md   c5 put a.md
func dryRig(t *testing.T, j *journal.Memory, l *ledgerOfWrites) *rig {
	r := undoRig(t, j, l, nil, restoreTool(l, nil), readTool(okRead), readTool(okRead, named("send"), writes))
	if _, open := r.sessionAgain().Run("r"); open {
		return r
	}
	turn := r.turn()
	for _, c := range []runtime.Call{
		callOf("c1", "put", `{"path":"a.md","limit":1}`), callOf("c2", "put", `{"path":"b.md","limit":2}`),
		callOf("c3", "send", `{"path":"a.md","limit":2}`), callOf("c4", "file_read", `{"path":"a.md","limit":1}`),
		callOf("c5", "put", `{"path":"a.md","limit":3}`),
	} {
		require.Equal(t, runtime.Completed, turn.Execute(t.Context(), c).Kind)
	}
	return r
}

// TestDryUndo: a dry run reports what an undo would do, changes nothing, and names
// later calls that share something; before a restart and after it.
func TestDryUndo(t *testing.T) {
	var j journal.Memory
	l := &ledgerOfWrites{}
	r := dryRig(t, &j, l)
	for range 2 {
		entries, stands := len(journalKinds(t, &j)), len(l.stands)
		s := r.sessionAgain()
		one := undoingOf(s.Undo(t.Context(), action.UndoRequest{CallID: "c1", DryRun: true, By: runtime.ProgramActor("ops")}))
		assert.Equal(t, undoing{Kind: undoOK, Calls: []undoneCall{{
			CallID: "c1", Tool: "put", Kind: undoOK,
			Later: []action.LaterCall{{CallID: "c3", Tool: "send", Shares: []string{"/path"}}, {CallID: "c5", Tool: "put", Shares: []string{"/path"}}},
		}}}, one)
		all := undoingOf(s.Undo(t.Context(), action.UndoRequest{RunID: "r", DryRun: true, By: runtime.ProgramActor("ops")}))
		assert.Equal(t, []string{"c5", "c2", "c1"}, all.Undone)
		assert.Equal(t, []string{"c4"}, all.Reads)
		assert.Equal(t, []string{"c3"}, all.NotUndoable)
		assert.Empty(t, all.Calls[0].Later, "c5 is the last")
		assert.Equal(t, []action.LaterCall{{CallID: "c3", Tool: "send", Shares: []string{"/limit"}}}, all.Calls[3].Later)
		assert.Equal(t, []action.LaterCall{{CallID: "c3", Tool: "send", Shares: []string{"/path"}}}, all.Calls[4].Later, "c5 is undone before c1")
		require.NoError(t, r.exec.Shutdown(t.Context()), "which writes what waits")
		assert.Len(t, journalKinds(t, &j), entries, "nothing is recorded")
		assert.Len(t, l.stands, stands, "nothing is done")
		r = dryRig(t, &j, l)
	}
	assert.Equal(t, undoOK, r.undoOf("c5").Kind)
	s := r.sessionAgain()
	one := undoingOf(s.Undo(t.Context(), action.UndoRequest{CallID: "c1", DryRun: true, By: runtime.ProgramActor("ops")}))
	assert.Equal(t, []action.LaterCall{{CallID: "c3", Tool: "send", Shares: []string{"/path"}}}, one.Calls[0].Later, "what was undone touches nothing")
	assert.Equal(t, action.CodeAlreadyUndone, undoingOf(s.Undo(t.Context(), action.UndoRequest{CallID: "c5", DryRun: true, By: runtime.ProgramActor("ops")})).Reason)
	assert.Equal(t, action.CodeNotUndoable, undoingOf(s.Undo(t.Context(), action.UndoRequest{CallID: "c3", DryRun: true, By: runtime.ProgramActor("ops")})).Reason)
}

// TestDryUndoAsksThePolicy: a call whose undo the policy denies would not be undone.
func TestDryUndoAsksThePolicy(t *testing.T) {
	policy := runtime.PolicyFunc(func(_ context.Context, in *runtime.PolicyInput) (runtime.Decision, error) {
		if in.Undo {
			return runtime.Decision{Denials: []runtime.Denial{{Code: "frozen"}}}, nil
		}
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	l := &ledgerOfWrites{}
	r := newRigWith(t, policy, []*runtime.Tool{restoreTool(l, nil)}, engine.WithParticipant("ledger", l), engine.WithJournal(new(journal.Memory)))
	r.recover()
	out := r.turn().Execute(t.Context(), callOf("c1", "put", goodInput))
	require.Equal(t, runtime.Completed, out.Kind)
	res := undoingOf(r.sessionAgain().Undo(t.Context(), action.UndoRequest{CallID: "c1", DryRun: true, By: runtime.ProgramActor("ops")}))
	assert.Equal(t, action.CodeDenied, res.Reason)
	assert.Contains(t, res.Err, "frozen")
	assert.Empty(t, res.Calls[0].Later)
}

// TestDryUndoNamesGroups: calls of one exclusive group share that group.
func TestDryUndoNamesGroups(t *testing.T) {
	grouped := func(s *runtime.Spec) { writes(s); s.Rules.ExclusiveGroups = []string{"g"} }
	l := &ledgerOfWrites{}
	r := undoRig(t, new(journal.Memory), l, nil, restoreTool(l, nil, grouped))
	turn := r.turn()
	require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c1", "put", `{"path":"a.md","limit":1}`)).Kind)
	require.Equal(t, runtime.Completed, turn.Execute(t.Context(), callOf("c2", "put", `{"path":"b.md","limit":2}`)).Kind)
	res := undoingOf(r.sessionAgain().Undo(t.Context(), action.UndoRequest{CallID: "c1", DryRun: true, By: runtime.ProgramActor("ops")}))
	assert.Equal(t, []action.LaterCall{{CallID: "c2", Tool: "put", Shares: []string{"group g"}}}, res.Calls[0].Later)
}

// TestUndoOfASession: a caller that has only the id of a session may ask until when a call can be
// undone, and undo it.
func TestUndoOfASession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		r := dryRig(t, &j, new(ledgerOfWrites))
		ended := time.Now()
		time.Sleep(time.Minute)
		ask := action.UndoRequest{CallID: "c1", DryRun: true, By: runtime.ProgramActor("ops")}
		res, err := r.exec.Undo(t.Context(), "s", ask)
		require.NoError(t, err)
		until := res.Calls[0].Until
		assert.Equal(t, ended.Add(ruleinput.DefaultUndoTTL).UTC(), until.UTC())
		res, err = r.exec.Undo(t.Context(), "s", action.UndoRequest{CallID: "c3", DryRun: true, By: runtime.ProgramActor("ops")})
		assert.Equal(t, action.CodeNotUndoable, codeOf(err))
		assert.Zero(t, res.Calls[0].Until)
		_, err = r.exec.Undo(t.Context(), "other", ask)
		assert.Equal(t, action.CodeUnknownCall, codeOf(err))
		time.Sleep(time.Until(until) - time.Nanosecond)
		_, err = r.exec.Undo(t.Context(), "s", ask)
		require.NoError(t, err, "the last moment")
		time.Sleep(time.Nanosecond)
		_, err = r.exec.Undo(t.Context(), "s", ask)
		assert.Equal(t, action.CodeExpired, codeOf(err))
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}
