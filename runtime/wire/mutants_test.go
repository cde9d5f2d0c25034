package wire_test

import (
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestMutants builds the patches of testdata/mutants, which break the checks of schemas, and
// wants each to be noticed by the test that it names.
func TestMutants(t *testing.T) {
	mutant.Noticed(t, "../..", "./runtime/wire", "5m", battery.Env(""))
}
