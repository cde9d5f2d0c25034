package host_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// codec takes any input.
type codec struct{}

func (codec) Decode(b []byte, l wire.Limits) (wire.Value, []wire.Violation) {
	return wire.ParseRaw(b, l)
}

// noteTools are tools of a declaration of which policies below are.
func noteTools(handle func(context.Context) error) []*runtime.Tool {
	spec := &runtime.Spec{
		Name: "note_write", Version: "1.0.0", Effect: runtime.SideEffectWrite, Pin: "3f2a",
		Artifact: &runtime.Artifact{Over: 300},
	}
	return []*runtime.Tool{runtime.NewDynamicTool(spec, codec{}, func(ctx context.Context, in wire.Value) (wire.Value, error) {
		if handle != nil {
			return wire.Raw(`{}`), handle(ctx)
		}
		return wire.Raw(`{"text": "` + strings.Repeat("long ", 200) + `"}`), nil
	})}
}

// policies ask for consent to titles that begin with Draft, and allow the rest.
func policies() fstest.MapFS {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	const schema = `{"type": "object", "properties": {"args": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}}}`
	return fstest.MapFS{
		"ambit_gen/data.json": file(`{"set": "notes", "modes": [], "capabilities": [], "reasons": {},
			"tools": {"note_write": {"effect": "write", "capabilities": [], "modes": {}, "pin": "3f2a"}}}`),
		"ambit_gen/note_write.schema.json": file(schema),
		"ambit_gen/note_write.rego":        file("# METADATA\n# scope: subpackages\n# schemas:\n#   - input: schema.note_write\npackage ambit.tools.note_write\n"),
		"ambit_gen/schemas.json":           file(`{}`),
		"ambit_gen/ambit.schema.json":      file(`{"type": "object"}`),
		"ambit_gen/policies.rego":          file("# METADATA\n# scope: subpackages\n# schemas:\n#   - input: schema.ambit\npackage ambit.policies\n"),
		"note_write.rego": file(`package ambit.tools.note_write

allow contains {"code": "notes", "message": "notes may be written"}

ask contains {"id": "draft", "message": "a draft"} if startswith(input.args.title, "Draft")
`),
	}
}

// faults are what a host reports.
type faults struct {
	mu   sync.Mutex
	list []string
}

func (f *faults) report(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, err.Error())
}

func execute(t testing.TB, h *host.Host, id, title string) runtime.Outcome {
	t.Helper()
	run, err := h.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	return run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: id, Tool: "note_write", Input: []byte(`{"title": "` + title + `"}`)})
}

// TestOpenRecoversAndServes opens a host twice on one folder: the second one knows the
// calls of the first, and imports a command that came while nothing ran.
func TestOpenRecoversAndServes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "var")
	files := t.TempDir()
	var f faults
	config := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Workspace: files, Report: f.report}
	h, err := host.Open(t.Context(), config)
	require.NoError(t, err)
	require.IsType(t, &workspace.Workspace{}, h.Workspace)
	done := execute(t, h, "c1", "Shopping")
	require.Equal(t, runtime.Completed, done.Kind, done.Message)
	require.NotNil(t, done.Artifact, "a long output is stored")
	asked := execute(t, h, "c2", "Draft")
	require.Equal(t, runtime.Pending, asked.Kind, asked.Message)
	require.NoError(t, h.Close(t.Context()))
	require.NoError(t, h.Close(t.Context()), "a second Close has nothing to do")

	reader, err := sqlite.OpenReader(filepath.Join(dir, "ambit.db"))
	require.NoError(t, err)
	require.NoError(t, inbox.Put(t.Context(), reader, &inbox.Command{Kind: inbox.CommandApprove, Request: asked.RequestID}))
	require.NoError(t, reader.Close())

	h, err = host.Open(t.Context(), config)
	require.NoError(t, err)
	session := h.Executor.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	assert.Equal(t, runtime.Completed, session.Await(t.Context(), "c2").Kind)
	whole, _, err := session.Artifact(t.Context(), done.Artifact.SHA256)
	require.NoError(t, err)
	assert.Contains(t, string(whole), strings.Repeat("long ", 200))
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, h.Run(ctx))
	assert.Empty(t, f.list)
	for _, name := range []string{"ambit.db", "ambit.db.keys", "ambit.db.audit", "ambit.db.audit.pub", "ambit.db.anchor", "ambit.db.objects", "ambit.db.undo"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.NoError(t, err, name)
	}
}

// TestWrongConfig makes no file.
func TestWrongConfig(t *testing.T) {
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	broken := policies()
	broken["note_write.rego"].Data = []byte("package ambit.tools.note_write\n\nallow if")
	for want, cfg := range map[string]host.Config{
		"Dir is empty":         {Policies: policies()},
		"no policies":          {Dir: "x"},
		"Policies and Policy":  {Dir: "x", Policies: policies(), Policy: allow},
		"without a folder":     {Dir: "x", Policies: policies(), Store: "../ambit.db"},
		"Grace is negative":    {Dir: "x", Policies: policies(), Grace: -1},
		"note_write.rego":      {Dir: "x", Policies: broken, Tools: noteTools(nil)},
		"is registered twice":  {Dir: "x", Policies: policies(), Tools: append(noteTools(nil), noteTools(nil)...)},
		"declarations are mis": {Dir: "x", Policies: fstest.MapFS{}, Tools: noteTools(nil)},
	} {
		if cfg.Dir != "" {
			cfg.Dir = filepath.Join(t.TempDir(), cfg.Dir)
		}
		_, err := host.Open(t.Context(), cfg)
		require.ErrorContains(t, err, want)
		if cfg.Dir != "" {
			_, err = os.Stat(cfg.Dir)
			require.ErrorIs(t, err, fs.ErrNotExist, want)
		}
	}
}

// TestOpenThatFails closes what was opened: the store can be opened again.
func TestOpenThatFails(t *testing.T) {
	dir := t.TempDir()
	config := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir}
	h, err := host.Open(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, h.Close(t.Context()))

	key := filepath.Join(dir, "ambit.db.audit")
	secret, err := os.ReadFile(key)
	require.NoError(t, err)
	require.NoError(t, os.Remove(key))
	_, err = host.Open(t.Context(), config)
	require.ErrorContains(t, err, "ambit.db.audit", "the key of a log that has entries is not made anew")

	require.NoError(t, os.WriteFile(key, secret, 0o600))
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	config.Workspace = file
	_, err = host.Open(t.Context(), config)
	require.Error(t, err)
	config.Workspace = ""
	h, err = host.Open(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, h.Close(t.Context()))
}

// TestPartsAreReplaced gives a host a policy, a journal and an artifact store of its own.
func TestPartsAreReplaced(t *testing.T) {
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	var f faults
	fail := func(context.Context) error { return errors.New("broken pipe") }
	dir := t.TempDir()
	h, err := host.Open(t.Context(), host.Config{
		Tools: noteTools(fail), Policy: allow, Dir: dir, Journal: new(journal.Memory), Artifacts: new(runtime.MemoryArtifacts), Report: f.report,
		Grace: time.Second,
	})
	require.NoError(t, err)
	assert.Nil(t, h.Store)
	assert.Nil(t, h.Audit)
	assert.Nil(t, h.Workspace)
	assert.Equal(t, runtime.Failed, execute(t, h, "c1", "Shopping").Kind)
	require.NoError(t, h.Close(t.Context()))
	require.Len(t, f.list, 1)
	assert.Contains(t, f.list[0], "broken pipe")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// TestSetupThatFails closes what was opened before.
func TestSetupThatFails(t *testing.T) {
	config := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir()}
	config.Setup = func(_ context.Context, h *host.Host) ([]engine.Option, error) {
		assert.NotNil(t, h.Store)
		assert.Nil(t, h.Executor)
		return nil, errors.New("no database")
	}
	_, err := host.Open(t.Context(), config)
	require.ErrorContains(t, err, "no database (the store "+filepath.Join(config.Dir, "ambit.db")+" holds nothing and stays: the next start goes on with it")
	config.Setup = nil
	h, err := host.Open(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, h.Close(t.Context()))
}

// TestStoreHasAName opens a store of another name: the other files begin with it.
func TestStoreHasAName(t *testing.T) {
	dir := t.TempDir()
	h, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Store: "notes.db"})
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
	require.NoError(t, h.Close(t.Context()))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		assert.True(t, strings.HasPrefix(e.Name(), "notes.db"), e.Name())
	}
	for _, name := range []string{"notes.db", "notes.db.keys", "notes.db.audit", "notes.db.audit.pub", "notes.db.anchor", "notes.db.objects"} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.NoError(t, err)
	}
}
