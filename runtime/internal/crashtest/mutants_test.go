package crashtest

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var mutate = flag.Bool("mutants", false, "build every mutant and see that the battery notices it (minutes)")

const root = "../../.."

var found = regexp.MustCompile(`seed \d+: .*`)

// TestMutants builds the patches of testdata/mutants, each of which breaks the
// engine, the store or the workspace in one line, and wants the battery to notice
// within a hundred seeds. Without the flag it only sees that they apply.
func TestMutants(t *testing.T) {
	files, err := filepath.Glob("testdata/mutants/*.patch")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".patch"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			original, mutant, tests := mutated(t, string(text))
			if !*mutate {
				return
			}
			dir := t.TempDir()
			changed, overlay, binary := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "mutant.test")
			replace, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(changed, []byte(mutant), 0o600))
			require.NoError(t, os.WriteFile(overlay, replace, 0o600))
			out, err := exec.Command("go", "test", "-c", "-ldflags=-s -w", "-overlay", overlay, "-o", binary, ".").CombinedOutput()
			require.NoError(t, err, "the mutant does not compile:\n%s", out)
			out, err = exec.Command(binary, "-test.run", "^"+tests+"$", "-seeds", "100", "-test.timeout", "2m").CombinedOutput()
			require.Error(t, err, "no seed of a hundred notices that %s", strings.SplitN(string(text), "\n", 2)[0])
			say := found.FindAllString(string(out), -1)
			require.NotEmpty(t, say, "it did not fail for a seed:\n%s", out)
			t.Logf("noticed: %s", strings.Join(say, "; "))
		})
	}
}

// mutated reads a patch of one hunk and returns the file that it changes, that
// file changed, and which test has to notice.
func mutated(t *testing.T, text string) (original, mutant, tests string) {
	var before, after strings.Builder
	changes := 0
	for _, line := range strings.SplitAfter(text, "\n") {
		switch {
		case strings.HasPrefix(line, "# tests: "):
			tests = strings.TrimSpace(line[len("# tests: "):])
		case strings.HasPrefix(line, "+++ b/"):
			original = filepath.Join(root, filepath.FromSlash(strings.TrimSpace(line[len("+++ b/"):])))
		case line == "", strings.HasPrefix(line, "# "), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "@@ "):
		case line[0] == '-':
			before.WriteString(line[1:])
			changes++
		case line[0] == '+':
			after.WriteString(line[1:])
		default:
			line = strings.TrimPrefix(line, " ")
			before.WriteString(line)
			after.WriteString(line)
		}
	}
	require.Equal(t, 1, changes, "a mutant is a change of one line")
	source, err := os.ReadFile(original)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(source), before.String()), "%s has not, exactly once:\n%s", original, before.String())
	original, err = filepath.Abs(original)
	require.NoError(t, err)
	return original, strings.Replace(string(source), before.String(), after.String(), 1), tests
}
