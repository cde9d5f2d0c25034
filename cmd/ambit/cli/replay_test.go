package cli_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen/dynamic"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

const replayed = `ambit: v1
package: mailtools
tools:
  mail:
    version: 1.0.0
    description: Send a mail.
    input: {type: object, properties: {password: {type: string, description: Secret., x-sensitive: true}}}
    output: {type: object}
`

// TestReplayOfAStore records into the file of an executor, which goes on owning
// it, and replays from there: what is sensitive is there.
func TestReplayOfAStore(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	path := write("tools.yaml", replayed)
	write("policy/mail.rego", "package ambit.tools.mail\n\nallow contains {\"code\": \"yes\", \"message\": \"it may\"} if true\n")
	write("strict/mail.rego", "package ambit.tools.mail\n\nallow contains {\"code\": \"yes\", \"message\": \"it may\"} if input.args.password != \"hunter2\"\n")
	file, err := dsl.Parse(path, []byte(replayed))
	require.NoError(t, err)
	tools, err := dynamic.Tools(file, func(context.Context, string, wire.Value) (wire.Value, error) { return wire.Raw("{}"), nil })
	require.NoError(t, err)
	reg, err := runtime.NewRegistry(tools...)
	require.NoError(t, err)
	store, err := sqlite.Open(filepath.Join(dir, "ambit.db"))
	require.NoError(t, err)
	defer store.Close()
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(func(context.Context, *runtime.PolicyInput) (runtime.Decision, error) {
		return runtime.Decision{Effect: runtime.EffectAllow}, nil
	}), engine.WithJournal(store))
	require.NoError(t, err)
	require.NoError(t, exec.Recover(t.Context()))
	run, err := exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"}).StartRun(t.Context(), engine.RunConfig{ID: "r"})
	require.NoError(t, err)
	out := run.Turn(engine.TurnConfig{}).Execute(t.Context(), runtime.Call{ID: "c1", Tool: "mail", Input: []byte(`{"password":"hunter2"}`)})
	require.Equal(t, runtime.Completed, out.Kind, out.Message)
	require.NoError(t, run.Close(t.Context()))

	id, err := store.ID(t.Context())
	require.NoError(t, err)
	for policies, want := range map[string]string{
		"policy": "ok s r\n",
		"strict": "DIVERGES s r c1 mail: newly denied: was completed, would be denied (policy_denied: no_allow)\n",
	} {
		var stdout, stderr bytes.Buffer
		code := cli.Run([]string{
			"replay", "--store", filepath.Join(dir, "ambit.db"), "--declaration", path, "--policies", filepath.Join(dir, policies),
			"--segment", archived(t, store, id, policies),
		}, strings.NewReader(""), &stdout, &stderr)
		assert.Equal(t, map[string]int{"policy": 0, "strict": 3}[policies], code, stderr.String())
		assert.Contains(t, stdout.String(), want)
	}
	require.NoError(t, exec.Shutdown(t.Context()))
}

// archived writes the first entries of a store to a segment, whose checkpoint no key has signed.
func archived(t *testing.T, store *sqlite.Store, id, name string) string {
	t.Helper()
	const last = 8
	list, err := store.Read(t.Context(), 0, last)
	require.NoError(t, err)
	var hashes []tlog.Hash
	for i := range list {
		hashes = append(hashes, tlog.RecordHash(list[i].Leaf))
	}
	for ; len(hashes) > 1; hashes = hashes[:len(hashes)/2] {
		for i := range len(hashes) / 2 {
			hashes[i] = tlog.NodeHash(hashes[2*i], hashes[2*i+1])
		}
	}
	root := hashes[0]
	path := filepath.Join(t.TempDir(), name)
	_, err = archive.WriteFile(t.Context(), path, archive.Header{
		Store: id, Origin: "test", First: 1, Last: last, Before: []tlog.Hash{}, Root: root, Note: fmt.Sprintf("test\n%d\n%v\n", last, root),
	}, store)
	require.NoError(t, err)
	return path
}
