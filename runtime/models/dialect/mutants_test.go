package dialect_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestMutants builds the patches of testdata/mutants and wants each to be noticed
// by the tests that it names.
func TestMutants(t *testing.T) {
	mutant.Each(t, "../../..", "testdata/mutants", "./runtime/models/dialect", func(t *testing.T, p *mutant.Patch, binary string) {
		tests := exec.Command(binary, "-test.run", "^("+p.Tests[0]+")$", "-test.timeout", "5m")
		tests.Env = battery.Env("")
		out, err := tests.CombinedOutput()
		require.Error(t, err, "no test notices that %s", p.Breaks)
		t.Logf("noticed:\n%s", out[:min(len(out), 300)])
	})
}
