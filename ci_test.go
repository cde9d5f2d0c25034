package ambit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCIWantsTheCorpora: .ci/run and .ci/nightly do not pass for want of the corpora, and say which
// variable names their folder. The go command is one that fails, so that nothing is run.
func TestCIWantsTheCorpora(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	bin, without := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\necho the go command >&2\nexit 7\n"), 0o755))
	for _, script := range []string{".ci/run", ".ci/nightly"} {
		for corpora, want := range map[string]string{without: "set AMBIT_CORPORA", "none": "the go command"} {
			cmd := exec.Command(bash, script)
			cmd.Env = append(os.Environ(), "AMBIT_CORPORA="+corpora, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			require.Error(t, err, script)
			assert.Contains(t, string(out), want, script)
		}
	}
}
