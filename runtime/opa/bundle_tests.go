package opa

import "github.com/open-policy-agent/opa/v1/ast"

// testModules returns copies of the policies and of their tests, those of the library left out.
func (b *bundle) testModules() map[string]*ast.Module {
	modules := map[string]*ast.Module{}
	for _, f := range b.src.files {
		if m := b.parsed[f.name]; m != nil {
			modules[f.name] = m.Copy()
		} else if m := b.tests[f.name]; m != nil && !f.library {
			modules[f.name] = m.Copy()
		}
	}
	return modules
}

// testCompiler returns a compiler for tests: without the schemas, since a test
// may give a rule half an input.
func testCompiler() *ast.Compiler {
	return ast.NewCompiler().WithCapabilities(capabilities()).WithStrict(true).WithEnablePrintStatements(true).SetErrorLimit(0)
}
