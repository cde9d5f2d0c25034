package ambit_test

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/ambit-tools/ambit"

// The budget of docs/architecture.md: a file has one concern, a function one idea.
const (
	maxFileLines     = 400
	maxFunctionLines = 60
)

// fences says, per package, which modules besides the standard library a build
// of it may link. Packages of our own are named by their path in the module.
// An entry ending in /... covers a package and all below it.
var fences = map[string][]string{
	"runtime/wire":       {},
	"runtime/rules":      {},
	"runtime/consent":    {"runtime/wire", "runtime/internal/walk"},
	"runtime/journal":    {"runtime/wire", "runtime/rules", "runtime/consent", "runtime/internal/walk"},
	"runtime/audit":      {"runtime/journal", "@runtime/journal", "golang.org/x/mod"},
	"runtime":            {"runtime/wire", "runtime/rules", "runtime/consent", "runtime/journal", "runtime/internal/..."},
	"runtime/content":    {"runtime/internal/disk"},
	"runtime/workspace":  {"runtime", "@runtime", "runtime/content", "github.com/rogpeppe/go-internal"},
	"runtime/sqltx":      {"runtime", "@runtime"},
	"runtime/state":      {"runtime", "@runtime"},
	"policies":           {},
	"dsl/yamldoc":        {"gopkg.in/yaml.v3"},
	"dsl":                {"dsl/yamldoc", "gopkg.in/yaml.v3", "github.com/invopop/jsonschema", "github.com/pb33f/ordered-map/v2", "github.com/bahlo/generic-list-go", "github.com/buger/jsonparser", "go.yaml.in/yaml/v4"},
	"gen/internal/ir":    {"dsl", "runtime/wire", "@dsl"},
	"gen/internal/emit":  {"gen/internal/ir", "dsl", "runtime/wire", "@dsl", "github.com/dave/jennifer", "golang.org/x/tools", "golang.org/x/mod", "golang.org/x/sync"},
	"gen":                {"gen/internal/...", "dsl", "runtime/wire", "@gen/internal/emit"},
	"gen/dynamic":        {"gen/internal/ir", "dsl", "runtime", "@runtime", "@dsl"},
	"runtime/opa":        {"runtime", "@runtime", "policies", "*"},
	"runtime/terminal":   {"runtime", "@runtime", "golang.org/x/term", "golang.org/x/sys"},
	"runtime/scenario":   {"runtime", "@runtime", "dsl", "gen/dynamic", "@gen/dynamic", "@dsl"},
	"runtime/replay":     {"runtime", "@runtime", "dsl", "gen/dynamic", "@gen/dynamic", "@dsl"},
	"runtime/scripttest": {"runtime", "@runtime", "github.com/rogpeppe/go-internal", "golang.org/x/sys", "golang.org/x/tools"},

	"runtime/runtimetest":        {"runtime/journal", "@runtime/journal"},
	"runtime/sqlite":             {"runtime/journal", "@runtime/journal", "runtime/internal/oslock", "@runtime/internal/simdisk"},
	"runtime/internal/crashtest": {},
	"runtime/internal/mutant":    {},
	"runtime/internal/simdisk":   {"golang.org/x/sys", "modernc.org", "github.com/dustin/go-humanize", "github.com/google/uuid", "github.com/mattn/go-isatty", "github.com/ncruces/go-strftime", "github.com/remyoudompheng/bigfft"},
	"runtime/inbox":              {"runtime", "@runtime", "golang.org/x/sys"},
	"runtime/internal/oslock":    {"golang.org/x/sys"},
}

// TestImportFences holds the import rules of docs/architecture.md by what the
// linker would see, so that a transitive import counts too.
func TestImportFences(t *testing.T) {
	for pkg, allowed := range fences {
		t.Run(pkg, func(t *testing.T) {
			allowed := expand(allowed)
			for _, dep := range deps(t, pkg) {
				require.Truef(t, permits(allowed, pkg, dep), "%s may not depend on %s", pkg, dep)
			}
		})
	}
}

// expand replaces @pkg by what pkg may depend on.
func expand(allowed []string) []string {
	var out []string
	for _, a := range allowed {
		if name, ok := strings.CutPrefix(a, "@"); ok {
			out = append(out, expand(fences[name])...)
			continue
		}
		out = append(out, a)
	}
	return out
}

func permits(allowed []string, pkg, dep string) bool {
	own, isOwn := strings.CutPrefix(dep, module+"/")
	if isOwn && own == pkg {
		return true
	}
	for _, a := range allowed {
		switch {
		case a == "*" && !isOwn:
			return true
		case isOwn && (own == a || strings.HasSuffix(a, "/...") && strings.HasPrefix(own, strings.TrimSuffix(a, "..."))):
			return true
		case !isOwn && (dep == a || strings.HasPrefix(dep, a+"/")):
			return true
		}
	}
	return false
}

// deps lists the packages outside the standard library that pkg links.
func deps(t *testing.T, pkg string) []string {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./"+pkg)
	out, err := cmd.Output()
	require.NoError(t, err)
	return strings.Fields(string(out))
}

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
// library, runtime and runtime/wire.
func TestGeneratedImports(t *testing.T) {
	allowed := []string{module + "/runtime", module + "/runtime/wire"}
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

// TestSizeBudget fails for a file or function that has outgrown its one concern.
func TestSizeBudget(t *testing.T) {
	eachGoFile(t, func(path string, file *ast.File, fset *token.FileSet) {
		if generated(file) {
			return
		}
		lines := fset.File(file.Pos()).LineCount()
		if lines > maxFileLines {
			t.Errorf("%s has %d lines, the budget is %d: give each concern a file of its own", path, lines, maxFileLines)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if fn, ok := n.(*ast.FuncDecl); ok && fn.Body != nil {
				n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1
				if n > maxFunctionLines {
					t.Errorf("%s: %s has %d lines, the budget is %d", fset.Position(fn.Pos()), fn.Name.Name, n, maxFunctionLines)
				}
			}
			return true
		})
	})
}

// TestExportedNamesAreDocumented requires a sentence for whatever users can see.
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

// TestNoPackageHasInit keeps work out of program start.
func TestNoPackageHasInit(t *testing.T) {
	eachGoFile(t, func(path string, file *ast.File, fset *token.FileSet) {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				t.Errorf("%s: init does work at program start", fset.Position(fn.Pos()))
			}
		}
	})
}

func generated(file *ast.File) bool { return ast.IsGenerated(file) }

// eachGoFile calls f for every Go file of the module, testdata aside.
func eachGoFile(t *testing.T, f func(path string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
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
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		f(path, file, fset)
		return nil
	})
	require.NoError(t, err)
}

// TestReadmeIsShort keeps the first 60 lines of the README enough to start.
func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var before int
	scan := bufio.NewScanner(bytes.NewReader(text))
	for scan.Scan() {
		before++
		if scan.Text() == "## Details" {
			break
		}
	}
	require.LessOrEqual(t, before, 60, "the README has %d lines before its details", before)
	require.Contains(t, string(text), "\n## Details\n")
}
