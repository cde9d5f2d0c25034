package mutants

import (
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

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

// TestEveryMutantTypeChecks finds a patch that applies and does not compile any
// more, long before the tests of all mutants are run.
func TestEveryMutantTypeChecks(t *testing.T) {
	folders := map[string][]*mutant.Patch{}
	for _, p := range patches(t) {
		dir := path.Dir(p.File)
		folders[dir] = append(folders[dir], p)
	}
	c := newChecker(t, folders)
	for dir, list := range folders {
		files := c.parse(t, dir)
		for _, p := range list {
			if text, err := p.Apply(root); err == nil { // else TestEveryPatchApplies says so
				if err := c.check(dir, files, p.File, text); err != nil {
					t.Errorf("%s does not compile: make the patch anew: %v", p.Name, err)
				}
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
func (c *checker) parse(t *testing.T, dir string) map[string]*ast.File {
	pkg, err := build.ImportDir(filepath.Join(root, filepath.FromSlash(dir)), 0)
	require.NoError(t, err)
	files := map[string]*ast.File{}
	for _, name := range pkg.GoFiles {
		files[path.Join(dir, name)], err = parser.ParseFile(c.files, filepath.Join(pkg.Dir, name), nil, parser.SkipObjectResolution)
		require.NoError(t, err)
	}
	return files
}

// check says why a package does not compile when one of its files has another text.
func (c *checker) check(dir string, files map[string]*ast.File, file, text string) error {
	changed, err := parser.ParseFile(c.files, file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	list := []*ast.File{changed}
	for name, f := range files {
		if name != file {
			list = append(list, f)
		}
	}
	_, err = c.types.Check(dir, c.files, list, nil)
	return err
}
