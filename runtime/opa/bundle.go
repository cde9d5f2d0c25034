package opa

import (
	"strconv"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A bundle is a policy directory that was read and parsed. What compiles it sets
// compiler; after that it is never changed.
type bundle struct {
	src       *source
	declared  declared
	tools     []string       // the declared tools, sorted
	data      map[string]any // base data, the declarations included
	schemas   map[string]schema
	published map[string]published // by the tool
	schemaSet *ast.SchemaSet
	parsed    map[string]*ast.Module // by file name, as written
	tests     map[string]*ast.Module // the _test.rego files
	compiler  *ast.Compiler          // of parsed, with positions stamped in

	codesMissing bool // a file that may declare codes cannot be parsed
}

// readBundle reads the declarations, the data and the schemas of a source, and parses
// its policies. It says whether the declarations are whole: without them
// everything looks undeclared.
func readBundle(src *source, errs *Errors) (b *bundle, whole bool) {
	b = &bundle{src: src}
	b.readData(errs)
	b.readSchemas(errs)
	b.readPublished(errs)
	whole = len(*errs) == 0
	b.parse(errs)
	return b, whole
}

// newCompiler returns a compiler with all checks that policies must pass.
func (b *bundle) newCompiler() *ast.Compiler {
	return ast.NewCompiler().
		WithCapabilities(capabilities()).
		WithSchemas(b.schemaSet).
		WithUseTypeCheckAnnotations(true).
		WithStrict(true).
		SetErrorLimit(0)
}

// parse parses every .rego file.
func (b *bundle) parse(errs *Errors) {
	b.parsed, b.tests = map[string]*ast.Module{}, map[string]*ast.Module{}
	opts := ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1, Capabilities: capabilities()}
	for _, f := range b.src.files {
		if !f.rego() {
			continue
		}
		m, err := ast.ParseModuleWithOpts(f.name, string(f.text), opts)
		switch {
		case err != nil:
			b.addOPA(errs, f.name, err)
			b.codesMissing = b.codesMissing || f.declaresReasons()
		case m == nil:
			errs.addFile(f.name, "the file is empty", "write a package, or delete it")
		case f.test():
			b.tests[f.name] = m
		default:
			b.parsed[f.name] = m
		}
	}
}

// handWritten yields the modules that people write, without their tests.
func (b *bundle) handWritten(modules map[string]*ast.Module) func(func(string, *ast.Module) bool) {
	return func(yield func(string, *ast.Module) bool) {
		for _, f := range b.src.files {
			if m := modules[f.name]; m != nil && !f.library && !f.generated() && !yield(f.name, m) {
				return
			}
		}
	}
}

// stamped returns copies of the modules in which every entry of a contract rule
// has the position of its rule. That costs nothing in an evaluation, since the position
// is a constant, and needs no tracing.
func (b *bundle) stamped() map[string]*ast.Module {
	out := make(map[string]*ast.Module, len(b.parsed))
	for name, m := range b.parsed {
		m = m.Copy()
		for _, r := range m.Rules {
			if contract(ruleName(r)) != nil && r.Head.Key != nil {
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
	items = append(items, ast.Item(ast.StringTerm("at"), ast.StringTerm(position(at))))
	return ast.NewTerm(ast.NewObject(items...)).SetLocation(key.Location)
}

// position returns file:line.
func position(at *ast.Location) string {
	return at.File + ":" + strconv.Itoa(at.Row)
}
