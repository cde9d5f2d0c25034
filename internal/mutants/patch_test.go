package mutants_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/mutants"
)

const head = "# 4 a: b\n# tests: ./x ^T$\n@@ f\n"

func TestPatchIsAChangeOfOneLine(t *testing.T) {
	p, err := mutants.Parse(head + " a\n-b\n+c\n\n d\n")
	require.NoError(t, err)
	require.Equal(t, &mutants.Patch{
		Breaks: "4 a: b", Tests: []mutants.Tests{{Package: "./x", Pattern: "^T$"}}, In: "f", Before: []string{"a", "b", "", "d"}, After: []string{"a", "c", "", "d"},
	}, p)
	p, err = mutants.Parse(head + "-b\n@@ g\n-c\n+d\n")
	require.NoError(t, err)
	require.Equal(t, &mutants.Patch{Breaks: "4 a: b", Tests: []mutants.Tests{{Package: "./x", Pattern: "^T$"}}, In: "f", Before: []string{"b"}, And: &mutants.Patch{
		In: "g", Before: []string{"c"}, After: []string{"d"},
	}}, p)
	for _, text := range []string{
		"", head, head + " a\n b\n", head + "-a\n-b\n", head + "+a\n+b\n", head + "-a\n@@ g\n b\n", head + " a\n@@ g\n-b\n", head + "+a\n",
		strings.Replace(head, "# 4", "4", 1) + "-a\n", strings.Replace(head, " ./x ^T$", "", 1), strings.Replace(head, " ^T$", "", 1) + "-a\n", strings.Replace(head, "@@ f", "@@", 1) + "-a\n",
	} {
		_, err := mutants.Parse(text)
		require.Error(t, err, text)
	}
}

const (
	one = "package one\n\nfunc f() int {\n\tn := 1\n\treturn n\n}\n\ntype t[K any] struct{}\n\nfunc (*t[K]) m() int {\n\treturn 1\n}\n\nconst limit = 3\n"
	two = "package two\n\nfunc f() int {\n\tif true {\n\t\treturn 2\n\t}\n\treturn n\n}\n"
)

// module writes a module of two packages, in which a third is of another module.
func module(t *testing.T) (root string) {
	root = t.TempDir()
	for name, text := range map[string]string{
		"one/a.go": one, "two/a.go": two, "two/a_test.go": one, "two/testdata/a.go": "package", "three/go.mod": "module three", "three/a.go": one,
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	return root
}

// TestPatchFindsItsDeclaration in each package of the module.
func TestPatchFindsItsDeclaration(t *testing.T) {
	root := module(t)
	for patch, want := range map[string]string{
		"@@ f\n-\tn := 1\n+\tn := 2\n":                 "one/a.go",
		"@@ f\n-return 2\n+return 3\n":                 "two/a.go", // with any indentation
		"@@ two.f\n-\treturn n\n+\treturn 0\n":         "two/a.go",
		"@@ f\n \t}\n-\treturn n\n+\treturn 0\n":       "two/a.go",
		"@@ (*t).m\n-\treturn 1\n+\treturn 0\n":        "one/a.go",
		"@@ limit\n-const limit = 3\n+const limit=4\n": "one/a.go",
	} {
		p, err := mutants.Parse("# b\n# tests: ./x ^T$\n" + patch)
		require.NoError(t, err)
		file, text, err := p.Apply(root)
		require.NoError(t, err, patch)
		require.Equal(t, want, file, patch)
		source := map[string]string{"one/a.go": one, "two/a.go": two}[file]
		require.NotEqual(t, source, text)
		require.Equal(t, strings.Count(source, "\n"), strings.Count(text, "\n"), patch)
	}
	for patch, want := range map[string]string{
		"@@ g\n-\treturn n\n":         "there is no g any more",
		"@@ f\n-\treturn n\n":         "there 2 times",
		"@@ f\n-\treturn 9\n":         "not there any more",
		"@@ two.f\n-\tn := 1\n":       "not there any more",
		"@@ (*t).m\n-const limit = 3": "not there any more",
	} {
		p, err := mutants.Parse("# b\n# tests: ./x ^T$\n" + patch)
		require.NoError(t, err)
		_, _, err = p.Apply(root)
		require.ErrorContains(t, err, want, patch)
	}
}

// TestPatchOfTwoFiles: a further hunk changes another file, and not the same one once more.
func TestPatchOfTwoFiles(t *testing.T) {
	root := module(t)
	const first = "# b\n# tests: ./x ^T$\n@@ two.f\n-\treturn n\n+\treturn 0\n"
	p, err := mutants.Parse(first + "@@ limit\n-const limit = 3\n+const limit = 4\n")
	require.NoError(t, err)
	path, err := p.Overlay(root, t.TempDir())
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var overlay struct{ Replace map[string]string }
	require.NoError(t, json.Unmarshal(text, &overlay))
	for original, want := range map[string]string{
		"one/a.go": strings.Replace(one, "limit = 3", "limit = 4", 1), "two/a.go": strings.Replace(two, "return n", "return 0", 1),
	} {
		text, err := os.ReadFile(overlay.Replace[filepath.Join(root, filepath.FromSlash(original))])
		require.NoError(t, err)
		require.Equal(t, want, string(text))
	}
	p, err = mutants.Parse(first + "@@ two.f\n-\t\treturn 2\n")
	require.NoError(t, err)
	_, err = p.Overlay(root, t.TempDir())
	require.ErrorContains(t, err, "two/a.go twice")
}
