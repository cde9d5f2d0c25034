package plan

import (
	goast "go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/ir"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typesIn returns the names of the statement types that a Go file declares.
func typesIn(t *testing.T, file string) (names []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	require.NoError(t, err)
	for _, d := range f.Decls {
		gen, ok := d.(*goast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range gen.Specs {
			if s, ok := s.(*goast.TypeSpec); ok && strings.HasSuffix(s.Name.Name, "Stmt") && s.Name.Name != "Stmt" && s.Name.Name != "locationStmt" {
				names = append(names, s.Name.Name)
			}
		}
	}
	return names
}

// cased returns the types of OPA's plans that the package names in a case or an assertion.
func cased(t *testing.T) map[string]bool {
	t.Helper()
	named := map[string]bool{}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "hoist.go" || file == "print.go" {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		require.NoError(t, err)
		add := func(e goast.Expr) {
			if star, ok := e.(*goast.StarExpr); ok {
				if sel, ok := star.X.(*goast.SelectorExpr); ok {
					named[sel.Sel.Name] = true
				}
			}
		}
		goast.Inspect(f, func(n goast.Node) bool {
			switch n := n.(type) {
			case *goast.CaseClause:
				for _, e := range n.List {
					add(e)
				}
			case *goast.TypeAssertExpr:
				add(n.Type)
			}
			return true
		})
	}
	return named
}

// An OPA whose plans have a new statement fails here first.
func TestStatementsAreKnown(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/open-policy-agent/opa").Output()
	require.NoError(t, err)
	names := typesIn(t, filepath.Join(strings.TrimSpace(string(out)), "v1", "ir", "ir.go"))
	require.GreaterOrEqual(t, len(names), 31)
	named := cased(t)
	for _, name := range names {
		assert.True(t, named[name], "no file names *ir.%s", name)
	}
}

// A newStmt is a statement that the package does not know.
type newStmt struct{ ir.Location }

// A plan with an unknown statement, operand or function is not used.
func TestUnknownIsLoud(t *testing.T) {
	for want, s := range map[string]ir.Stmt{
		"newStmt":                    &newStmt{},
		"there is no built-in func":  &ir.CallStmt{Func: "time.of_day"},
		"an operand is a <nil>":      &ir.EqualStmt{},
		"is called with 0 operands":  &ir.CallStmt{Func: "f"},
		"*plan.newStmt, which is no": &ir.NotStmt{Block: &ir.Block{Stmts: []ir.Stmt{&newStmt{}}}},
	} {
		block := []*ir.Block{{Stmts: []ir.Stmt{s}}}
		_, err := Compile(&ir.Policy{
			Plans: &ir.Plans{Plans: []*ir.Plan{{Blocks: block}}},
			Funcs: &ir.Funcs{Funcs: []*ir.Func{{Name: "f", Params: []ir.Local{0, 1}}}},
		}, ast.ObjectTerm(), nil)
		require.ErrorContains(t, err, want)
	}
	for _, p := range []*ir.Policy{nil, {}, {Plans: &ir.Plans{}}} {
		_, err := Compile(p, ast.ObjectTerm(), nil)
		require.ErrorContains(t, err, "not one query")
	}
}
