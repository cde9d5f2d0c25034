package ambit_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	require.Greater(t, strings.Count(pathOfACall(t), ".go` |"), 12, "the table of files")
}

// pathOfACall returns the section of docs/architecture.md about the files that a call passes.
func pathOfACall(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("docs/architecture.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "## The path of a call\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	return section
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

// TestTestsOfTheDocs: a promise names tests that exist. A name with a directory before
// it is a test there, below runtime where the directory is not at the root. A plain name
// is a test of any package, file.yaml/name a case of runtime/scenario, and file.txtar a
// script.
func TestTestsOfTheDocs(t *testing.T) {
	known := testNames(t)
	pages, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	named := regexp.MustCompile(`\b(?:[a-z][a-z/]*\.)?(?:Test|Fuzz)[A-Z]\w+|\b[a-z]+\.yaml/[a-z][a-z-]+|\b[a-z_]+\.txtar\b`)
	for _, page := range pages {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		found := named.FindAllString(string(text), -1)
		for _, name := range found {
			require.True(t, known[name], "%s names %s", page, name)
		}
		if slices.Contains([]string{"rules.md", "consent.md", "policies.md", "durability.md"}, filepath.Base(page)) {
			require.Greater(t, len(found), 40, "%s names the tests of its promises", page)
		}
	}
}

// testNames returns the tests of the module by each name that a page may have for them.
func testNames(t *testing.T) map[string]bool {
	known := map[string]bool{}
	eachGoFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		if !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "runtimetest") {
			return
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil {
				known[f.Name.Name], known[dir+"."+f.Name.Name] = true, true
				known[strings.TrimPrefix(dir, "runtime/")+"."+f.Name.Name] = true
			}
		}
	})
	cases, err := filepath.Glob("runtime/scenario/testdata/*.yaml")
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

// TestOtherSystems: docs/testing.md names each test file that the go command leaves out on some system, or
// that asks for the system, and no file that does neither.
func TestOtherSystems(t *testing.T) {
	text, err := os.ReadFile("docs/testing.md")
	require.NoError(t, err)
	_, section, _ := strings.Cut(string(text), "\n## Other systems\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var listed []string
	for _, m := range regexp.MustCompile("`([a-z/_]+_test\\.go)`").FindAllStringSubmatch(section, -1) {
		listed = append(listed, m[1])
	}
	suffix := regexp.MustCompile(`_(linux|unix|darwin|windows)_test\.go$`)
	system := regexp.MustCompile(`(?m)^//go:build .*\b(linux|unix|darwin|windows)\b|\bGOOS [!=]= "|PathSeparator == '`)
	var found []string
	eachGoFile(t, func(path string, _ *ast.File, _ *token.FileSet) {
		path = filepath.ToSlash(path)
		if !strings.HasSuffix(path, "_test.go") || path == "docs_test.go" {
			return
		}
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		if suffix.MatchString(path) || system.Match(text) {
			found = append(found, path)
		}
	})
	require.ElementsMatch(t, found, listed, "section Other systems of docs/testing.md")
}
