package trie_test

import (
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestMutants builds the patches of testdata/mutants and wants each to be noticed.
func TestMutants(t *testing.T) {
	mutant.Noticed(t, "../../../..", "./runtime/sqlite/internal/trie", "5m", battery.Env(""))
}
