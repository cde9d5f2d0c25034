package policydir

import (
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
	"github.com/ambit-tools/ambit/internal/rego/schema"
)

// A Bundle is a policy directory that was read and parsed. What compiles it sets
// Compiler; after that it is never changed.
type Bundle struct {
	Src       *Source
	Declared  declared
	Tools     []string       // the declared tools, sorted
	Data      map[string]any // base data, the declarations included
	Schemas   map[string]schema.Schema
	Published map[string]Published // by the tool
	schemaSet *ast.SchemaSet
	Parsed    map[string]*ast.Module // by file name, as written
	Tests     map[string]*ast.Module // the _test.rego files
	Compiler  *ast.Compiler          // of parsed, with positions stamped in

	CodesMissing bool // a file that may declare codes cannot be parsed
}

// ReadBundle reads the declarations, the data and the schemas of a source, and parses
// its policies. It says whether the declarations are whole: without them
// everything looks undeclared.
func ReadBundle(src *Source, errs *Errors) (b *Bundle, whole bool) {
	b = &Bundle{Src: src}
	b.readData(errs)
	b.readSchemas(errs)
	b.ReadPublished(errs)
	whole = len(*errs) == 0
	b.parse(errs)
	return b, whole
}

// NewCompiler returns a compiler with all checks that policies must pass.
func (b *Bundle) NewCompiler() *ast.Compiler {
	return ast.NewCompiler().
		WithCapabilities(functions.Capabilities()).
		WithSchemas(b.schemaSet).
		WithUseTypeCheckAnnotations(true).
		WithStrict(true).
		SetErrorLimit(0)
}

// parse parses every .rego file.
func (b *Bundle) parse(errs *Errors) {
	b.Parsed, b.Tests = map[string]*ast.Module{}, map[string]*ast.Module{}
	opts := ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1, Capabilities: functions.Capabilities()}
	for _, f := range b.Src.Files {
		if !f.rego() {
			continue
		}
		m, err := ast.ParseModuleWithOpts(f.Name, string(f.Text), opts)
		switch {
		case err != nil:
			b.AddOPA(errs, f.Name, err)
			b.CodesMissing = b.CodesMissing || f.declaresReasons()
		case m == nil:
			errs.AddFile(f.Name, "the file is empty", "write a package, or delete it")
		case f.Test():
			b.Tests[f.Name] = m
		default:
			b.Parsed[f.Name] = m
		}
	}
}

// HandWritten yields the modules that people write, without their tests.
func (b *Bundle) HandWritten(modules map[string]*ast.Module) func(func(string, *ast.Module) bool) {
	return func(yield func(string, *ast.Module) bool) {
		for _, f := range b.Src.Files {
			if m := modules[f.Name]; m != nil && !f.Library && !f.Generated() && !yield(f.Name, m) {
				return
			}
		}
	}
}

// Stamped returns copies of the modules in which every entry of a contract rule
// has the position of its rule. That costs nothing in an evaluation, since the position
// is a constant, and needs no tracing.
func (b *Bundle) Stamped() map[string]*ast.Module {
	out := make(map[string]*ast.Module, len(b.Parsed))
	for name, m := range b.Parsed {
		m = m.Copy()
		for _, r := range m.Rules {
			if Contract(RuleName(r)) != nil && r.Head.Key != nil {
				r.Head.Key = stamp(r.Head.Key, r.Location)
			}
		}
		out[name] = m
	}
	return out
}

// stamp returns a literal object with at: "file:line" added to it.
func stamp(key *ast.Term, at *ast.Location) *ast.Term {
	object, ok := key.Value.(ast.Object)
	if !ok {
		return key
	}
	items := make([][2]*ast.Term, 0, object.Len()+1)
	object.Foreach(func(k, v *ast.Term) { items = append(items, ast.Item(k, v)) })
	items = append(items, ast.Item(ast.StringTerm("at"), ast.StringTerm(Position(at))))
	return ast.NewTerm(ast.NewObject(items...)).SetLocation(key.Location)
}

// Position returns file:line.
func Position(at *ast.Location) string {
	return at.File + ":" + strconv.Itoa(at.Row)
}
