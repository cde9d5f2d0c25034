package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/whatif"
)

func TestLongFlags(t *testing.T) {
	require.Equal(t,
		[]string{"generate", "--check", "--json=true", "-h", "-", "-5", "--", "-check"},
		longFlags([]string{"generate", "-check", "-json=true", "-h", "-", "-5", "--", "-check"}))
}

// TestEveryVerbIsDocumented walks the command tree, so that a new verb cannot
// come without help and without the code for a wrong command line.
func TestEveryVerbIsDocumented(t *testing.T) {
	var walk func(*cobra.Command)
	walk = func(cmd *cobra.Command) {
		require.NotEmpty(t, cmd.Short, cmd.CommandPath())
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
		if cmd.Runnable() && cmd.HasParent() {
			path := append(bytes.Fields([]byte(cmd.CommandPath()))[1:], []byte("--no-such-flag"))
			var args []string
			for _, p := range path {
				args = append(args, string(p))
			}
			var stdout, stderr bytes.Buffer
			require.Equal(t, cmdutil.ExitUsage, Run(args, nil, &stdout, &stderr), cmd.CommandPath())
			require.Contains(t, stderr.String(), "error: unknown flag: --no-such-flag")
			require.Empty(t, stdout.String())
		}
	}
	walk(newRoot())
}

// The folder above may be another file system, or closed: nothing is made in it.
func TestInitWorksInsideTheFolder(t *testing.T) {
	above := t.TempDir()
	app := filepath.Join(above, "app")
	require.NoError(t, os.Mkdir(app, 0o755))
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(above, long, long))
	var errors bytes.Buffer
	code := Run([]string{"init", app, "--local", "../../.."}, nil, io.Discard, &errors)
	require.Equal(t, cmdutil.ExitOK, code, errors.String())
	require.FileExists(t, filepath.Join(app, "go.mod"))
	info, err := os.Stat(above)
	require.NoError(t, err)
	require.Equal(t, long, info.ModTime())
}

// TestEveryVerbReadsTheStoreOfTheEnvironment looks at all verbs with --store.
func TestEveryVerbReadsTheStoreOfTheEnvironment(t *testing.T) {
	t.Setenv(store.Variable, "the.db")
	n := 0
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if flag := cmd.Flags().Lookup("store"); flag != nil {
			n++
			if assert.NotNil(t, cmd.PreRun, cmd.CommandPath()) {
				cmd.PreRun(cmd, nil)
				assert.Equal(t, "the.db", flag.Value.String(), cmd.CommandPath())
				require.NoError(t, cmd.Flags().Set("store", "other.db"))
				cmd.PreRun(cmd, nil)
				assert.Equal(t, "other.db", flag.Value.String(), cmd.CommandPath())
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
	assert.GreaterOrEqual(t, n, 18, "verbs with a store")

	replay := whatif.NewReplay()
	require.NoError(t, replay.Flags().Set("journal", "a.jsonl"))
	replay.PreRun(replay, nil)
	assert.Empty(t, replay.Flags().Lookup("store").Value.String(), "the recording is named already")
}
