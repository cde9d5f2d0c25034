package mutant_test

import (
	"path/filepath"
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestElsewhere builds the patches of packages outside of runtime, which cannot import this
// one, and wants each to be noticed by a test that it names.
func TestElsewhere(t *testing.T) {
	const root = "../../.."
	for _, pkg := range []string{"internal/importer", "internal/evolution", "internal/evolution/inclusion", "gen/dynamic", "gen/internal/ir", "dsl", "cmd/ambit/cli"} {
		t.Run(filepath.Base(pkg), func(t *testing.T) {
			mutant.Each(t, root, filepath.Join(root, pkg, "testdata/mutants"), "./"+pkg, func(t *testing.T, p *mutant.Patch, binary string) {
				test, release := mutant.Command(binary, "5m", "-test.run", "^("+p.Tests[0]+")$")
				defer release()
				test.Dir, test.Env = filepath.Join(root, pkg), battery.Env("")
				out, err := test.CombinedOutput()
				if err == nil {
					t.Fatalf("no test notices that %s", p.Breaks)
				}
				t.Logf("noticed:\n%s", out[:min(len(out), 300)])
			})
		})
	}
}
