package author

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgramName(t *testing.T) {
	for base, want := range map[string]string{
		"notes": "notes", "My Notes": "my-notes", "9lives": "app-9lives", "": "app", "...": "app", "/": "app",
		"日本": "app", "com1": "app-com1", "vendor": "app-vendor", "-x-": "x", "a\n\"b": "a-b",
		"an extraordinarily long name of a folder that goes on": "an-extraordinarily-long-name-of-a-folder",
	} {
		require.Equal(t, want, programName(base), "%q", base)
	}
}

func TestRequirements(t *testing.T) {
	require.Equal(t, []string{"a.b/c v1.2.3", "d.e/f/v2 v2.0.0-x+incompatible", "g.h/i v0.1.0"}, requirements(`module m

go 1.26.0

require (
	a.b/c v1.2.3 // indirect
	d.e/f/v2 v2.0.0-x+incompatible
)

require g.h/i v0.1.0

replace a.b/c => ../c
`))
}

// TestModelPage: the programs of docs/models.md are what init writes, in 20 lines.
func TestModelPage(t *testing.T) {
	page, err := os.ReadFile("../../../../../docs/models.md")
	require.NoError(t, err)
	for _, p := range providers {
		a := &application{Name: "notes", Module: "example.com/notes", Package: starterPackage, Model: p}
		var text bytes.Buffer
		require.NoError(t, executeStarter(&text, agentTemplate, a))
		_, body, _ := strings.Cut(text.String(), "\nfunc converse(")
		body, _, _ = strings.Cut(body, "\n}\n")
		program := "func converse(" + body + "\n}\n"
		require.LessOrEqual(t, strings.Count(program, "\n"), 20, program)
		require.Contains(t, string(page), "```go\n"+program+"```\n", p.Name)
	}
}

// TestPackageNames: a package of the tools with a predeclared name is refused, or the files of the starter mean with this
// name nothing but the package.
func TestPackageNames(t *testing.T) {
	for _, name := range append(types.Universe.Names(), "init", "documentation", "main") {
		for _, p := range append(slices.Clone(providers), nil) {
			a := &application{Name: "notes", Module: "example.com/notes", Package: name, Model: p}
			if a.refusePackage() != nil {
				continue
			}
			for _, starter := range []string{"starter/main.go.tmpl", "starter/main_test.go.tmpl", agentTemplate} {
				if starter == agentTemplate && p == nil {
					continue
				}
				var text bytes.Buffer
				require.NoError(t, executeStarter(&text, starter, a))
				file, err := parser.ParseFile(token.NewFileSet(), "main.go", text.Bytes(), parser.SkipObjectResolution)
				require.NoError(t, err, name)
				packages := 0
				ast.Inspect(file, func(n ast.Node) bool {
					if s, ok := n.(*ast.SelectorExpr); ok {
						if id, ok := s.X.(*ast.Ident); ok && id.Name == name {
							packages++
							return false
						}
					}
					if id, ok := n.(*ast.Ident); ok {
						require.NotEqual(t, name, id.Name, starter)
					}
					return true
				})
				require.NotZero(t, packages, "%s in %s", name, starter)
			}
		}
	}
	for _, name := range []string{"main", "init", "documentation", "error", "string", "nil", "len"} {
		require.Error(t, (&application{Name: "notes", Module: "example.com/notes", Package: name}).refusePackage(), name)
	}
}

func TestNewest(t *testing.T) {
	require.Equal(t, []string{"a v1.10.0", "b v1.0.0", "c v0.1.0"}, newest([]string{"a v1.9.0", "b v1.0.0"}, []string{"a v1.10.0", "c v0.1.0"}))
	require.Equal(t, "a 1\nb 2\n", string(mergeSums([]byte("b 2\na 1\n"), []byte("a 1\n"))))
}
