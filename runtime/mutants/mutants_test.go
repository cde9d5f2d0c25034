package mutants

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// patience bounds the tests of a mutant: one that never ends is noticed too.
const patience = "5m"

func TestMutants(t *testing.T) {
	list := slices.DeleteFunc(patches(t), func(p *mutant.Patch) bool { return !battery.Picks(t, p.Name) })
	var packages []string
	for _, p := range list {
		packages = append(packages, p.Tests...)
	}
	slices.Sort(packages)
	for _, pkg := range slices.Compact(packages) {
		passed, output := run(t, pkg, "")
		require.True(t, passed, "the tests of %s fail without any mutant:\n%s", pkg, output)
	}
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			overlay, err := p.Overlay(root, t.TempDir())
			require.NoError(t, err)
			for _, pkg := range p.Tests {
				if passed, output := run(t, pkg, overlay); !passed {
					t.Logf("noticed by %s in %s", first(output), pkg)
					return
				}
			}
			t.Errorf("no test of %v notices that this is broken: %s", p.Tests, p.Breaks)
		})
	}
}

// run builds the tests of a package and runs them up to the first that fails.
func run(t *testing.T, pkg, overlay string) (passed bool, output string) {
	binary, err := mutant.Build(root, pkg, overlay, t.TempDir())
	require.NoError(t, err)
	tests := exec.Command(binary, "-test.failfast", "-test.timeout", patience)
	tests.Dir, tests.Env = filepath.Join(root, filepath.FromSlash(pkg)), battery.Env("")
	text, err := tests.CombinedOutput()
	require.False(t, err != nil && tests.ProcessState == nil, "the tests of %s cannot be run: %v", pkg, err)
	return err == nil, string(text)
}

var failed = regexp.MustCompile(`--- FAIL: (\S+)`)

// first returns the innermost name of the test that failed first.
func first(output string) string {
	if names := failed.FindAllStringSubmatch(output, -1); names != nil {
		return names[len(names)-1][1]
	}
	line, _, _ := bytes.Cut([]byte(output), []byte("\n"))
	return string(line) // it panicked, or did not end
}
