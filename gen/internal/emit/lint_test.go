package emit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOnlyHelpersTakeText holds that jen.go alone hands text to jennifer where
// it becomes source as it is: everywhere else such an argument is a literal.
func TestOnlyHelpersTakeText(t *testing.T) {
	raw := []string{"Id", "Dot", "Op", "Comment", "Commentf", "Qual", "Tag", "Custom", "CustomFunc", "HeaderComment", "PackageComment"}
	for name, file := range sources(t) {
		if name == "jen.go" {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains(raw, method.Sel.Name) {
				return true
			}
			for _, arg := range call.Args {
				require.True(t, harmless(arg), "%s: %s of something that is no literal: use a helper of jen.go", name, method.Sel.Name)
			}
			return true
		})
	}
}

// harmless reports whether an argument is fixed, or was checked by a helper.
func harmless(arg ast.Expr) bool {
	switch arg := arg.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return arg.Name == "runtimePath" || arg.Name == "wirePath"
	case *ast.CallExpr:
		f, ok := arg.Fun.(*ast.Ident)
		return ok && f.Name == "goIdent"
	}
	return false
}

// TestOnlyImporterOfJennifer holds the other half: what is not here cannot
// write Go source by jennifer at all.
func TestOnlyImporterOfJennifer(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.Contains(path, filepath.Join("internal", "emit")) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return nil // a fixture that is no Go
		}
		for _, spec := range file.Imports {
			require.NotContains(t, spec.Path.Value, "dave/jennifer", path)
		}
		return nil
	})
	require.NoError(t, err)
}

func sources(t *testing.T) map[string]*ast.File {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)
	files := map[string]*ast.File{}
	for _, path := range paths {
		if !strings.HasSuffix(path, "_test.go") {
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			require.NoError(t, err)
			files[path] = file
		}
	}
	return files
}
