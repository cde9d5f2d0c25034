package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// shown are the packages whose types a user fills in and reads first.
var shown = []string{"runtime", "runtime/engine", "runtime/host", "runtime/opa"}

// opaque are types that are defined as one of an internal package, and why nothing is hidden by that.
var opaque = map[string]string{
	"runtime.Facts": "it has no exported fields, and declares its methods itself",
}

// TestTypesAreDefinedWhereTheyArePublic requires that go doc shows what the exported types of a package have. An alias
// shows nothing, and neither does a type that is defined as one of another name or embeds one that a reader cannot look up.
func TestTypesAreDefinedWhereTheyArePublic(t *testing.T) {
	count := map[string]int{}
	eachGoFile(t, func(name string, file *ast.File, fset *token.FileSet) {
		dir := filepath.ToSlash(filepath.Dir(name))
		if !slices.Contains(shown, dir) || strings.HasSuffix(name, "_test.go") {
			return
		}
		for spec := range exportedTypes(file) {
			count[dir]++
			for _, why := range hidden(file, spec) {
				if opaque[file.Name.Name+"."+spec.Name.Name] != "" && strings.HasPrefix(why, "is defined as") {
					continue
				}
				t.Errorf("%s: %s %s", fset.Position(spec.Pos()), spec.Name, why)
			}
		}
	})
	for _, dir := range shown {
		require.NotZero(t, count[dir], "%s has no exported types", dir)
	}
}

// TestHidden: each way to hide what a type has is found, and a type that shows it is not.
func TestHidden(t *testing.T) {
	for text, want := range map[string]string{
		"type T = other.T":                                "alias",
		"type T = u":                                      "alias",
		"type T other.T":                                  "is defined as other.T",
		"type T *other.T":                                 "is defined as a pointer",
		"type T u":                                        "is defined as u",
		"type T other.G[int]":                             "is defined as other.G",
		"type T struct{ u }":                              "embeds u",
		"type T struct{ *u }":                             "embeds u",
		"type T struct{ inner.T }":                        "embeds inner.T",
		"type T interface{ inner.T }":                     "embeds inner.T",
		"type T struct{ other.T; f inner.T }":             "",
		"type T struct{ F int }":                          "",
		"type T uint8":                                    "",
		"type T func(other.T)":                            "",
		"type T []other.T":                                "",
		"type T map[string]other.T":                       "",
		"type T interface{ other.I; error; M() inner.T }": "",
		"type T interface{ ~string | ~int64 }":            "",
		"type t = other.T":                                "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", "package p\nimport (\"x/other\"; \"x/internal/inner\")\n"+text, 0)
		require.NoError(t, err)
		var found []string
		for spec := range exportedTypes(file) {
			found = append(found, hidden(file, spec)...)
		}
		if want == "" {
			assert.Empty(t, found, text)
		} else {
			assert.Contains(t, strings.Join(found, "\n"), want, text)
		}
	}
}

// exportedTypes yields the exported types that a file declares.
func exportedTypes(file *ast.File) func(func(*ast.TypeSpec) bool) {
	return func(yield func(*ast.TypeSpec) bool) {
		for _, decl := range file.Decls {
			d, ok := decl.(*ast.GenDecl)
			if !ok || d.Tok != token.TYPE {
				continue
			}
			for _, spec := range d.Specs {
				if s := spec.(*ast.TypeSpec); s.Name.IsExported() && !yield(s) {
					return
				}
			}
		}
	}
}

// hidden says what go doc does not show of a type.
func hidden(file *ast.File, spec *ast.TypeSpec) (why []string) {
	if spec.Assign.IsValid() {
		return []string{"is an alias: define it here, and convert where another package has the same fields"}
	}
	embedded := func(fields *ast.FieldList) {
		for _, f := range fields.List {
			if len(f.Names) == 0 && !lookedUp(file, f.Type) {
				why = append(why, "embeds "+nameOf(f.Type)+", which a reader cannot look up: name its fields")
			}
		}
	}
	switch typ := spec.Type.(type) {
	case *ast.StructType:
		embedded(typ.Fields)
	case *ast.InterfaceType:
		for _, m := range typ.Methods.List {
			if _, method := m.Type.(*ast.FuncType); !method {
				embedded(&ast.FieldList{List: []*ast.Field{m}})
			}
		}
	case *ast.StarExpr:
		why = append(why, "is defined as a pointer")
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr, *ast.IndexListExpr:
		if id, basic := typ.(*ast.Ident); !basic || !predeclared(id.Name) {
			why = append(why, "is defined as "+nameOf(typ)+": write its fields here")
		}
	}
	return why
}

// lookedUp reports whether a reader of the documentation can look an embedded type up.
func lookedUp(file *ast.File, typ ast.Expr) bool {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return lookedUp(file, typ.X)
	case *ast.IndexExpr:
		return lookedUp(file, typ.X)
	case *ast.IndexListExpr:
		return lookedUp(file, typ.X)
	case *ast.Ident:
		return typ.IsExported() || predeclared(typ.Name)
	case *ast.SelectorExpr:
		for _, imp := range file.Imports {
			name, _ := strconv.Unquote(imp.Path.Value)
			as := path.Base(name)
			if imp.Name != nil {
				as = imp.Name.Name
			}
			if as == nameOf(typ.X) {
				return !slices.Contains(strings.Split(name, "/"), "internal")
			}
		}
	}
	_, union := typ.(*ast.BinaryExpr)
	_, tilde := typ.(*ast.UnaryExpr)
	return union || tilde
}

// predeclared reports whether a name is a type of the language.
func predeclared(name string) bool { return types.Universe.Lookup(name) != nil }

// nameOf returns the name of a type, without its arguments.
func nameOf(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.Ident:
		return typ.Name
	case *ast.SelectorExpr:
		return nameOf(typ.X) + "." + typ.Sel.Name
	case *ast.StarExpr:
		return nameOf(typ.X)
	case *ast.IndexExpr:
		return nameOf(typ.X)
	case *ast.IndexListExpr:
		return nameOf(typ.X)
	}
	return "a type without a name"
}
