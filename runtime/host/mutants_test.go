package host_test

import (
	"testing"

	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestMutants builds the patches of testdata/mutants and wants each to be noticed by the tests that it names.
func TestMutants(t *testing.T) {
	mutant.Noticed(t, "../..", "./runtime/host", "1m", nil)
}
