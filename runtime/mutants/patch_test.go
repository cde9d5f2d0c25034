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
	return list
}

func TestEveryPatchApplies(t *testing.T) {
	for _, p := range patches(t) {
		if _, err := p.Apply(root); err != nil {
			t.Errorf("%s: %v", p.Name, err)
		}
	}
}
