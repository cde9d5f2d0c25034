package gen_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

var update = flag.Bool("update", false, "write what the tests produce into testdata")

// A golden is one case of testdata: a declaration, perhaps a program that uses
// its package, and what is expected of both.
type golden struct {
	name    string
	path    string
	archive *txtar.Archive
}

// goldens reads the cases of a folder of testdata.
func goldens(t *testing.T, pattern string) []*golden {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	var all []*golden
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		all = append(all, &golden{
			name:    strings.TrimSuffix(filepath.Base(path), ".txtar"),
			path:    path,
			archive: txtar.Parse(content),
		})
	}
	return all
}

// file returns a file of the case; nil when there is none.
func (g *golden) file(name string) []byte {
	for _, f := range g.archive.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// expect compares a file of the case with what was produced, or writes it.
func (g *golden) expect(t *testing.T, name string, got []byte) {
	t.Helper()
	got = append(bytes.TrimRight(got, "\n"), '\n')
	if !*update {
		require.Equal(t, string(g.file(name)), string(got), "%s: %s differs; go test ./gen -update writes it", g.path, name)
		return
	}
	for i, f := range g.archive.Files {
		if f.Name == name {
			g.archive.Files[i].Data = got
			return
		}
	}
	g.archive.Files = append(g.archive.Files, txtar.File{Name: name, Data: got})
}

// save writes the case back when it was updated.
func (g *golden) save(t *testing.T) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(g.path, txtar.Format(g.archive), 0o644))
	}
}

// generate makes the files of a declaration.
func generate(t *testing.T, source []byte) []gen.OutputFile {
	t.Helper()
	f, err := dsl.Parse("tools.yaml", source)
	require.NoError(t, err)
	files, err := gen.Generate(f, gen.Options{})
	require.NoError(t, err)
	return files
}
