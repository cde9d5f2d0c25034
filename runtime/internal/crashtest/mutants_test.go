package crashtest

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

var found = regexp.MustCompile(`seed \d+: .*`)

// TestMutants builds the patches of testdata/mutants, each of which breaks the
// engine, the store or the workspace in one line, and wants the battery to notice
// within a hundred seeds.
func TestMutants(t *testing.T) {
	mutant.Each(t, "../../..", "testdata/mutants", "./runtime/internal/crashtest", func(t *testing.T, p *mutant.Patch, binary string) {
		tests := exec.Command(binary, "-test.run", "^"+p.Tests[0]+"$", "-test.timeout", "10m")
		tests.Env = battery.Env("100")
		out, err := tests.CombinedOutput()
		require.Error(t, err, "no seed of a hundred notices that %s", p.Breaks)
		say := found.FindAllString(string(out), -1)
		require.NotEmpty(t, say, "it did not fail for a seed:\n%s", out)
		t.Logf("noticed: %s", strings.Join(say, "; "))
	})
}
