package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// TestEntriesOfAShadowPolicyAreRead: a store into which an earlier version has written what a shadow policy said of a call is
// recovered, verified, shown, exported and replayed like one without.
func TestEntriesOfAShadowPolicyAreRead(t *testing.T) {
	dir := t.TempDir()
	declaration, path := filepath.Join(dir, "tools.yaml"), filepath.Join(dir, "ambit.db")
	require.NoError(t, os.WriteFile(declaration, []byte(replayed), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "policy"), 0o700))
	rule := "package ambit.tools.mail\n\nallow contains {\"code\": \"yes\", \"message\": \"it may\"} if true\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "policy", "mail.rego"), []byte(rule), 0o600))
	file, err := dsl.Parse(declaration, []byte(replayed))
	require.NoError(t, err)
	tools, err := dynamic.Tools(file, func(context.Context, string, wire.Value) (wire.Value, error) { return wire.Raw("{}"), nil })
	require.NoError(t, err)
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	allow := runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	})
	call := func(id string) runtime.Outcome {
		store, err := sqlite.Open(path)
		require.NoError(t, err)
		exec, err := engine.NewExecutor(reg, allow, engine.WithJournal(store))
		require.NoError(t, err)
		require.NoError(t, exec.Recover(t.Context()))
		run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{})
		require.NoError(t, err)
		out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: id, Tool: "mail", Input: []byte(`{}`)})
		require.NoError(t, run.Close(t.Context()))
		require.NoError(t, exec.Shutdown(t.Context()))
		require.NoError(t, store.Close())
		return out
	}
	require.Equal(t, runtime.Completed, call("c1").Kind)

	store, err := sqlite.Open(path)
	require.NoError(t, err)
	said := `{"active":{"effect":"allow"},"shadow":{"effect":"deny","deny":["outside"]}}`
	shadow := &journal.Record{Kind: journal.KindShadow, At: time.Now(), Session: "s", Principal: "agent", Call: "c1", Tool: "mail", Decision: []byte(said)}
	entry, err := journal.NewEntry(store.Health().Head+1, shadow, nil)
	require.NoError(t, err)
	require.NoError(t, store.Append(t.Context(), []journal.Entry{entry}))
	require.NoError(t, store.Close())

	require.Equal(t, runtime.Completed, call("c2").Kind, "recovery passes over it")
	require.Equal(t, runtime.Completed, call("c1").Kind, "so does the session: the call is known")
	ambit := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		code := cli.Run(args, strings.NewReader(""), &stdout, &stderr)
		require.Zero(t, code, "%s%s", &stdout, &stderr)
		return stdout.String()
	}
	assert.Contains(t, ambit("audit", "export", "--store", path), said)
	assert.Contains(t, ambit("calls", "show", "c1", "--store", path), "policy.shadow")
	assert.NotContains(t, ambit("audit", "export", "--decisions", "--store", path), "outside")
	assert.Contains(t, ambit("replay", "--store", path, "--declaration", declaration), "2 calls: 2 unchanged")
}
