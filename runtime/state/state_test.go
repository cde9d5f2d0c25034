package state_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/state"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A step is what the handler of a test does; its input is of no interest.
type step struct{ Name string }

func (v *step) ReadMember(r *wire.Reader, _ string) { wire.ReadString(r, &v.Name, &wire.StringRule{}) }

func (v *step) Walk(w wire.Visitor) {
	w.Visit(wire.Token{Kind: wire.KindObject})
	w.Visit(wire.Token{Kind: wire.KindName, Str: "name"})
	w.Visit(wire.Token{Kind: wire.KindString, Str: v.Name})
	w.Visit(wire.Token{Kind: wire.KindEnd})
}

// A machine is an executor on a store, whose one tool does what do says.
type machine struct {
	t     *testing.T
	path  string
	store *sqlite.Store
	state *state.State
	exec  *engine.Executor
	do    func(context.Context) error
}

// start starts an executor on the store, after a crash too.
func (m *machine) start(j func(*sqlite.Store) journal.Journal) {
	var err error
	m.store, err = sqlite.Open(m.path)
	require.NoError(m.t, err)
	m.state, err = state.Open(m.t.Context(), m.store)
	require.NoError(m.t, err)
	var tools []*runtime.Tool
	for name, effect := range map[string]runtime.SideEffect{"work": runtime.SideEffectWrite, "look": runtime.SideEffectRead} {
		tools = append(tools, runtime.NewTool(&runtime.Spec{Name: name, Version: "1.0.0", Effect: effect, SafeErrors: true},
			&wire.ObjectRule{Names: []string{"name"}},
			func(ctx context.Context, in *step) (*step, error) { return in, m.do(ctx) }))
	}
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(m.t, err)
	allow := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	m.exec, err = engine.NewExecutor(reg, runtime.PolicyFunc(allow), engine.WithJournal(j(m.store)), engine.WithParticipant("state", m.state))
	require.NoError(m.t, err)
	require.NoError(m.t, m.exec.Recover(m.t.Context()))
}

func newMachine(t *testing.T) *machine {
	m := &machine{t: t, path: filepath.Join(t.TempDir(), "store")}
	m.start(func(s *sqlite.Store) journal.Journal { return s })
	t.Cleanup(func() { m.stop() })
	return m
}

func (m *machine) stop() {
	_ = m.exec.Shutdown(context.Background())
	assert.NoError(m.t, m.store.Close())
}

func (m *machine) call(do func(context.Context) error) runtime.Outcome { return m.callOf("work", do) }

func (m *machine) callOf(tool string, do func(context.Context) error) runtime.Outcome {
	m.do = do
	run, err := m.exec.Session(engine.SessionConfig{ID: "s"}).StartRun(m.t.Context(), engine.RunConfig{})
	require.NoError(m.t, err)
	return run.Turn(engine.TurnConfig{}).Execute(m.t.Context(), runtime.Call{Tool: tool, Input: []byte(`{}`)})
}

func (m *machine) value(key string) string {
	value, err := m.state.Get(m.t.Context(), key)
	require.NoError(m.t, err)
	if value == nil {
		return "(none)"
	}
	return string(value)
}

// TestReadToolWritesNothing lets the handler of a tool of effect read do all that a
// state offers.
func TestReadToolWritesNothing(t *testing.T) {
	m := newMachine(t)
	require.Equal(t, runtime.Completed, m.call(func(ctx context.Context) error { return m.state.Set(ctx, "a", []byte("1")) }).Kind)
	out := m.callOf("look", func(ctx context.Context) error {
		was, err := m.state.Snapshot(ctx, "a")
		require.NoError(t, err)
		for _, err := range []error{m.state.Set(ctx, "a", []byte("2")), m.state.Delete(ctx, "a"), m.state.Restore(ctx, state.Snapshot{"a": nil}, was)} {
			assert.ErrorIs(t, err, runtime.ErrReadOnly)
			assert.ErrorContains(t, err, `tool "look" cannot write through participant "state"`)
		}
		return nil
	})
	require.Equal(t, runtime.Completed, out.Kind, out.Message)
	assert.Equal(t, "1", m.value("a"))
}

func TestValuesStandWhenTheCallCompletes(t *testing.T) {
	m := newMachine(t)
	set := func(ctx context.Context) error {
		require.NoError(t, m.state.Set(ctx, "a", []byte("1")))
		require.NoError(t, m.state.Set(ctx, "empty", nil))
		assert.Equal(t, "(none)", m.value("a"), "nobody else sees it")
		own, err := m.state.Get(ctx, "a")
		assert.Equal(t, "1", string(own))
		return err
	}
	assert.Equal(t, runtime.Completed, m.call(set).Kind)
	assert.Equal(t, "1", m.value("a"))
	assert.Empty(t, m.value("empty"))

	out := m.call(func(ctx context.Context) error {
		require.NoError(t, m.state.Delete(ctx, "a"))
		return errors.New("no")
	})
	assert.True(t, out.RolledBack)
	assert.Equal(t, "1", m.value("a"))
	assert.Equal(t, runtime.Completed, m.call(func(ctx context.Context) error { return m.state.Delete(ctx, "a") }).Kind)
	assert.Equal(t, "(none)", m.value("a"))
	assert.ErrorIs(t, m.state.Set(t.Context(), "a", nil), runtime.ErrNoCall)
	assert.Error(t, m.state.Set(t.Context(), "", nil))
	_, err := m.state.Get(t.Context(), "\xff")
	assert.Error(t, err)
}

// TestPartThatTheHandlerEnds: by the seam of participants. What stands is not reported as rolled back.
//
// SEMANTICS 2.1.6, 6.8.5
func TestPartThatTheHandlerEnds(t *testing.T) {
	m := newMachine(t)
	for _, c := range []struct {
		end        func(context.Context, runtime.Part) error
		rolledBack bool
		value      string
	}{
		{func(ctx context.Context, p runtime.Part) error { return p.Rollback(ctx) }, true, "(none)"},
		{func(ctx context.Context, p runtime.Part) error {
			_, err := p.Seal(ctx)
			return errors.Join(err, p.Commit(ctx))
		}, false, "1"},
	} {
		out := m.call(func(ctx context.Context) error {
			require.NoError(t, m.state.Set(ctx, "a", []byte("1")))
			part, err := runtime.WritePartOf(ctx, m.state)
			require.NoError(t, err)
			return c.end(ctx, part)
		})
		assert.Equal(t, runtime.ReasonCommitFailed, out.Reason)
		assert.Equal(t, c.rolledBack, out.RolledBack)
		assert.Equal(t, c.value, m.value("a"))
	}
}

func TestConflict(t *testing.T) {
	m := newMachine(t)
	inner := false
	out := m.call(func(ctx context.Context) error {
		if inner {
			return m.state.Set(ctx, "a", []byte("of the other"))
		}
		if _, err := m.state.Get(ctx, "a"); err != nil {
			return err
		}
		inner = true
		outer := m.do
		assert.Equal(t, runtime.Completed, m.call(m.do).Kind)
		m.do = outer
		return m.state.Set(ctx, "b", []byte("made of a"))
	})
	assert.Equal(t, runtime.ReasonCommitFailed, out.Reason)
	assert.True(t, out.RolledBack)
	assert.Equal(t, "of the other", m.value("a"))
	assert.Equal(t, "(none)", m.value("b"))
}

// dying is a journal that is written for the last time when a process dies.
type dying struct {
	*sqlite.Store
	left int
}

func (d *dying) Append(ctx context.Context, entries []journal.Entry) error {
	if d.left--; d.left < 0 {
		return errors.New("the process has died")
	}
	return d.Store.Append(ctx, entries)
}

// TestCrash stops the process before and after the decision to commit.
func TestCrash(t *testing.T) {
	for name, c := range map[string]struct {
		left int
		want string
	}{"before the decision": {2, "(none)"}, "after it": {3, "1"}} {
		t.Run(name, func(t *testing.T) {
			m := &machine{t: t, path: filepath.Join(t.TempDir(), "store")}
			m.start(func(s *sqlite.Store) journal.Journal { return &dying{s, c.left} })
			m.call(func(ctx context.Context) error { return m.state.Set(ctx, "a", []byte("1")) })
			if c.left == 2 {
				left, err := m.state.Unsettled(t.Context())
				require.NoError(t, err)
				require.Len(t, left, 1, "it was sealed")
			}
			m.stop()

			m.start(func(s *sqlite.Store) journal.Journal { return s })
			assert.Equal(t, c.want, m.value("a"))
			left, err := m.state.Unsettled(t.Context())
			require.NoError(t, err)
			assert.Empty(t, left)
			assert.Equal(t, runtime.Completed, m.call(func(ctx context.Context) error { return m.state.Set(ctx, "a", []byte("2")) }).Kind)
			m.stop()
		})
	}
}

func TestSnapshotAndRestore(t *testing.T) {
	m := newMachine(t)
	var before, after state.Snapshot
	require.Equal(t, runtime.Completed, m.call(func(ctx context.Context) (err error) {
		before, err = m.state.Snapshot(ctx, "a", "b")
		require.NoError(t, err)
		require.NoError(t, m.state.Set(ctx, "a", []byte("1")))
		after, err = m.state.Snapshot(ctx, "a", "b")
		return err
	}).Kind)
	text, err := json.Marshal(before)
	require.NoError(t, err)
	before = nil
	require.NoError(t, json.Unmarshal(text, &before))
	require.NoError(t, m.state.Restore(t.Context(), before, after))
	assert.Equal(t, "(none)", m.value("a"))
	require.NoError(t, m.state.Restore(t.Context(), before, after), "once more")
	require.Equal(t, runtime.Completed, m.call(func(ctx context.Context) error { return m.state.Set(ctx, "a", []byte("3")) }).Kind)
	assert.ErrorIs(t, m.state.Restore(t.Context(), before, after), runtime.ErrDrift)
	assert.Equal(t, "3", m.value("a"))
}
