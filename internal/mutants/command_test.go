package mutants_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/mutants"
)

// TestCommandIsKilled: tests that do not end by themselves are killed.
func TestCommandIsKilled(t *testing.T) {
	test, release := mutants.Command("sh", "10ms", "-c", "exec sleep 60")
	defer release()
	require.Error(t, test.Run())
}
