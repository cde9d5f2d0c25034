package ambit_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxBootstrap is the most lines that open and close the journal, the audit log, the
// inbox and the policies of an application, recover it and shut it down.
const maxBootstrap = 15

// TestBootstrapIsShort counts the lines with which the example application, and the one
// that ambit init writes, use package host. With -v it prints them.
func TestBootstrapIsShort(t *testing.T) {
	example, err := filepath.Glob("examples/workspace/*.go")
	require.NoError(t, err)
	for name, paths := range map[string][]string{
		"examples/workspace": example,
		"ambit init":         {"cmd/ambit/cli/internal/author/starter/main.go.tmpl"},
	} {
		var lines []string
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			source := strings.NewReplacer("{{.Name}}", "notes", "{{.Package}}", "notetools", "{{.Module}}", "example.com/notes").Replace(string(text))
			lines = append(lines, bootstrap(t, path, source)...)
			for _, own := range []string{"sqlite.Open(", "audit.New(", "audit.OpenSigner(", "content.Open(", "inbox.Serve(", "opa.Load(", ".Recover(", ".Shutdown(", "NewExecutor("} {
				require.NotContains(t, source, own, "%s opens by itself what package host opens", path)
			}
		}
		t.Logf("%s: %d lines of bootstrap, at most %d\n%s", name, len(lines), maxBootstrap, strings.Join(lines, "\n"))
		require.NotEmpty(t, lines, name)
		require.LessOrEqual(t, len(lines), maxBootstrap, name)
	}
}

// bootstrap returns the lines of the statements of a file that open, run or close a
// host, each with the check of its error that follows it.
func bootstrap(t *testing.T, path, source string) (lines []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	require.NoError(t, err)
	all := strings.Split(source, "\n")
	ast.Inspect(file, func(n ast.Node) bool {
		block, ok := n.(*ast.BlockStmt)
		if !ok {
			return true
		}
		for i, s := range block.List {
			last := s
			switch s.(type) {
			case *ast.AssignStmt, *ast.ExprStmt, *ast.DeferStmt, *ast.ReturnStmt:
			default:
				continue // its blocks are looked at by themselves
			}
			if !usesHost(s) {
				continue
			}
			if i+1 < len(block.List) && checksError(block.List[i+1]) {
				last = block.List[i+1]
			}
			lines = append(lines, all[files.Position(s.Pos()).Line-1:files.Position(last.End()).Line]...)
		}
		return true
	})
	return lines
}

// usesHost reports whether a statement calls host.Open, or Run or Close of a host,
// which the applications call h.
func usesHost(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		if f, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := f.X.(*ast.Ident); ok {
				switch x.Name + "." + f.Sel.Name {
				case "host.Open", "h.Run", "h.Close":
					found = true
				}
			}
		}
		return !found
	})
	return found
}

// checksError reports whether a statement returns the error of the one before it.
func checksError(s ast.Stmt) bool {
	check, ok := s.(*ast.IfStmt)
	if !ok || check.Init != nil {
		return false
	}
	cond, ok := check.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ {
		return false
	}
	x, ok := cond.X.(*ast.Ident)
	return ok && x.Name == "err"
}
