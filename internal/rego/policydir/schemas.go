package policydir

import (
	"path"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/schema"
)

// SchemaSuffix ends the name of a generated schema.
const SchemaSuffix = ".schema.json"

// readSchemas collects the generated schemas of the policy input.
func (b *Bundle) readSchemas(errs *Errors) {
	b.Schemas = map[string]schema.Schema{}
	b.schemaSet = ast.NewSchemaSet()
	b.addOperators()
	for _, f := range b.Src.Files {
		if !f.Generated() || !strings.HasSuffix(f.Path, SchemaSuffix) {
			continue
		}
		value, err := decodeJSON(f.Text)
		root, ok := value.(map[string]any)
		if err != nil || !ok {
			errs.AddFile(f.Name, "not a JSON Schema", "run go generate")
			continue
		}
		name := strings.TrimSuffix(path.Base(f.Path), SchemaSuffix)
		b.Schemas[name] = schema.New(root)
		b.schemaSet.Put(ast.Ref{ast.SchemaRootDocument, ast.StringTerm(name)}, value)
	}
}

// SchemaOf returns the schema of the input as a package sees it: its own for a
// tool, that of acts for the operator policy, the common one for the organization's packages and for helpers.
func (b *Bundle) SchemaOf(pkg ast.Ref) schema.Schema {
	switch kind, name := ContractPackage(pkg); kind {
	case ToolPackage:
		return b.Schemas[name]
	case OperatorPackage:
		return b.Schemas[operatorSchema]
	}
	return b.Schemas["ambit"]
}

// SchemasFile holds the schemas of the tools as they are published, with every
// constraint; the schemas that OPA's type checker reads are simpler.
const SchemasFile = GeneratedDir + "/schemas.json"

// A Published is what the arguments and the output of a tool are.
type Published struct{ Input, Output schema.Schema }

// ReadPublished collects the published schemas of the tools.
func (b *Bundle) ReadPublished(errs *Errors) {
	b.Published = map[string]Published{}
	for _, f := range b.Src.Files {
		if f.Path != SchemasFile {
			continue
		}
		value, err := decodeJSON(f.Text)
		tools, ok := value.(map[string]any)
		if err != nil || !ok {
			errs.AddFile(f.Name, "not the schemas of tools", "run go generate")
			continue
		}
		for name := range tools {
			tool, _ := tools[name].(map[string]any)
			input, _ := tool["input"].(map[string]any)
			output, _ := tool["output"].(map[string]any)
			b.Published[name] = Published{schema.New(input), schema.New(output)}
		}
	}
}
