package workspace_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/wire"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// isDiskFault says whether an error is one that a disk may have.
func isDiskFault(err error) bool {
	return errors.Is(err, syscall.EIO) || errors.Is(err, syscall.ENOSPC)
}

// A bench is a workspace on the real disk, without an executor.
type bench struct {
	t     testing.TB
	dir   string // of the workspace
	state string // beside it
	store *content.Store
	ws    *workspace.Workspace
	calls int
}

func newBench(t testing.TB) *bench {
	top := t.TempDir()
	b := &bench{t: t, dir: filepath.Join(top, "ws"), state: filepath.Join(top, "state")}
	require.NoError(t, os.Mkdir(b.dir, 0o755))
	b.open()
	return b
}

// open starts the program anew.
func (b *bench) open() { b.openFenced(unfenced) }

func (b *bench) openFenced(commit func(context.Context, func() error) error) {
	store, err := content.Open(filepath.Join(b.state, "content"))
	require.NoError(b.t, err)
	logs := filepath.Join(b.state, "undo")
	require.NoError(b.t, os.MkdirAll(logs, 0o700))
	root, err := disk.Open(b.dir)
	require.NoError(b.t, err)
	logDir, err := disk.Open(logs)
	require.NoError(b.t, err)
	b.store, b.ws = store, workspace.On(root, logDir, store, commit)
	b.t.Cleanup(func() {
		_ = store.Close()
		_ = root.Close()
		_ = logDir.Close()
	})
}

// begin begins a call.
func (b *bench) begin() (context.Context, *workspace.Tx) {
	b.calls++
	tx, err := b.ws.BeginTx(b.t.Context(), workspace.Key{Session: "s", Call: strconv.Itoa(b.calls)})
	require.NoError(b.t, err)
	return workspace.WithTx(b.t.Context(), tx), tx
}

// commit ends a call.
func (b *bench) commit(tx *workspace.Tx) {
	_, err := tx.Seal(b.t.Context())
	require.NoError(b.t, err)
	require.NoError(b.t, tx.Commit(b.t.Context()))
}

// put writes a file outside of any call.
func (b *bench) put(name, data string) {
	require.NoError(b.t, os.MkdirAll(filepath.Dir(filepath.Join(b.dir, name)), 0o755))
	require.NoError(b.t, os.WriteFile(filepath.Join(b.dir, name), []byte(data), 0o644))
}

func (b *bench) tree() tree {
	d, err := disk.Open(b.dir)
	require.NoError(b.t, err)
	defer d.Close()
	t, err := readTree(d)
	require.NoError(b.t, err)
	return t
}

// text returns the content of a file, "-" when there is none.
func (b *bench) text(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return "-"
	}
	return string(data)
}

// noLogs says that nothing is left of any call.
func (b *bench) noLogs() {
	keys, err := b.ws.Unsettled(b.t.Context())
	require.NoError(b.t, err)
	assert.Empty(b.t, keys)
}

// value is the input and the output of the tool of these tests.
type value struct{ N int64 }

var (
	valueRule = wire.ObjectRule{Names: []string{"n"}, Required: 1}
	valueN    = wire.IntRule{}
)

func (v *value) ReadMember(r *wire.Reader, _ string) { wire.ReadInt(r, &v.N, &valueN) }

func (v *value) Walk(w wire.Visitor) {
	wire.BeginObject(w, &valueRule)
	wire.Member(w, "n", &v.N, wire.WalkInt, &valueN)
	wire.End(w)
}

// allowAll is a policy.
const allowAll = allow(0)

type allow int

func (allow) Decide(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
	return runtime.Decision{Effect: runtime.EffectAllow}, nil
}

// newTurn returns a turn of an executor with one tool, n, that may do all, and
// what waits for its handlers.
func newTurn(t *testing.T, deadline time.Duration, run func(ctx context.Context, n int64) error, opts ...engine.Option) (turn *engine.Turn, wait func()) {
	spec := &runtime.Spec{
		Name: "n", Version: "1.0.0", Effect: runtime.SideEffectWrite, Deadline: deadline,
		Idempotent: true, Retry: &runtime.Retry{OnTimeout: true},
	}
	reg, err := runtime.NewRegistry(runtime.NewTool(spec, &valueRule, func(ctx context.Context, in *value) (*value, error) {
		return in, run(ctx, in.N)
	}))
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, allowAll, append(opts, engine.WithPolicyTimeout(time.Minute))...)
	require.NoError(t, err)
	r, err := exec.Session(engine.SessionConfig{Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
	require.NoError(t, err)
	return r.Turn(engine.TurnConfig{}), func() { require.NoError(t, exec.Shutdown(context.WithoutCancel(t.Context()))) }
}
