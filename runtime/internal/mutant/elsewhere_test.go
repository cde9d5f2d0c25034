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
			mutant.NoticedIn(t, root, filepath.Join(root, pkg), "./"+pkg, "5m", battery.Env(""))
		})
	}
}
