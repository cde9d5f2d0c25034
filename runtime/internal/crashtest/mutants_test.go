package crashtest

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

var found = regexp.MustCompile(`seed \d+: .*`)

// mutantSeeds is how many seeds may pass before one notices a mutant. The battery ends at the
// first that does. An undo that is told before it is durable is noticed by about 2 seeds in
// 1,000, and the rest of the mutants by many more.
const mutantSeeds = 1500

// TestMutants builds the patches of testdata/mutants, each of which breaks the
// engine, the store or the workspace in one line, and wants the battery to notice
// within mutantSeeds seeds.
func TestMutants(t *testing.T) {
	mutant.Each(t, "../../..", "testdata/mutants", "./runtime/internal/crashtest", func(t *testing.T, p *mutant.Patch, binary string) {
		tests, release := mutant.Command(binary, "10m", "-test.run", "^"+p.Tests[0]+"$")
		defer release()
		tests.Env = battery.Env(strconv.Itoa(mutantSeeds))
		out, err := tests.CombinedOutput()
		require.Error(t, err, "no seed of %d notices that %s", mutantSeeds, p.Breaks)
		say := found.FindAllString(string(out), -1)
		require.NotEmpty(t, say, "it did not fail for a seed:\n%s", out)
		t.Logf("noticed: %s", strings.Join(say, "; "))
	})
}
