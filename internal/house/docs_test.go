package house

import (
	"go/ast"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/simulate/scenario"
)

// TestScenariosOfTheDocs runs every scenario that the pages about rules, consent and scenarios show.
func TestScenariosOfTheDocs(t *testing.T) {
	for _, path := range []string{"docs/rules.md", "docs/internal/scenarios.md", "docs/consent.md", "docs/scenarios.md"} {
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

// TestFilesOfTheDocs: the Go files that the pages for contributors name exist, at the root, under their
// path or in runtime/engine.
func TestFilesOfTheDocs(t *testing.T) {
	for _, page := range []string{"docs/architecture.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile("`([a-z0-9_/*]+\\.go)`").FindAllStringSubmatch(string(text), -1) {
			there, err := filepath.Glob(m[1])
			require.NoError(t, err)
			in, err := filepath.Glob("runtime/engine/" + m[1])
			require.NoError(t, err)
			require.NotEmpty(t, append(there, in...), "%s: %s", page, m[1])
		}
	}
}

// TestTestsOfTheDocs: a promise names tests that exist. A name with a directory before
// it is a test there, below runtime where the directory is not at the root; its last element does. A plain name
// is a test of any package, file.yaml/name a case of runtime/simulate/scenario, and file.txtar a
// script.
func TestTestsOfTheDocs(t *testing.T) {
	known := testNames(t)
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	internal, err := filepath.Glob("docs/internal/*.md")
	require.NoError(t, err)
	pages = append(pages, internal...)
	named := regexp.MustCompile(`\b(?:[a-z][a-z/]*\.)?(?:Test|Fuzz)[A-Z]\w+|\b[a-z]+\.yaml/[a-z][a-z-]+|\b[a-z_]+\.txtar\b`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		for _, name := range named.FindAllString(string(text), -1) {
			require.True(t, known[name], "%s names %s", page, name)
		}
	}
}

// testNames returns the tests of the module by each name that a page may have for them.
func testNames(t *testing.T) map[string]bool {
	known := map[string]bool{}
	eachGoFile(t, func(name string, file *ast.File, _ *token.FileSet) {
		if !strings.HasSuffix(name, "_test.go") && !strings.Contains(name, "runtimetest") {
			return
		}
		dir := path.Dir(filepath.ToSlash(name))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				known[f.Name.Name], known[dir+"."+f.Name.Name] = true, true
				known[strings.TrimPrefix(dir, "runtime/")+"."+f.Name.Name], known[path.Base(dir)+"."+f.Name.Name] = true, true
			}
		}
	})
	cases, err := filepath.Glob("runtime/simulate/scenario/testdata/*.yaml")
	require.NoError(t, err)
	for _, path := range cases {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, m := range regexp.MustCompile(`(?m)^- name: (\S+)`).FindAllStringSubmatch(string(text), -1) {
			known[filepath.Base(path)+"/"+m[1]] = true
		}
	}
	scripts, err := filepath.Glob("testscripts/*.txtar")
	require.NoError(t, err)
	for _, path := range scripts {
		known[filepath.Base(path)] = true
	}
	return known
}

// TestEveryThreatHasATest: each row of docs/security.md names a test. TestTestsOfTheDocs sees that it exists.
func TestEveryThreatHasATest(t *testing.T) {
	text, err := os.ReadFile("docs/security.md")
	require.NoError(t, err)
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "threat" {
			require.False(t, strings.HasPrefix(line, "| ") && len(cells) != 5, line)
			continue
		}
		rows++
		require.Regexp(t, "`([a-z/]+\\.)?(Test|Fuzz)[A-Z]", cells[3], line)
	}
	require.Greater(t, rows, 20)
	about, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	require.Contains(t, string(about), "(docs/security.md)")
}
