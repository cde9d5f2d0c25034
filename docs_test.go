package ambit_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/scenario"
)

// TestScenariosOfTheDocs runs every scenario that docs/rules.md and
// docs/consent.md show.
func TestScenariosOfTheDocs(t *testing.T) {
	for _, path := range []string{"docs/rules.md", "docs/consent.md"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		shown := 0
		for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], "scenarios: v1\n") {
				continue
			}
			f, err := scenario.Parse(path, []byte(m[1]))
			require.NoError(t, err, m[1])
			for _, c := range f.Cases {
				shown++
				t.Run(c.Name, func(t *testing.T) {
					trace, err := c.Run(new(scenario.Setup))
					require.NoError(t, err)
					require.Empty(t, trace.Faults().String())
				})
			}
		}
		require.NotZero(t, shown, path)
	}
}

// TestBatteriesAreListed: docs/testing.md names every package that sizes tests with
// AMBIT_BATTERY.
func TestBatteriesAreListed(t *testing.T) {
	text, err := os.ReadFile("docs/testing.md")
	require.NoError(t, err)
	eachGoFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		for _, imp := range file.Imports {
			if strings.HasSuffix(path, "_test.go") && imp.Path.Value == `"`+module+`/internal/battery"` {
				pkg := filepath.ToSlash(filepath.Dir(path))
				require.Contains(t, string(text)+"`internal/battery`", "`"+pkg+"`", path)
			}
		}
	})
}

// TestTestsOfTheDocs: a promise that names the test that shows it names one that
// there is.
func TestTestsOfTheDocs(t *testing.T) {
	var code strings.Builder
	eachGoFile(t, func(path string, _ *ast.File, _ *token.FileSet) {
		if strings.HasSuffix(path, "_test.go") || strings.Contains(path, "runtimetest") {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			code.Write(text)
		}
	})
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, name := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(string(text), -1) {
			require.Contains(t, code.String(), "func "+name, "%s names %s", page, name)
		}
	}
}
