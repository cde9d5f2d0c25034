package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A place is a value that a tool changes without a transaction.
type place struct {
	stands   string
	prepared int
	fail     error // after the change, once
}

// tool returns a tool that stores the password in p.
func (p *place) tool(l *loginTool, change ...func(*runtime.Spec)) *runtime.Tool {
	l.prepare = func(context.Context, *loginInput) (*loginInput, error) {
		p.prepared++
		return &loginInput{Password: p.stands}, nil
	}
	l.run = func(_ context.Context, in *loginInput) (*loginInput, error) {
		p.stands = in.Password
		err := p.fail
		p.fail = nil
		return in, err
	}
	l.undo = func(u *undid) error {
		p.stands = u.State.Password
		return nil
	}
	return l.tool(change...)
}

// TestUndoIsPreparedOnce: a second attempt would find what the first one has changed.
func TestUndoIsPreparedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &place{stands: "first", fail: runtime.Transient(errors.New("busy"))}
		r := recovered(t, new(journal.Memory), p.tool(new(loginTool), retried))
		out := r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn))
		require.Equal(t, runtime.Completed, out.Kind, out.Message)
		require.Equal(t, "hunter2", p.stands)
		assert.Equal(t, 1, p.prepared)
		assert.Equal(t, undoOK, r.undoOf("c1").Kind)
		assert.Equal(t, "first", p.stands)
		require.NoError(t, r.exec.Shutdown(t.Context()))
	})
}

func TestUndoIsPreparedOnceAcrossARestart(t *testing.T) {
	p := &place{stands: "first"}
	j := &broken{left: 2} // the process dies before the outcome
	r := recovered(t, j, p.tool(new(loginTool), retried))
	require.Equal(t, runtime.Unknown, r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn)).Kind)
	require.Equal(t, "hunter2", p.stands)

	r = recovered(t, &j.Memory, p.tool(new(loginTool), retried))
	require.Equal(t, runtime.Completed, r.sessionAgain().Await(t.Context(), "c1").Kind, "it was run again")
	assert.Equal(t, 1, p.prepared)
	require.NoError(t, r.exec.Shutdown(t.Context()))
	r = recovered(t, &j.Memory, p.tool(new(loginTool), retried))
	assert.Equal(t, undoOK, r.undoOf("c1").Kind)
	assert.Equal(t, "first", p.stands)
}

// before returns what a journal held before its first entry of a kind.
func before(t *testing.T, j *journal.Memory, kind string) *journal.Memory {
	t.Helper()
	entries, err := j.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	end := slices.IndexFunc(entries, func(e journal.Entry) bool { return e.Kind == kind })
	require.Positive(t, end)
	var cut journal.Memory
	require.NoError(t, cut.Append(t.Context(), entries[:end]))
	return &cut
}

// TestUndoOfWhatWasNotPrepared: the process died before the handler was released. A
// tool with another declaration may have prepared nothing for that reason, and its call
// cannot be undone.
func TestUndoOfWhatWasNotPrepared(t *testing.T) {
	pin := func(s *runtime.Spec) { s.Pin = "another" }
	for name, tc := range map[string]struct {
		change []func(*runtime.Spec)
		want   undoing
	}{
		"nothing was done":    {nil, undoing{Kind: undoOK}},
		"another declaration": {[]func(*runtime.Spec){pin}, lostUndo},
	} {
		t.Run(name, func(t *testing.T) {
			j := &broken{left: 2}
			r := recovered(t, j, new(loginTool).tool())
			r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn))
			var l loginTool
			r = recovered(t, before(t, &j.Memory, journal.KindPrepared), l.tool(tc.change...))
			require.Equal(t, runtime.Unknown, r.sessionAgain().Await(t.Context(), "c1").Kind)
			assert.Equal(t, tc.want, r.undoOf("c1"))
			assert.Empty(t, l.undone)
			assert.Len(t, r.allFaults(), min(1, len(tc.want.Reason)))
		})
	}
	t.Run("it declared no undo", func(t *testing.T) {
		var j journal.Memory
		run := func(_ context.Context, in *loginInput) (*loginInput, error) { return in, nil }
		aforetime(t, &j, runtime.NewTool(&runtime.Spec{Name: "login"}, &loginInputRule, run))
		var l loginTool
		r := recovered(t, &j, l.tool())
		assert.Equal(t, lostUndo, r.undoOf("c1"))
		assert.Empty(t, l.undone)
		require.Len(t, r.allFaults(), 1)
		assert.ErrorContains(t, r.allFaults()[0], "nothing was prepared for the undo")
	})
}

// TestUndoOfAPreparationThatHung: once the preparation has ended there is nothing to
// undo.
func TestUndoOfAPreparationThatHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		l := loginTool{
			run: func(context.Context, *loginInput) (*loginInput, error) { panic("it ran") },
			prepare: func(ctx context.Context, _ *loginInput) (*loginInput, error) {
				<-hang
				return nil, ctx.Err()
			},
		}
		r := recovered(t, new(journal.Memory), l.tool())
		require.Equal(t, runtime.TimedOut, r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn)).Kind)
		time.Sleep(time.Minute)
		assert.Equal(t, action.CodeHandlerError, r.undoOf("c1").Reason)
		close(hang)
		synctest.Wait()
		assert.Equal(t, undoOK, r.undoOf("c1").Kind)
		assert.Empty(t, l.undone)
	})
}

// TestUndoAfterATransaction: recovery commits a transaction that was decided, and its
// call can be undone; a call that was rolled back cannot.
func TestUndoAfterATransaction(t *testing.T) {
	died := errors.New("the process has died")
	for name, tc := range map[string]struct {
		appends int
		want    action.Code
	}{
		"decided":     {3, ""},
		"rolled back": {2, action.CodeNotSuccessful},
	} {
		t.Run(name, func(t *testing.T) {
			writes := &ledgerOfWrites{}
			j := &broken{left: tc.appends}
			l := loginTool{run: func(ctx context.Context, in *loginInput) (*loginInput, error) {
				return &loginInput{User: in.User, Password: "out of " + in.Password}, writes.write(ctx, in.Password)
			}}
			r := transacting(t, j, writes, l.tool())
			writes.fails = map[string]error{"commit": died, "rollback": died}
			r.turn().Execute(t.Context(), callOf("c1", "login", adaLogsIn))
			writes.fails = nil
			transacting(t, &j.Memory, writes, l.tool())
			r = transacting(t, &j.Memory, writes, l.tool())
			res := r.undoOf("c1")
			assert.Equal(t, tc.want, res.Reason)
			if tc.want == "" {
				assert.Equal(t, []*undid{adaUndo("c1")}, l.undone)
			}
			assert.Empty(t, r.allFaults())
		})
	}
}
