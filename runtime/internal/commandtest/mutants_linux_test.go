package commandtest

import (
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestMutants builds the patches of testdata/mutants, bugs that only a real process shows, and wants each to be
// noticed by the test that it names.
func TestMutants(t *testing.T) {
	if battery.Full(t) && forms()[1].lacks(t) != "" {
		t.Skip("without a box too much is skipped")
	}
	mutant.Noticed(t, "../../..", "./runtime/internal/commandtest", "2m", battery.Env("ci"))
}
