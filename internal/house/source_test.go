package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOnlyEmitImportsJennifer keeps the emitter replaceable.
func TestOnlyEmitImportsJennifer(t *testing.T) {
	eachGoFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		for _, imp := range file.Imports {
			if strings.Contains(imp.Path.Value, "dave/jennifer") {
				require.Equal(t, "gen/internal/emit", filepath.ToSlash(filepath.Dir(path)), "%s imports jennifer", path)
			}
		}
	})
}

// TestTestifyStaysInTests keeps assertion libraries out of binaries.
func TestTestifyStaysInTests(t *testing.T) {
	eachGoFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		for _, imp := range file.Imports {
			if strings.Contains(imp.Path.Value, "stretchr/testify") {
				require.True(t, strings.HasSuffix(path, "_test.go"), "%s imports testify outside a test", path)
			}
		}
	})
}

// TestGeneratedImports holds what generated code may import: the standard
// library, runtime, runtime/wire, and of commands runtime/command/argv.
func TestGeneratedImports(t *testing.T) {
	allowed := []string{module + "/runtime", module + "/runtime/wire", module + "/runtime/command/argv"}
	eachGoFile(t, func(path string, file *ast.File, _ *token.FileSet) {
		if !generated(file) {
			return
		}
		for _, imp := range file.Imports {
			name := strings.Trim(imp.Path.Value, `"`)
			first, _, _ := strings.Cut(name, "/")
			require.True(t, !strings.Contains(first, ".") || slices.Contains(allowed, name), "%s imports %s", path, name)
		}
	})
}

// TestExportedNamesAreDocumented requires a sentence for each exported name.
func TestExportedNamesAreDocumented(t *testing.T) {
	eachGoFile(t, func(path string, file *ast.File, fset *token.FileSet) {
		if strings.HasSuffix(path, "_test.go") || file.Name.Name == "main" {
			return
		}
		for _, decl := range file.Decls {
			for _, name := range undocumented(decl) {
				t.Errorf("%s: exported %s has no doc comment", fset.Position(decl.Pos()), name)
			}
		}
	})
}

func undocumented(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && (d.Recv == nil || receiverExported(d.Recv)) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		return undocumentedSpecs(d)
	}
	return nil
}

func undocumentedSpecs(d *ast.GenDecl) []string {
	var out []string
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
				out = append(out, s.Name.Name)
			}
		case *ast.ValueSpec:
			if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
				out = append(out, s.Names[0].Name)
			}
		}
	}
	return out
}

func receiverExported(recv *ast.FieldList) bool {
	exported := false
	ast.Inspect(recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && !exported {
			exported = id.IsExported()
			return false
		}
		return true
	})
	return exported
}

// atStart names the files whose init has to run before the program can do anything else, with the
// reason.
var atStart = map[string]string{
	"runtime/opa/internal/plan/prepare.go": "OPA reads its table of targets, which is one for the process, without a lock",
}

// TestNoPackageHasInit keeps work out of program start.
func TestNoPackageHasInit(t *testing.T) {
	eachGoFile(t, func(path string, file *ast.File, fset *token.FileSet) {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" && atStart[path] == "" {
				t.Errorf("%s: init does work at program start", fset.Position(fn.Pos()))
			}
		}
	})
}

func generated(file *ast.File) bool { return ast.IsGenerated(file) }

// eachGoFile calls f for every Go file of the module, testdata aside.
func eachGoFile(t *testing.T, f func(path string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	files, err := goFiles()
	require.NoError(t, err)
	for _, file := range files {
		f(file.path, file.tree, file.fset)
	}
}

type goFile struct {
	path string
	tree *ast.File
	fset *token.FileSet
}

var goFiles = sync.OnceValues(func() (files []goFile, err error) {
	fset := token.NewFileSet()
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if name == "testdata" || len(name) > 1 && (name[0] == '.' || name[0] == '_') {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, goFile{path, file, fset})
		return nil
	})
	return files, err
})
