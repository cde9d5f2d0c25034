package policydir

import (
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/functions"
)

// TestModules returns copies of the policies and of their tests, those of the library left out.
func (b *Bundle) TestModules() map[string]*ast.Module {
	modules := map[string]*ast.Module{}
	for _, f := range b.Src.Files {
		if m := b.Parsed[f.Name]; m != nil {
			modules[f.Name] = m.Copy()
		} else if m := b.Tests[f.Name]; m != nil && !f.Library {
			modules[f.Name] = m.Copy()
		}
	}
	return modules
}

// TestCompiler returns a compiler for tests: without the schemas, since a test
// may give a rule half an input.
func TestCompiler() *ast.Compiler {
	return ast.NewCompiler().WithCapabilities(functions.Capabilities()).WithStrict(true).WithEnablePrintStatements(true).SetErrorLimit(0)
}
