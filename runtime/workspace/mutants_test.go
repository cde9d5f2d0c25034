package workspace_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

const moduleRoot = "../.."

// mutants reads the patches, each of which breaks a promise of the packages that
// keep files. Their tests are packages.
func mutants(t *testing.T) []*mutant.Patch {
	list, err := mutant.Read("testdata/mutants")
	require.NoError(t, err)
	return list
}

func TestEveryMutantApplies(t *testing.T) {
	for _, p := range mutants(t) {
		_, _, err := p.Apply(moduleRoot)
		require.NoError(t, err, p.Name)
		require.NotEqual(t, p.Before, p.After, p.Name)
	}
}

// TestMutants builds the mutants that battery.Picks names, by an overlay, and runs
// the tests that are to notice it, with a hundred seeds of the simulated disk: none
// may survive, and each has to compile.
func TestMutants(t *testing.T) {
	for _, p := range mutants(t) {
		if !battery.Picks(t, p.Name) {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			for _, pkg := range p.Tests {
				if output, yes := noticed(t, p, pkg); yes {
					t.Logf("%s: %s", pkg, firstFailure(output))
					return
				}
			}
			t.Errorf("no test of %v notices that this is broken: %s", p.Tests, p.Breaks)
		})
	}
}

// noticed runs the tests of a package against a mutant.
func noticed(t *testing.T, p *mutant.Patch, pkg string) (string, bool) {
	dir := t.TempDir()
	overlay, err := p.Overlay(moduleRoot, dir)
	require.NoError(t, err)
	binary, err := mutant.Build(moduleRoot, pkg, overlay, dir)
	require.NoError(t, err)
	tests := exec.CommandContext(t.Context(), binary, "-test.failfast", "-test.v", "-test.timeout", "10m", "-test.skip", "Mutant")
	tests.Env = battery.Env("100")
	tests.Dir = filepath.Join(moduleRoot, filepath.FromSlash(pkg))
	output, err := tests.CombinedOutput()
	return string(output), err != nil
}

// firstFailure returns what a test said, as far as it can be told in a line.
func firstFailure(output string) string {
	for line := range strings.Lines(output) {
		if strings.Contains(line, "seed ") || strings.Contains(line, "--- FAIL") || strings.Contains(line, "panic") {
			return strings.TrimSpace(line)
		}
	}
	return "it did not end"
}
