package mutants

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// root is where the module is, from here.
const root = "../.."

// keyOf returns the key of the sentence that p breaks.
func keyOf(p *mutant.Patch) string {
	key, _, _ := strings.Cut(p.Name, "-")
	return key
}

// patches reads all patches. Their tests are packages.
func patches(t *testing.T) []*mutant.Patch {
	list, err := mutant.Read("testdata")
	require.NoError(t, err)
	for _, p := range list {
		for _, pkg := range p.Tests {
			require.True(t, pkg == "." || strings.HasPrefix(pkg, "./"), "the tests of %s are %q, which is no package: write ./ and its directory", p.Name, pkg)
		}
	}
	return list
}

func TestEveryPatchApplies(t *testing.T) {
	for _, p := range patches(t) {
		if _, _, err := p.Apply(root); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}
