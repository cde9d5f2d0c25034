package cli

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
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
			require.Equal(t, exitUsage, Run(args, nil, &stdout, &stderr), cmd.CommandPath())
			require.Contains(t, stderr.String(), "error: unknown flag: --no-such-flag")
			require.Empty(t, stdout.String())
		}
	}
	walk(newRoot())
}

func TestReportPrintsEveryErrorAndReturnsTheHighestCode(t *testing.T) {
	var w bytes.Buffer
	err := errors.Join(problem("one", "do this"), errors.Join(verdict("two", ""), problem("three", "")))
	require.Equal(t, exitVerdict, report(&w, "ambit", err))
	require.Equal(t, "error: one\nhint: do this\nerror: two\nerror: three\n", w.String())
	require.Equal(t, exitOK, report(&w, "ambit", nil))
}

func TestProgramName(t *testing.T) {
	for base, want := range map[string]string{
		"notes": "notes", "My Notes": "my-notes", "9lives": "app-9lives", "": "app", "...": "app", "/": "app",
		"日本": "app", "com1": "app-com1", "vendor": "app-vendor", "-x-": "x", "a\n\"b": "a-b",
		"an extraordinarily long name of a folder that goes on": "an-extraordinarily-long-name-of-a-folder",
	} {
		require.Equal(t, want, programName(base), "%q", base)
	}
}

func TestRequirements(t *testing.T) {
	require.Equal(t, []string{"a.b/c v1.2.3", "d.e/f/v2 v2.0.0-x+incompatible", "g.h/i v0.1.0"}, requirements(`module m

go 1.26.0

require (
	a.b/c v1.2.3 // indirect
	d.e/f/v2 v2.0.0-x+incompatible
)

require g.h/i v0.1.0

replace a.b/c => ../c
`))
}

func TestManifestNamesOnlyWhatIsGenerated(t *testing.T) {
	for name, want := range map[string]bool{
		"tools_ambit.go": true, "schemas/a.input.json": true, "policy/ambit_gen/data.json": true,
		"main.go": false, "../tools_ambit.go": false, "schemas/../main.go": false,
		"ambit.schema.json": true, ".vscode/ambit.schema.json": true, "../a.json": false, "/etc/a.json": false, "a/../../a.json": false,
		"/etc/passwd": false, "": false, "schemas/": false, "policy/mine.rego": false, "<<<<<<< HEAD": false,
	} {
		require.Equal(t, want, generatable(name), "%q", name)
	}
}

// TestStagingLeavesNothingBehind puts a folder where the second file must go.
func TestStagingLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	require.NoError(t, root.WriteFile("taken", nil, 0o644))

	var st staging
	require.NoError(t, st.add(root, "made/on/the/way/a.txt", []byte("a")))
	require.Error(t, st.add(root, "taken/b.txt", []byte("b")))
	st.discard(root)

	entries, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, "taken")}, entries)
}
