package engine_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// undid is the argument of an undo handler of login.
type undid = runtime.Undo[loginInput, loginInput, loginInput]

const adaLogsIn = `{"user":"ada","password":"hunter2"}`

// A loginTool can be undone. All arguments of its undo handler have a sensitive member.
type loginTool struct {
	run     func(context.Context, *loginInput) (*loginInput, error)
	prepare func(context.Context, *loginInput) (*loginInput, error)
	undo    func(*undid) error
	undone  []*undid
	state   *wire.ObjectRule
}

func (l *loginTool) tool(change ...func(*runtime.Spec)) *runtime.Tool {
	spec := &runtime.Spec{Name: "login", Deadline: time.Second, Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{}}
	for _, f := range change {
		f(spec)
	}
	if l.run == nil {
		l.run = func(_ context.Context, in *loginInput) (*loginInput, error) {
			return &loginInput{User: in.User, Password: "out of " + in.Password}, nil
		}
	}
	if l.prepare == nil {
		l.prepare = func(_ context.Context, in *loginInput) (*loginInput, error) {
			return &loginInput{User: in.User, Password: "before " + in.Password}, nil
		}
	}
	if l.state == nil {
		l.state = &loginInputRule
	}
	return runtime.NewTool(spec, &loginInputRule, l.run, runtime.WithUndo(l.state, &loginInputRule, l.prepare,
		func(_ context.Context, u *undid) error {
			l.undone = append(l.undone, u)
			if l.undo != nil {
				return l.undo(u)
			}
			return nil
		}))
}

// adaUndo returns the argument of an undo of adaLogsIn.
func adaUndo(callID string) *undid {
	return &undid{
		CallID: callID, Input: &loginInput{"ada", "hunter2"}, State: &loginInput{"ada", "before hunter2"},
		Output: &loginInput{"ada", "out of hunter2"},
	}
}

// undoOf undoes a call of the session of r.
func (r *rig) undoOf(callID string) undoing {
	return undoingOf(r.sessionAgain().Undo(r.t.Context(), action.UndoRequest{CallID: callID, By: runtime.ProgramActor("alice")}))
}

func (r *rig) sessionAgain() *engine.Session {
	return r.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
}

// aforetime makes the call c1 in an executor of its own, as an earlier process would.
func aforetime(t *testing.T, j journal.Journal, tools ...*runtime.Tool) runtime.Outcome {
	t.Helper()
	return recovered(t, j, tools...).turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn))
}

// TestJournalKnowsTheSessionsWithAnUndo: a session is open in the journal while an undo handler runs, and no longer
// when the undo has a result, also when recovery has to give it one.
func TestJournalKnowsTheSessionsWithAnUndo(t *testing.T) {
	var j, crashed journal.Memory
	var l loginTool
	open := func(j journal.Journal) []string {
		list, err := j.Open(t.Context())
		require.NoError(t, err)
		return list
	}
	require.Equal(t, runtime.Completed, aforetime(t, &j, l.tool()).Kind)
	r := recovered(t, &j, l.tool())
	for i, err := range []error{errors.New("mischief"), nil} {
		l.undo = func(*undid) error {
			assert.Equal(t, []string{"s"}, open(&j))
			if i == 0 {
				entries, err := j.Read(t.Context(), 0, 1000)
				require.NoError(t, err)
				require.NoError(t, crashed.Append(t.Context(), entries))
			}
			return err
		}
		assert.Empty(t, open(&j))
		r.undoOf("c1")
		assert.Empty(t, open(&j))
	}
	assert.Len(t, l.undone, 2)
	assert.Equal(t, []string{"s"}, open(&crashed))
	recovered(t, &crashed, new(loginTool).tool())
	assert.Empty(t, open(&crashed))
}

// SEMANTICS 6.6.5
func TestUndoOutlivesTheProcess(t *testing.T) {
	var j journal.Memory
	grouped := func(s *runtime.Spec) { s.Rules.ExclusiveGroups = []string{"g"} }
	other := readTool(okRead, grouped)
	require.Equal(t, runtime.Completed, aforetime(t, &j, new(loginTool).tool(grouped), other).Kind)

	var l loginTool
	r := recovered(t, &j, l.tool(grouped), other)
	for _, err := range []error{runtime.ErrDrift, errors.New("mischief"), nil} {
		l.undo = func(*undid) error { return err }
		res := r.undoOf("c1")
		switch err {
		case nil:
			assert.Equal(t, undoing{Kind: undoOK}, res)
		case runtime.ErrDrift:
			assert.Equal(t, undoing{
				Kind: undoRejected, Reason: action.CodeDrift, Message: `"login" cannot be undone: changed since the call`, Err: "changed since the call",
			}, res)
		default:
			assert.Equal(t, undoing{
				Kind: undoFailed, Reason: action.CodeHandlerError, Message: `"login" was not undone (handler_error)`, Err: "mischief",
			}, res)
		}
	}
	assert.Equal(t, []*undid{adaUndo("c1"), adaUndo("c1"), adaUndo("c1")}, l.undone)
	assert.Equal(t, []string{"tool.undo_failed", "tool.undo_failed", "tool.undone"}, r.kinds("c1"))
	assert.Len(t, r.allFaults(), 2)
	assert.Equal(t, action.CodeAlreadyUndone, r.undoOf("c1").Reason)
	run, open := r.sessionAgain().Run("r")
	require.True(t, open)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), callOf("c2", "file_read", goodInput))
	assert.Equal(t, runtime.Completed, out.Kind, "its group is free: %s", out.Message)

	r = recovered(t, &j, l.tool(grouped), other)
	assert.Equal(t, action.CodeAlreadyUndone, r.undoOf("c1").Reason)
	assert.Equal(t, action.CodeNotUndoable, r.undoOf("c2").Reason)
	assert.Equal(t, action.CodeUnknownCall, r.undoOf("c3").Reason)
	assert.Empty(t, r.allFaults())
}

// TestUndoSaysNoSecrets: the error of an undo handler may contain its argument.
// SEMANTICS 6.4.1
func TestUndoSaysNoSecrets(t *testing.T) {
	var j journal.Memory
	l := loginTool{undo: func(u *undid) error {
		return errors.New("cannot set " + u.State.Password + " for " + u.Input.Password + " and " + u.Output.Password)
	}}
	r := recovered(t, &j, l.tool())
	turn := r.turn()
	turn.Execute(t.Context(), callOf("c1", "login", adaLogsIn))
	turn.Execute(t.Context(), callOf("c2", "login", adaLogsIn))
	for _, id := range []string{"c1", "c2"} {
		require.Equal(t, action.CodeHandlerError, r.undoOf(id).Reason)
		events := r.sink.Events()
		assert.Equal(t, "cannot set (sensitive) for (sensitive) and (sensitive)", events[len(events)-1].Err)
		r = recovered(t, &j, l.tool())
	}
}

func TestUndoOfARunOutlivesTheProcess(t *testing.T) {
	for name, closed := range map[string]bool{"open": false, "closed": true} {
		t.Run(name, func(t *testing.T) {
			var j journal.Memory
			fails := func(context.Context, *loginInput) (*loginInput, error) { return nil, errors.New("mischief") }
			l := &loginTool{run: fails}
			broken := l.tool(named("broken"))
			r := recovered(t, &j, new(loginTool).tool(), readTool(okRead), broken)
			run := r.run()
			turn := run.Turn(engine.TurnConfig{})
			for _, id := range []string{"c1", "c2", "c3", "c4"} {
				turn.Execute(t.Context(), callOf(id, "login", adaLogsIn))
			}
			turn.Execute(t.Context(), callOf("c5", "file_read", goodInput))
			turn.Execute(t.Context(), callOf("c6", "broken", adaLogsIn))
			require.Equal(t, undoOK, r.undoOf("c2").Kind)
			if closed {
				require.NoError(t, run.Close(t.Context()))
			}

			var again loginTool
			again.undo = func(u *undid) error {
				if u.CallID == "c3" {
					return errors.New("mischief")
				}
				return nil
			}
			r = recovered(t, &j, again.tool(), readTool(okRead), broken)
			undo := func() undoing {
				return undoingOf(r.sessionAgain().Undo(t.Context(), action.UndoRequest{RunID: "r", By: runtime.ProgramActor("ops")}))
			}
			assert.Equal(t, undoing{
				Kind: undoFailed, Undone: []string{"c4", "c1"}, Failed: []string{"c3"}, Reads: []string{"c5"},
				Calls: []undoneCall{
					{CallID: "c5", Tool: "file_read", Kind: undoRejected, Reason: action.CodeNothingToUndo},
					{CallID: "c4", Tool: "login", Kind: undoOK},
					{
						CallID: "c3", Tool: "login", Kind: undoFailed, Reason: action.CodeHandlerError,
						Message: `"login" was not undone (handler_error)`, Err: "mischief",
					},
					{CallID: "c1", Tool: "login", Kind: undoOK},
				},
			}, undo())
			assert.Equal(t, []*undid{adaUndo("c4"), adaUndo("c3"), adaUndo("c1")}, again.undone)
			assert.Equal(t, action.CodeNotSuccessful, r.undoOf("c6").Reason)

			r = recovered(t, &j, new(loginTool).tool(), broken) // file_read is no longer declared
			assert.Equal(t, undoing{
				Kind: undoOK, Undone: []string{"c3"}, NotUndoable: []string{"c5"}, Calls: []undoneCall{
					{CallID: "c5", Tool: "file_read", Kind: undoRejected, Reason: action.CodeNotUndoable}, {CallID: "c3", Tool: "login", Kind: undoOK},
				},
			}, undo())
		})
	}
}

func TestUndoHasItsLifetimeAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var j journal.Memory
		r := recovered(t, &j, new(loginTool).tool())
		turn := r.turn()
		turn.Execute(t.Context(), callOf("c1", "login", adaLogsIn))
		turn.Execute(t.Context(), callOf("c2", "login", adaLogsIn))
		time.Sleep(30 * time.Minute)
		r = recovered(t, &j, new(loginTool).tool())
		time.Sleep(30*time.Minute - 1)
		assert.Equal(t, undoOK, r.undoOf("c1").Kind)
		time.Sleep(time.Nanosecond)
		assert.Equal(t, action.CodeExpired, r.undoOf("c2").Reason)
		r = recovered(t, &j, new(loginTool).tool())
		assert.Equal(t, action.CodeExpired, r.undoOf("c2").Reason)
		assert.Empty(t, r.allFaults())
		time.Sleep(time.Minute)
	})
}

// TestUndoOfWhatDidNotComplete: the output is not known.
// SEMANTICS 6.7.7
func TestUndoOfWhatDidNotComplete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		late := adaUndo("c1")
		late.Output = nil
		for _, how := range []runtime.OutcomeKind{runtime.TimedOut, runtime.Unknown} {
			var j journal.Memory
			deaf := loginTool{run: func(context.Context, *loginInput) (*loginInput, error) {
				time.Sleep(time.Minute)
				return &loginInput{}, nil
			}}
			old := recovered(t, &j, deaf.tool())
			turn, ended := old.turn(), make(chan runtime.Outcome, 1)
			go func() { ended <- turn.Execute(context.Background(), callOf("c1", "login", adaLogsIn)) }()
			synctest.Wait() // its handler runs
			if how == runtime.TimedOut {
				require.Equal(t, how, (<-ended).Kind)
			}
			var l loginTool
			r := recovered(t, &j, l.tool())
			require.Equal(t, how, r.sessionAgain().Await(t.Context(), "c1").Kind)
			assert.Equal(t, undoing{Kind: undoOK}, r.undoOf("c1"))
			r = recovered(t, &j, l.tool())
			assert.Equal(t, action.CodeAlreadyUndone, r.undoOf("c1").Reason)
			assert.Equal(t, []*undid{late}, l.undone)
			time.Sleep(2 * time.Minute)
		}
	})
}
