package console_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

// A scriptPatch is a mutant of console.js: lines of it, each of which is in one place, and what stands there instead.
type scriptPatch struct {
	name  string
	tests string // the pattern of the names of tests that notice it
	text  string // the script with the mutant
}

// scriptPatches reads those of testdata/script_mutants: a line that says what is wrong, one that names tests, and
// lines that begin with - and are replaced by those with + after them.
func scriptPatches(t *testing.T) []scriptPatch {
	script, err := os.ReadFile("static/console.js")
	require.NoError(t, err)
	files, err := filepath.Glob("testdata/script_mutants/*.patch")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	list := make([]scriptPatch, 0, len(files))
	for _, file := range files {
		p := scriptPatch{name: strings.TrimSuffix(filepath.Base(file), ".patch"), text: string(script)}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
		require.Greater(t, len(lines), 3, file)
		require.True(t, strings.HasPrefix(lines[0], "# "), "%s says what is wrong", file)
		tests, ok := strings.CutPrefix(strings.TrimSpace(lines[1]), "# tests: ")
		require.True(t, ok, "%s names tests", file)
		p.tests = tests
		for rest := lines[2:]; len(rest) > 0; {
			old, more := taken(rest, "-")
			by, after := taken(more, "+")
			require.Less(t, len(after), len(rest), "%s has lines with - and +", file)
			require.Equal(t, 1, strings.Count(p.text, old), "%s: the script has %q in one place", file, old)
			p.text = strings.Replace(p.text, old, by, 1)
			rest = after
		}
		list = append(list, p)
	}
	return list
}

// taken returns the lines at the begin of a list that have a mark, without it, and the rest.
func taken(lines []string, mark string) (text string, rest []string) {
	for len(lines) > 0 && strings.HasPrefix(lines[0], mark) {
		text += strings.TrimSuffix(lines[0][1:], "\n") + "\n"
		lines = lines[1:]
	}
	return text, lines
}

// testNames finds the names of tests in a script.
var testNames = regexp.MustCompile("(?m)^\\s*test\\([\"`]([^\"`]+)[\"`]")

// TestScriptMutants: each mutant of the script is noticed in a browser. Without AMBIT_BROWSER, and but in a battery,
// only that the patches apply, and name tests that there are, is seen.
func TestScriptMutants(t *testing.T) {
	const limit = "20000" // ms for a test that waits for what does not come; a test of the script itself must keep it too
	patches := scriptPatches(t)
	scripts := scriptsText(t)
	var run []scriptPatch
	for _, p := range patches {
		named := testNames.FindAllStringSubmatch(scripts, -1)
		assert.True(t, slices.ContainsFunc(named, func(m []string) bool { return regexp.MustCompile(p.tests).MatchString(m[1]) }), "%s names a test", p.name)
		if os.Getenv("AMBIT_BROWSER") != "" && battery.Picks(t, p.name) {
			run = append(run, p)
		}
	}
	if len(run) == 0 {
		return
	}
	var all []string
	for _, p := range run {
		all = append(all, p.tests)
	}
	slices.Sort(all)
	c := newControl(t)
	require.NoError(t, c.drive(strings.Join(slices.Compact(all), "|"), "AMBIT_BROWSER_LIMIT="+limit), "the script as it is")
	for _, p := range run {
		t.Run(p.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "console.js")
			require.NoError(t, os.WriteFile(file, []byte(p.text), 0o600))
			assert.Error(t, newControl(t).drive(p.tests, "AMBIT_BROWSER_LIMIT="+limit, "AMBIT_BROWSER_SCRIPT="+file), "no test notices it")
		})
	}
}

// scriptsText returns the text of the tests in a browser.
func scriptsText(t *testing.T) string {
	files, err := filepath.Glob(filepath.Join(scripts, "*.test.mjs"))
	require.NoError(t, err)
	var b strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		b.Write(text)
	}
	return b.String()
}
