package crashtest

import (
	"flag"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

var mutate = flag.Bool("mutants", false, "build every mutant and see that the battery notices it (minutes)")

var found = regexp.MustCompile(`seed \d+: .*`)

// TestMutants builds the patches of testdata/mutants, each of which breaks the
// engine, the store or the workspace in one line, and wants the battery to notice
// within a hundred seeds. Without the flag it only sees that they apply.
func TestMutants(t *testing.T) {
	mutant.Each(t, "../../..", "testdata/mutants", "./runtime/internal/crashtest", *mutate, func(t *testing.T, p *mutant.Patch, binary string) {
		out, err := exec.Command(binary, "-test.run", "^"+p.Tests[0]+"$", "-seeds", "100", "-test.timeout", "2m").CombinedOutput()
		require.Error(t, err, "no seed of a hundred notices that %s", p.Breaks)
		say := found.FindAllString(string(out), -1)
		require.NotEmpty(t, say, "it did not fail for a seed:\n%s", out)
		t.Logf("noticed: %s", strings.Join(say, "; "))
	})
}
