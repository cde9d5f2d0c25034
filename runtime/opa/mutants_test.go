package opa

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestMutants builds the patches of testdata/mutants, for what follows from there being
// two evaluators, and wants each to be noticed by the tests that it names.
func TestMutants(t *testing.T) {
	mutant.Each(t, "../..", "testdata/mutants", "./runtime/opa", func(t *testing.T, p *mutant.Patch, binary string) {
		cmd := exec.Command(binary, "-test.run", "^("+p.Tests[0]+")$", "-test.timeout", "1m")
		cmd.Env = append(os.Environ(), battery.Variable+"=")
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "no test notices that this is broken: %s", p.Breaks)
		t.Logf("noticed:\n%s", out[:min(len(out), 300)])
	})
}
