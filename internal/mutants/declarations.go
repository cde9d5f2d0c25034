package mutants

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A Declaration is the source of a function, or of a type, variable or constant of
// a package.
type Declaration struct {
	Package     string // its name
	File        string // from the root of the module, with slashes
	lines       []string
	first, last int // of its lines in the file, from 0; last is not one of them
}

// Declarations returns the declarations of a name in the packages of a module, without
// tests: f, T.m or (*T).m, without type parameters, or the same after the name of a package
// and a point. Several packages may have one.
func Declarations(root, name string) ([]*Declaration, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	once, _ := indexes.LoadOrStore(abs, sync.OnceValues(func() (index, error) { return readIndex(abs) }))
	x, err := once.(func() (index, error))()
	return x[name], err
}

// An index has the declarations of a module by their names.
type index map[string][]*Declaration

var indexes sync.Map // of func() (index, error), by root: a test asks for hundreds

func readIndex(root string) (index, error) {
	x := index{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || isModule(path)):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		return x.read(root, path)
	})
	return x, err
}

// isModule reports whether a directory is that of another module.
func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// read adds the declarations of a file.
func (x index) read(root, path string) error {
	source, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("mutants: %w", err)
	}
	rel, err := filepath.Rel(root, path)
	if err != nil {
		return err
	}
	lines := strings.Split(string(source), "\n")
	add := func(name string, n ast.Node) {
		d := &Declaration{
			Package: tree.Name.Name, File: filepath.ToSlash(rel), lines: lines,
			first: files.Position(n.Pos()).Line - 1, last: files.Position(n.End()).Line,
		}
		x[name] = append(x[name], d)
		x[d.Package+"."+name] = append(x[d.Package+"."+name], d)
	}
	for _, decl := range tree.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			add(funcName(decl), decl)
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					add(spec.Name.Name, spec)
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						add(id.Name, spec)
					}
				}
			}
		}
	}
	return nil
}

// funcName returns f, T.m or (*T).m.
func funcName(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	t, pointer := f.Recv.List[0].Type, false
	if star, ok := t.(*ast.StarExpr); ok {
		t, pointer = star.X, true
	}
	switch generic := t.(type) {
	case *ast.IndexExpr:
		t = generic.X
	case *ast.IndexListExpr:
		t = generic.X
	}
	name := t.(*ast.Ident).Name // the parser has refused all else
	if pointer {
		name = "(*" + name + ")"
	}
	return name + "." + f.Name.Name
}

// find returns where in the file lines of d begin that are those of want. How far
// they are indented does not count.
func (d *Declaration) find(want []string) (at []int) {
	for i := d.first; i+len(want) <= d.last; i++ {
		same := true
		for k := range want {
			same = same && strings.TrimSpace(d.lines[i+k]) == strings.TrimSpace(want[k])
		}
		if same {
			at = append(at, i)
		}
	}
	return at
}

// replace returns the file with other lines in the place of n from at.
func (d *Declaration) replace(at, n int, by []string) string {
	var b strings.Builder
	for i, line := range d.lines {
		if i == at {
			for _, line := range by {
				b.WriteString(line + "\n")
			}
		}
		if i < at || i >= at+n {
			b.WriteString(line)
			if i < len(d.lines)-1 {
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}
