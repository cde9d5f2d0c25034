package inbox_test

import (
	"context"
	"os"
	"os/user"
	"path/filepath"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// An offsetClock is the real clock, set back to the time of a recording.
type offsetClock struct{ offset time.Duration }

func (c offsetClock) Now() time.Time { return time.Now().Add(c.offset) }

func (offsetClock) AfterFunc(d time.Duration, f func()) runtime.Timer { return time.AfterFunc(d, f) }

// recordedTools are the tools of the program that wrote testdata/recorded.
func recordedTools(undone *[]string) []*runtime.Tool {
	answer := func(text string) func(context.Context, wire.Value) (wire.Value, error) {
		return func(context.Context, wire.Value) (wire.Value, error) { return wire.Raw(text), nil }
	}
	undo := func(_ context.Context, callID string, _, state, output wire.Value) error {
		*undone = append(*undone, callID, string(state.(wire.Raw)), string(output.(wire.Raw)))
		return nil
	}
	return []*runtime.Tool{
		runtime.NewDynamicTool(&runtime.Spec{
			Name: "note", Version: "1.0.0", Effect: runtime.SideEffectWrite, Undo: &runtime.UndoSpec{}, Rules: runtime.Rules{MaxCalls: 2},
		}, codec{}, answer(`{"noted":true}`), runtime.WithDynamicUndo(codec{}, codec{}, answer(`{"before":1}`), undo)),
		runtime.NewDynamicTool(&runtime.Spec{
			Name: "send", Version: "1.0.0", Effect: runtime.SideEffectWrite, Consent: &runtime.Consent{Ask: runtime.ConsentAskAlways},
		}, codec{}, answer(`{"sent":true}`)),
		runtime.NewDynamicTool(&runtime.Spec{Name: "stuck", Version: "1.0.0", Effect: runtime.SideEffectWrite}, codec{}, answer(`{}`)),
	}
}

// TestFormerStoreIsRefused: a store of a former layout, as a killed process left it, is refused with the reason
// and the remedy, and stays as it is.
func TestFormerStoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "former"))))
	path := filepath.Join(dir, "ambit.db")
	for range 2 {
		_, err := sqlite.Open(path)
		require.ErrorIs(t, err, sqlite.ErrVersion)
		require.ErrorContains(t, err, "nothing proves where each session ends")
		require.ErrorContains(t, err, "begin a new one under another name")
		require.NoError(t, os.RemoveAll(path+".keys")) // without its keys it says the same
	}
	_, err := sqlite.OpenReader(path)
	require.ErrorIs(t, err, sqlite.ErrVersion)
	for _, part := range []string{"", "-wal"} {
		want, err := os.ReadFile(filepath.Join("testdata", "former", "ambit.db"+part))
		require.NoError(t, err)
		got, err := os.ReadFile(path + part)
		require.NoError(t, err)
		require.Equal(t, want, got, part)
	}
}

// TestRecordedStore recovers a store and an inbox of an earlier version of the module,
// as a killed process left them: c1 of note completed, c2 of send waited for consent, c3 of
// stuck was running, and a command in the inbox approved c2. Recorded forms do not change with
// the names of the code that reads them. A store of a new layout gets a new recording in the place of this one, which is refused then like testdata/former.
func TestRecordedStore(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "recorded"))))
	who, err := user.Current()
	require.NoError(t, err)
	foreign := who.Username != "root" // who sent the recorded command: the file has to belong to the sender
	if foreign {
		commands, err := filepath.Glob(filepath.Join(dir, "ambit.db.inbox", "*.command"))
		require.NoError(t, err)
		require.Len(t, commands, 1)
		require.NoError(t, os.Remove(commands[0]))
	}
	for _, suffix := range []string{"", "-wal", ".keys"} { // a copy has the modes that the umask leaves
		require.NoError(t, os.Chmod(filepath.Join(dir, "ambit.db"+suffix), 0o600))
	}
	store, err := sqlite.Open(filepath.Join(dir, "ambit.db"))
	require.NoError(t, err)
	var undone []string
	reg, err := runtime.NewRegistry(recordedTools(&undone)...)
	require.NoError(t, err)
	allow := func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}
	recorded := time.Date(2026, 11, 26, 19, 26, 5, 0, time.UTC)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allow), engine.WithJournal(store), engine.WithPendingRequests(),
		engine.WithClock(offsetClock{time.Until(recorded)}))
	require.NoError(t, err)
	require.NoError(t, exec.Recover(t.Context()))
	in, err := inbox.Serve(t.Context(), store, exec)
	require.NoError(t, err)

	if foreign {
		request := exec.Requests()[0].ID
		require.NoError(t, inbox.Put(t.Context(), store, &inbox.Command{Kind: inbox.CommandApprove, Request: request}))
	}

	session := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	assert.Equal(t, `{"noted":true}`, string(session.Await(t.Context(), "c1").Output))
	approved := session.Await(t.Context(), "c2")
	assert.Equal(t, runtime.Completed, approved.Kind, approved.Message)
	assert.Equal(t, runtime.Unknown, session.Await(t.Context(), "c3").Kind)

	run, err := session.StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	result := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c4", Tool: "note", Input: []byte(`{}`)})
	assert.Equal(t, runtime.Completed, result.Kind, result.Message)
	_, err = session.Undo(t.Context(), action.UndoRequest{CallID: "c1", By: runtime.ProgramActor("ann")})
	assert.NoError(t, err)
	assert.Equal(t, []string{"c1", `{"before":1}`, `{"noted":true}`}, undone)

	require.NoError(t, in.Close(t.Context()))
	require.NoError(t, exec.Shutdown(t.Context()))
	require.NoError(t, store.Close())
}
