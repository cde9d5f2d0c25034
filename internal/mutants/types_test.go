package mutants

import (
	"cmp"
	"errors"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/stretchr/testify/require"
)

// TestEveryMutantTypeChecks finds a patch that applies and does not compile any more, long before the tests of all
// mutants are run.
func TestEveryMutantTypeChecks(t *testing.T) {
	if !battery.Full(t) {
		t.Skip("it checks the types of dozens of packages: AMBIT_BATTERY=ci does")
	}
	type applied struct{ name, file, text string }
	folders := map[string][]applied{}
	for _, p := range patches(t) {
		if file, text, err := p.Apply(root); err == nil { // else the tests of its package say so
			folders[path.Dir(file)] = append(folders[path.Dir(file)], applied{p.Name, file, text})
		}
	}
	c := newChecker(t, folders)
	for dir, list := range folders {
		files := c.parse(t, dir)
		for _, a := range list {
			if err := c.check(dir, files, a.file, a.text); err != nil {
				t.Errorf("%s does not compile: make the patch anew: %v", a.name, err)
			}
		}
	}
}

// A checker checks the types of packages whose imports are compiled already.
type checker struct {
	files *token.FileSet
	types types.Config
}

func newChecker[T any](t *testing.T, folders map[string]T) *checker {
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}")
	list.Dir, list.Stderr = root, os.Stderr
	for dir := range folders {
		list.Args = append(list.Args, "./"+dir)
	}
	text, err := list.Output()
	require.NoError(t, err)
	compiled := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		compiled[name] = file
	}
	c := &checker{files: token.NewFileSet()}
	c.types.Importer = importer.ForCompiler(c.files, "gc", func(name string) (io.ReadCloser, error) { return os.Open(compiled[name]) })
	return c
}

// parse parses the files of a package, by their paths from the root.
func (c *checker) parse(t *testing.T, dir string) map[string]*source {
	pkg, err := build.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
	require.NoError(t, err)
	files := map[string]*source{}
	for _, name := range pkg.GoFiles {
		text, err := os.ReadFile(filepath.Join(pkg.Dir, name))
		require.NoError(t, err)
		whole, err := parser.ParseFile(c.files, name, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		s := &source{whole: whole, outline: c.outline(whole, text)}
		s.bare, err = parser.ParseFile(c.files, name, s.outline, parser.SkipObjectResolution)
		require.NoError(t, err)
		files[path.Join(dir, name)] = s
	}
	return files
}

// A source is a file of a package.
type source struct {
	whole   *ast.File
	bare    *ast.File // without the bodies of functions
	outline string    // the text of bare
}

// outline returns the text of a file without the bodies of functions: what other
// files can see of it. Those of generic functions stay, which have to have one.
func (c *checker) outline(file *ast.File, text []byte) string {
	var out strings.Builder
	at := file.FileStart
	offset := func(p token.Pos) int { return int(p - file.FileStart) }
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil || fn.Type.TypeParams != nil || fn.Recv != nil && generic(fn.Recv.List[0].Type) {
			continue
		}
		out.Write(text[offset(at):offset(fn.Body.Pos())])
		at = fn.Body.End()
	}
	out.Write(text[offset(at):])
	return out.String()
}

// generic says whether the type of a receiver has parameters.
func generic(receiver ast.Expr) bool {
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	_, plain := receiver.(*ast.Ident)
	return !plain
}

// check says why a package does not compile when one of its files has another text.
// Where only the body of a function differs those of the other files are the same.
func (c *checker) check(dir string, files map[string]*source, file, text string) error {
	changed, err := parser.ParseFile(c.files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	inside := c.outline(changed, []byte(text)) == files[file].outline
	list := []*ast.File{changed}
	for name, f := range files {
		switch {
		case name == file:
		case inside:
			list = append(list, f.bare)
		default:
			list = append(list, f.whole)
		}
	}
	var wrong error
	check := c.types
	check.Error = func(err error) {
		var e types.Error
		// An import that only a body uses is not used in a bare file.
		if errors.As(err, &e) && inside && c.files.File(e.Pos) != c.files.File(changed.Pos()) {
			return
		}
		wrong = cmp.Or(wrong, err)
	}
	_, _ = check.Check(dir, c.files, list, nil) // check.Error is told
	return wrong
}

// TestCheckerNotices holds that the short way of the check finds what does not
// compile, in a body and outside of one.
func TestCheckerNotices(t *testing.T) {
	const dir, file = "internal/mutants", "internal/mutants/patch.go"
	c := newChecker(t, map[string]bool{dir: true})
	files := c.parse(t, dir)
	whole, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	require.NoError(t, err)
	text := string(whole)
	require.NoError(t, c.check(dir, files, file, text))
	for _, change := range []struct{ what, old, changed string }{
		{"a body", "p.Breaks = sentence", "p.Breaks = i"},
		{"another body", "build := exec.Command(", "build := exec.Commands("},
		{"a member that other bodies use", "	Name    string", "	Name    int   "},
		{"a signature that another file uses", "func Read(dir string)", "func Read(dir int)"},
	} {
		require.Equal(t, 1, strings.Count(text, change.old), change.what)
		require.Error(t, c.check(dir, files, file, strings.Replace(text, change.old, change.changed, 1)), change.what)
	}
}
