package plan

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

func TestMain(m *testing.M) { battery.Main(m) }

// TestMutants builds the patches of testdata/mutants, one or more for each kind of
// statement, and wants each to be noticed by the tests that it names.
func TestMutants(t *testing.T) {
	mutant.Each(t, "../../../..", "testdata/mutants", "./runtime/opa/internal/plan", func(t *testing.T, p *mutant.Patch, binary string) {
		cmd := exec.Command(binary, "-test.run", "^("+p.Tests[0]+")$", "-test.timeout", "30s")
		cmd.Env = append(os.Environ(), battery.Variable+"=")
		out, err := cmd.CombinedOutput()
		require.Error(t, err, "no test notices that this is broken: %s", p.Breaks)
		t.Logf("noticed:\n%s", out[:min(len(out), 300)])
	})
}
