package snapshots_test

import (
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

func TestMain(m *testing.M) { battery.Main(m) }

// TestMutants builds the patches of testdata/mutants and wants each to be noticed by the tests that it names.
func TestMutants(t *testing.T) {
	mutant.Noticed(t, "../../..", "./runtime/internal/snapshots", "1m", nil)
}
