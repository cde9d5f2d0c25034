package workspace_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var mutate = flag.Bool("mutants", false, "build every mutant of testdata/mutants and see that a test notices it (minutes)")

const moduleRoot = "../.."

// A mutant is a patch of one line that breaks a promise of the packages that
// keep files. Its first line is the promise, its second says whose tests notice.
type mutant struct {
	name, breaks, file string
	tests              []string
	before, after      string
}

func mutants(t *testing.T) (list []mutant) {
	files, err := filepath.Glob("testdata/mutants/*.patch")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		require.Greater(t, len(lines), 5, file)
		m := mutant{name: strings.TrimSuffix(filepath.Base(file), ".patch"), breaks: strings.TrimPrefix(lines[0], "# ")}
		m.tests = strings.Fields(strings.TrimPrefix(lines[1], "# tests: "))
		m.file = strings.TrimPrefix(lines[3], "+++ b/")
		changed := 0
		for _, line := range lines[5:] {
			rest := strings.TrimPrefix(line, " ")
			switch {
			case strings.HasPrefix(line, "-"):
				m.before += line[1:] + "\n"
				changed++
			case strings.HasPrefix(line, "+"):
				m.after += line[1:] + "\n"
			default:
				m.before += rest + "\n"
				m.after += rest + "\n"
			}
		}
		require.Equal(t, 1, changed, "%s: a mutant is a change of one line", file)
		list = append(list, m)
	}
	return list
}

// source returns the file of the mutant, with and without its change.
func (m *mutant) source(t *testing.T) (original, changed string) {
	text, err := os.ReadFile(filepath.Join(moduleRoot, m.file))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), m.before), "%s: what it changes is not there any more, or more than once: make the patch anew", m.name)
	return string(text), strings.Replace(string(text), m.before, m.after, 1)
}

func TestEveryMutantApplies(t *testing.T) {
	for _, m := range mutants(t) {
		original, changed := m.source(t)
		require.NotEqual(t, original, changed, m.name)
	}
}

// TestMutants builds every mutant, by an overlay, and runs the tests that are to
// notice it, with a hundred seeds of the simulated disk: none may survive, and
// each has to compile.
func TestMutants(t *testing.T) {
	list := mutants(t)
	if !*mutate {
		list = nil
	}
	for _, m := range list {
		t.Run(m.name, func(t *testing.T) {
			for _, pkg := range m.tests {
				if output, noticed := m.noticed(t, pkg); noticed {
					t.Logf("%s: %s", pkg, firstFailure(output))
					return
				}
			}
			t.Errorf("no test of %v notices that this is broken: %s", m.tests, m.breaks)
		})
	}
}

// noticed runs the tests of a package against the mutant.
func (m *mutant) noticed(t *testing.T, pkg string) (string, bool) {
	dir := t.TempDir()
	_, changed := m.source(t)
	file, overlay, binary := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant.test")
	original, err := filepath.Abs(filepath.Join(moduleRoot, m.file))
	require.NoError(t, err)
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: file}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	require.NoError(t, os.WriteFile(overlay, replace, 0o600))
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", binary, pkg)
	build.Dir = moduleRoot
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s does not compile:\n%s", m.name, output)
	tests := exec.CommandContext(t.Context(), binary, "-test.failfast", "-test.v", "-test.timeout", "2m", "-test.skip", "Mutant", "-crash.seeds", "100")
	tests.Dir = filepath.Join(moduleRoot, filepath.FromSlash(pkg))
	output, err = tests.CombinedOutput()
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
