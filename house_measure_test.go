package ambit_test

import (
	"errors"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

// measured is what was measured of the module.
type measured struct {
	figures  map[string]float64
	comments []commentCount
}

func measure(t *testing.T) *measured {
	t.Helper()
	m := &measured{figures: map[string]float64{}}
	parsed := map[string]*ast.File{}
	var fset *token.FileSet // one for all files
	eachGoFile(t, func(name string, file *ast.File, files *token.FileSet) {
		name, fset = filepath.ToSlash(name), files
		parsed[name] = file
		if strings.HasSuffix(name, "_test.go") || generated(file) {
			return
		}
		if dir := path.Dir(name); dir == "runtime" || dir == "runtime/engine" || dir == "runtime/isolate" { // of all systems
			m.figures[dir+lines] += float64(fset.File(file.Pos()).LineCount())
		}
		m.comments = append(m.comments, countComments(name, file))
	})
	m.figures[pronouns] = perThousand(m.comments)
	for _, p := range checkTypes(t, fset, parsed, battery.Full(t)) {
		m.figures[p.dir+group] = float64(len(largestGroup(p.uses(fset))))
		if p.dir == "runtime" || p.dir == "runtime/engine" {
			m.figures[p.dir+exports] = float64(exportedNames(p.types))
		}
		if p.dir == engineDir() {
			fields, methods, err := sizeOf(p.types, "call")
			require.NoError(t, err)
			m.figures[callFields], m.figures[callMethods] = float64(fields), float64(methods)
			fields, methods = reachOf(p.types, "call")
			m.figures[fieldsInReach], m.figures[methodsInReach] = float64(fields), float64(methods)
		}
	}
	return m
}

// engineDir returns the folder of the package that executes calls.
func engineDir() string {
	if _, err := os.Stat("runtime/engine"); err == nil {
		return "runtime/engine"
	}
	return "runtime"
}

// A typedPackage is a package whose types were checked.
type typedPackage struct {
	dir   string
	types *types.Package
	info  *types.Info
}

// checkTypes checks the types of the packages of the module, without their tests: of all, or of those only that
// a ceiling could hold. What a package imports is read from the build cache.
func checkTypes(t *testing.T, fset *token.FileSet, parsed map[string]*ast.File, all bool) []*typedPackage {
	t.Helper()
	const format = `{{.ImportPath}}|{{.Export}}{{with .Module}}{{if .Main}}{{range $.GoFiles}}|{{.}}{{end}}{{end}}{{end}}`
	list := exec.Command("go", "list", "-export", "-deps", "-f", format, "./...")
	list.Stderr = os.Stderr
	text, err := list.Output()
	require.NoError(t, err)
	compiled, sources := map[string]string{}, map[string][]*ast.File{}
	for line := range strings.Lines(string(text)) {
		words := strings.Split(strings.TrimSpace(line), "|")
		compiled[words[0]] = words[1]
		for _, name := range words[2:] {
			file := parsed[path.Join(dirOf(words[0]), name)]
			require.NotNil(t, file, "%s of %s", name, words[0])
			sources[words[0]] = append(sources[words[0]], file)
		}
	}
	exported := importer.ForCompiler(fset, "gc", func(name string) (io.ReadCloser, error) { return os.Open(compiled[name]) })
	var out []*typedPackage
	for name, files := range sources {
		if dir := dirOf(name); !all && dir != "runtime" && dir != engineDir() && len(files) <= maxGroup {
			continue // its files form no group that is too large
		}
		p, err := typecheck(name, fset, files, exported)
		require.NoError(t, err)
		out = append(out, p)
	}
	return out
}

// dirOf returns the folder of a package of the module.
func dirOf(importPath string) string {
	return path.Clean("./" + strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/"))
}

func typecheck(name string, fset *token.FileSet, files []*ast.File, imports types.Importer) (*typedPackage, error) {
	p := &typedPackage{dir: dirOf(name), info: &types.Info{Uses: map[*ast.Ident]types.Object{}}}
	config := types.Config{Importer: imports}
	var err error
	p.types, err = config.Check(name, fset, files, p.info)
	return p, err
}

// uses returns, for each file, the files that declare the names of the package and the
// methods that it mentions. Members of structs and local names do not count.
func (p *typedPackage) uses(fset *token.FileSet) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for id, used := range p.info.Uses {
		if used.Pkg() != p.types {
			continue
		}
		if v, ok := used.(*types.Var); ok && v.Parent() != p.types.Scope() {
			continue
		}
		from, to := fset.File(id.Pos()).Name(), fset.File(used.Pos()).Name()
		if out[from] == nil {
			out[from] = map[string]bool{}
		}
		out[from][to] = true
	}
	return out
}

// largestGroup returns the files of the largest strongly connected component: each
// leads to every other one. A file alone is a group of one.
func largestGroup(uses map[string]map[string]bool) (largest []string) {
	reach := map[string]map[string]bool{}
	for file := range uses {
		seen := map[string]bool{file: true}
		follow(uses, file, seen)
		reach[file] = seen
	}
	for file, seen := range reach {
		var members []string
		for other := range seen {
			if reach[other][file] {
				members = append(members, other)
			}
		}
		slices.Sort(members)
		if len(members) > len(largest) || len(members) == len(largest) && slices.Compare(members, largest) < 0 {
			largest = members
		}
	}
	return largest
}

func follow(uses map[string]map[string]bool, file string, seen map[string]bool) {
	for next := range uses[file] {
		if !seen[next] {
			seen[next] = true
			follow(uses, next, seen)
		}
	}
}

// exportedNames counts the exported names of a package and the exported methods of its
// exported types. Constants of a type of the package are one closed set: only the type
// counts, and not the methods that turn its values into text and back.
func exportedNames(p *types.Package) (n int) {
	for _, name := range p.Scope().Names() {
		object := p.Scope().Lookup(name)
		if !object.Exported() {
			continue
		}
		if _, ok := object.(*types.Const); ok {
			if named, ok := object.Type().(*types.Named); ok && named.Obj().Pkg() == p {
				continue
			}
		}
		n++
		if declared, ok := object.(*types.TypeName); ok && !declared.IsAlias() {
			n += exportedMethods(declared)
		}
	}
	return n
}

func exportedMethods(declared *types.TypeName) (n int) {
	named, ok := declared.Type().(*types.Named)
	if !ok {
		return 0
	}
	for method := range named.Methods() {
		if method.Exported() && !slices.Contains([]string{"String", "MarshalText", "UnmarshalText"}, method.Name()) {
			n++
		}
	}
	return n
}

// reachOf counts what may touch a value of a struct without a method of its own: its fields with those
// of the structs that it embeds, its methods with the promoted ones, the methods of the structs
// that embed it, and the functions and the methods of other types that have it as a parameter.
func reachOf(p *types.Package, name string) (fields, methods int) {
	owner := p.Scope().Lookup(name).Type().(*types.Named)
	fields, methods = fieldsInReachOf(owner), types.NewMethodSet(types.NewPointer(owner)).Len()
	for _, name := range p.Scope().Names() {
		switch object := p.Scope().Lookup(name).(type) {
		case *types.Func:
			if takes(object, owner) {
				methods++
			}
		case *types.TypeName:
			other, ok := object.Type().(*types.Named)
			if !ok || other == owner {
				continue
			}
			for m := range other.Methods() {
				if embeds(other, owner) || takes(m, owner) {
					methods++
				}
			}
		}
	}
	return fields, methods
}

// fieldsInReachOf counts the fields of a struct and of the structs of its package that it embeds.
func fieldsInReachOf(of *types.Named) (n int) {
	s, ok := of.Underlying().(*types.Struct)
	if !ok {
		return 0
	}
	for f := range s.Fields() {
		n++
		if embedded, ok := f.Type().(*types.Named); ok && f.Embedded() && embedded.Obj().Pkg() == of.Obj().Pkg() {
			n += fieldsInReachOf(embedded)
		}
	}
	return n
}

// embeds reports whether a struct embeds owner or a pointer to it.
func embeds(of, owner *types.Named) bool {
	s, ok := of.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for f := range s.Fields() {
		if f.Embedded() && isOrPointsTo(f.Type(), owner) {
			return true
		}
	}
	return false
}

// takes reports whether a function has a parameter of type owner or a pointer to it.
func takes(f *types.Func, owner *types.Named) bool {
	for v := range f.Signature().Params().Variables() {
		if isOrPointsTo(v.Type(), owner) {
			return true
		}
	}
	return false
}

func isOrPointsTo(t types.Type, owner *types.Named) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Identical(t, owner)
}

// sizeOf counts the fields and methods of a struct.
func sizeOf(p *types.Package, name string) (fields, methods int, err error) {
	if object, ok := p.Scope().Lookup(name).(*types.TypeName); ok {
		if s, ok := object.Type().Underlying().(*types.Struct); ok {
			return s.NumFields(), object.Type().(*types.Named).NumMethods(), nil
		}
	}
	return 0, 0, errors.New(p.Path() + " has no struct " + name + ": name the type that took its place")
}

// vague are the pronouns that hide which component acts. Some of them are right in some
// sentences, which is why the goal is not zero.
var vague = regexp.MustCompile(`(?i)\b(nobody|somebody|whoever|anybody|everybody|someone|anyone|others|whatever|neither\s+of\s+them)\b`)

var directive = regexp.MustCompile(`^//[a-z0-9]+:[a-z0-9]`)

// A commentCount is what was counted in the comments of a file.
type commentCount struct {
	path         string
	lines, vague int
}

func countComments(name string, file *ast.File) commentCount {
	count := commentCount{path: name}
	for _, comments := range file.Comments {
		var text strings.Builder
		for _, c := range comments.List {
			if directive.MatchString(c.Text) {
				continue
			}
			count.lines += strings.Count(c.Text, "\n") + 1
			text.WriteString(strings.TrimPrefix(c.Text, "//") + "\n")
		}
		count.vague += len(vague.FindAllString(text.String(), -1))
	}
	return count
}

// perThousand returns the vague pronouns in 1,000 comment lines, rounded up to one
// decimal.
func perThousand(counts []commentCount) float64 {
	found, all := 0, 0
	for _, c := range counts {
		found += c.vague
		all += c.lines
	}
	return math.Ceil(10_000*float64(found)/float64(max(all, 1))) / 10
}

// coveredFiles returns the files of a package that have a covered block in a coverage
// profile.
func coveredFiles(t *testing.T, profile, pkg string) (files []string) {
	t.Helper()
	text, err := os.ReadFile(profile)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		// runtime/call.go:12.34,15.2 3 1: where, statements, count
		where, rest, ok := strings.Cut(line, ".go:")
		if ok && path.Dir(where) == pkg && !strings.HasSuffix(strings.TrimSpace(rest), " 0") {
			files = append(files, path.Base(where)+".go")
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}
