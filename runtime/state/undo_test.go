package state_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/sqltx"
	"github.com/ambit-tools/ambit/runtime/state"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// An office is an application whose tool changes a file, a key, a row and something
// outside, and whose undo handler does so by the same function.
type office struct {
	t       *testing.T
	dir     string
	db      *sql.DB
	bank    *sqltx.Participant
	files   *workspace.Workspace
	state   *state.State
	outside []string
	fails   error // of the undo handler, after it has changed everything
	exec    *engine.Executor
}

// set is what handler and undo handler share.
func (o *office) set(ctx context.Context, text string) error {
	err := o.files.WriteFile(ctx, "note", []byte(text), 0o600)
	if err == nil {
		err = o.state.Set(ctx, "note", []byte(text))
	}
	var tx *sqltx.Tx
	if err == nil {
		tx, err = o.bank.Tx(ctx)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, `UPDATE note SET text = ?`, text)
	}
	if err != nil {
		return err
	}
	return runtime.Commit(ctx, func() error {
		o.outside = append(o.outside, text)
		return nil
	})
}

// stands returns what is in the file, under the key and in the row.
func (o *office) stands() []string {
	file, err := os.ReadFile(filepath.Join(o.dir, "note"))
	require.NoError(o.t, err)
	value, err := o.state.Get(o.t.Context(), "note")
	require.NoError(o.t, err)
	var row string
	require.NoError(o.t, o.db.QueryRow(`SELECT text FROM note`).Scan(&row))
	return []string{string(file), string(value), row}
}

// anyJSON is the codec of a tool without types.
type anyJSON struct{}

func (anyJSON) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	v, violations := wire.ParseRaw(b, l)
	return v, violations
}

func newOffice(t *testing.T) *office {
	t.Helper()
	top := t.TempDir()
	o := &office{t: t, dir: filepath.Join(top, "files")}
	require.NoError(t, os.Mkdir(o.dir, 0o700))
	closing := func(f func() error) { t.Cleanup(func() { assert.NoError(t, f()) }) }
	var err error
	o.db, err = sql.Open("sqlite", "file:"+filepath.Join(top, "bank"))
	require.NoError(t, err)
	closing(o.db.Close)
	_, err = o.db.Exec(`CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('')`)
	require.NoError(t, err)
	o.bank = sqltx.New(o.db, nil)
	store, err := sqlite.Open(filepath.Join(top, "store"))
	require.NoError(t, err)
	closing(store.Close)
	o.state, err = state.Open(t.Context(), store)
	require.NoError(t, err)
	contents, err := content.Open(filepath.Join(top, "content"))
	require.NoError(t, err)
	closing(contents.Close)
	o.files, err = workspace.Open(o.dir, contents)
	require.NoError(t, err)
	closing(o.files.Close)

	spec := &runtime.Spec{Name: "note", Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{}}
	tool := runtime.NewDynamicTool(spec, anyJSON{}, func(ctx context.Context, in wire.Value) (wire.Value, error) {
		return in, o.set(ctx, "done")
	}, runtime.WithDynamicUndo(anyJSON{}, anyJSON{},
		func(context.Context, wire.Value) (wire.Value, error) { return nil, nil },
		func(ctx context.Context, _ string, _, _, _ wire.Value) error {
			return errors.Join(o.set(ctx, "undone"), o.fails)
		}))
	reg, err := runtime.NewRegistry(tool)
	require.NoError(t, err)
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	o.exec, err = engine.NewExecutor(reg, allow, engine.WithJournal(store), engine.WithParticipant("bank", o.bank),
		engine.WithParticipant("files", o.files), engine.WithParticipant("state", o.state))
	require.NoError(t, err)
	require.NoError(t, o.exec.Recover(t.Context()))
	t.Cleanup(func() { assert.NoError(t, o.exec.Shutdown(context.Background())) })
	return o
}

// TestHandlerAndUndoHandlerShareAHelper: what a handler does in its transaction an
// undo handler does in its own, all of it or nothing.
func TestHandlerAndUndoHandlerShareAHelper(t *testing.T) {
	o := newOffice(t)
	s := o.exec.Session(engine.SessionConfig{ID: "s"})
	run, err := s.StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c1", Tool: "note", Input: []byte(`{}`)})
	require.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Equal(t, []string{"done", "done", "done"}, o.stands())

	o.fails = errors.New("mischief")
	_, err = s.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")})
	_, code := action.ResultOf(err)
	assert.Equal(t, action.CodeHandlerError, code, err)
	assert.Equal(t, []string{"done", "done", "done"}, o.stands(), "it is rolled back")

	o.fails = nil
	_, err = s.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ops")})
	require.NoError(t, err)
	assert.Equal(t, []string{"undone", "undone", "undone"}, o.stands())
	assert.Equal(t, []string{"done", "undone", "undone"}, o.outside, "what is outside of participants nobody takes back")
}

// TestRestoreInAnUndoHandler restores in the transaction of the undo.
func TestRestoreInAnUndoHandler(t *testing.T) {
	m := newMachine(t)
	before := state.Snapshot{"a": nil, "b": nil}
	after := state.Snapshot{"a": new([]byte), "b": new([]byte)}
	*after["a"], *after["b"] = []byte("1"), []byte("2")
	for _, mischief := range []error{errors.New("no"), nil} {
		require.Equal(t, runtime.Completed, m.call(func(ctx context.Context) error {
			return errors.Join(m.state.Set(ctx, "a", []byte("1")), m.state.Set(ctx, "b", []byte("2")))
		}).Kind)
		want := runtime.Failed
		if mischief == nil {
			want = runtime.Completed
		}
		assert.Equal(t, want, m.call(func(ctx context.Context) error {
			require.NoError(t, m.state.Restore(ctx, before, after))
			own, err := m.state.Get(ctx, "a")
			assert.Nil(t, own)
			assert.Equal(t, "1", m.value("a"), "nobody else sees it")
			return errors.Join(err, mischief)
		}).Kind)
		values := []string{"1", "2"}
		if mischief == nil {
			values = []string{"(none)", "(none)"}
		}
		assert.Equal(t, values, []string{m.value("a"), m.value("b")})
	}
	require.Equal(t, runtime.Completed, m.call(func(ctx context.Context) error { return m.state.Set(ctx, "b", []byte("3")) }).Kind)
	out := m.call(func(ctx context.Context) error { return m.state.Restore(ctx, before, after) })
	assert.Contains(t, out.Message, runtime.ErrDrift.Error())
	assert.Equal(t, "3", m.value("b"))
}
