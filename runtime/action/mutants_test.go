package action_test

import (
	"testing"

	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestMutants: each patch of testdata/mutants breaks a promise, and a test notices it.
func TestMutants(t *testing.T) { mutant.Noticed(t, "../..", "./runtime/action", "2m", nil) }
