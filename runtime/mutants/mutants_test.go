package mutants

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var mutate = flag.Bool("mutants", false, "build every mutant and see that a test notices it (minutes)")

const (
	// patience bounds the tests of a mutant: one that never ends is noticed too.
	patience = "1m"

	// skipped are the tests that fail, without any mutant, where the machine is
	// busy with other mutants.
	skipped = "^(TestLinearizable|TestAdmissionAllocates)$"
)

func TestMutants(t *testing.T) {
	list := patches(t)
	if !*mutate {
		list = nil // the cheap tests are enough for every day
	}
	var packages []string
	for _, p := range list {
		packages = append(packages, p.tests...)
	}
	slices.Sort(packages)
	for _, pkg := range slices.Compact(packages) {
		passed, output := run(t, pkg, "")
		require.True(t, passed, "the tests of %s fail without any mutant:\n%s", pkg, output)
	}
	for _, p := range list {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			overlay := p.overlay(t)
			for _, pkg := range p.tests {
				if passed, output := run(t, pkg, overlay); !passed {
					t.Logf("noticed by %s in %s", first(output), pkg)
					return
				}
			}
			t.Errorf("no test of %v notices that this is broken: %s", p.tests, p.breaks)
		})
	}
}

// overlay writes the mutant and what puts it in the place of the original.
func (p *patch) overlay(t *testing.T) string {
	text, err := p.apply()
	require.NoError(t, err)
	dir := t.TempDir()
	mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	original, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(p.file)))
	require.NoError(t, err)
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutant}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(mutant, []byte(text), 0o600))
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))
	return overlay
}

// run builds the tests of a package and runs them up to the first that fails.
// What does not compile is no mutant, and must not pass for one that was noticed.
func run(t *testing.T, pkg, overlay string) (passed bool, output string) {
	binary := filepath.Join(t.TempDir(), "mutant.test")
	build := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, pkg)
	build.Dir = root
	text, err := build.CombinedOutput()
	require.NoError(t, err, "%s does not compile:\n%s", pkg, text)
	tests := exec.Command(binary, "-test.short", "-test.failfast", "-test.skip", skipped, "-test.timeout", patience)
	tests.Dir = filepath.Join(root, filepath.FromSlash(pkg))
	text, err = tests.CombinedOutput()
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
