package runtime_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exportedNames returns the exported names of a package that has files in dir.
func exportedNames(t *testing.T, dir string, files []string) map[string]bool {
	names := map[string]bool{}
	add := func(id *ast.Ident) {
		if id.IsExported() {
			names[id.Name] = true
		}
	}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						add(s.Name)
					case *ast.ValueSpec:
						for _, id := range s.Names {
							add(id)
						}
					}
				}
			}
		}
	}
	return names
}

// TestNoNameOfTheStandardRuntime keeps a missing import from silently meaning the
// standard library's package.
func TestNoNameOfTheStandardRuntime(t *testing.T) {
	// A test that was built with -trimpath knows no GOROOT.
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	require.NoError(t, err)
	of := build.Default
	of.GOROOT = strings.TrimSpace(string(goroot))
	std, err := of.Import("runtime", "", 0)
	require.NoError(t, err)
	theirs := exportedNames(t, std.Dir, std.GoFiles)
	require.True(t, theirs["Gosched"] && theirs["Error"] && theirs["GOOS"], "the standard names were found")
	own, err := build.ImportDir(".", 0)
	require.NoError(t, err)
	ours := exportedNames(t, ".", own.GoFiles)
	require.True(t, ours["NewRegistry"])
	for name := range ours {
		assert.False(t, theirs[name], "package runtime of the standard library exports %s, too: rename ours", name)
	}
}
