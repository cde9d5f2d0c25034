package sqlite_test

import (
	"flag"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

var mutate = flag.Bool("mutants", false, "build every mutant of the store and see that a test notices it (minutes)")

// TestMutants builds the patches of testdata/mutants and wants each to be noticed
// by the tests that it names, those of crashes within a hundred seeds. Without the
// flag it only sees that they apply.
func TestMutants(t *testing.T) {
	mutant.Each(t, "../..", "testdata/mutants", "./runtime/sqlite", *mutate, func(t *testing.T, p *mutant.Patch, binary string) {
		out, err := exec.Command(binary, "-test.run", "^("+p.Tests[0]+")$", "-seeds", "100", "-test.timeout", "1m").CombinedOutput()
		require.Error(t, err, "no test notices that %s", p.Breaks)
		t.Logf("noticed:\n%s", out[:min(len(out), 300)])
	})
}
