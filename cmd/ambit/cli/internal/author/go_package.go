package author

import (
	"cmp"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/project"
	"github.com/ambit-tools/ambit/dsl"
)

// refusePackage refuses a package name when the Go files in the folder of the
// declaration are all of another package: go build takes one package to a folder.
func refusePackage(d *project.Declaration) error {
	if !token.IsIdentifier(d.File.Package) {
		return nil // refused already
	}
	file, other := "", ""
	for _, name := range goFiles(d.Dir) {
		switch pkg := packageOf(filepath.Join(d.Dir, name)); pkg {
		case d.File.Package:
			return nil // files of one more package are no fault of the declaration
		case "", "documentation": // go build passes over package documentation
		default:
			file, other = cmp.Or(file, name), cmp.Or(other, pkg)
		}
	}
	if other == "" {
		return nil
	}
	return dsl.Diagnostics{d.File.Diagnostic(d.File.PackagePos, "write package: "+other,
		"package: %s, but %s in this folder is of package %s", cmdutil.Quote(d.File.Package), cmdutil.Quote(file), cmdutil.Quote(other))}
}

// goFiles are the files in a folder that go build would compile together
// with the generated ones, without tests.
func goFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // writing the generated files reports it
	}
	var names []string
	for _, e := range entries {
		name := e.Name()
		if !e.Type().IsRegular() || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		if built, err := build.Default.MatchFile(dir, name); err == nil && built {
			names = append(names, name)
		}
	}
	return names
}

// packageOf is what the package clause of a Go file says, empty when it has none
// or ambit itself generated the file.
func packageOf(path string) string {
	content, err := os.ReadFile(path)
	if err != nil || project.HasHeader(content) {
		return ""
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, content, parser.PackageClauseOnly)
	if err != nil {
		return ""
	}
	return f.Name.Name
}
