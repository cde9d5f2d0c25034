package opa

import (
	"path"
	"strings"

	"github.com/open-policy-agent/opa/ast"
)

const schemaSuffix = ".schema.json"

// readSchemas collects the generated schemas of the policy input.
func (b *bundle) readSchemas(errs *Errors) {
	b.schemas = map[string]schema{}
	b.schemaSet = ast.NewSchemaSet()
	for _, f := range b.src.files {
		if !f.generated() || !strings.HasSuffix(f.path, schemaSuffix) {
			continue
		}
		value, err := decodeJSON(f.text)
		root, ok := value.(map[string]any)
		if err != nil || !ok {
			errs.addFile(f.name, "not a JSON Schema", "run go generate")
			continue
		}
		name := strings.TrimSuffix(path.Base(f.path), schemaSuffix)
		b.schemas[name] = schema{root, root}
		b.schemaSet.Put(ast.Ref{ast.SchemaRootDocument, ast.StringTerm(name)}, value)
	}
}

// schemaOf returns the schema of the input as a package sees it: its own for a
// tool, the common one for the organization's packages and for helpers.
func (b *bundle) schemaOf(pkg ast.Ref) schema {
	if kind, name := contractPackage(pkg); kind == toolPackage {
		return b.schemas[name]
	}
	return b.schemas["ambit"]
}

// schemasFile holds the schemas of the tools as they are published, with every
// constraint; the schemas that OPA's type checker reads are simpler.
const schemasFile = generatedDir + "/schemas.json"

// A published is what the arguments and the output of a tool are.
type published struct{ input, output schema }

// readPublished collects the published schemas of the tools.
func (b *bundle) readPublished(errs *Errors) {
	b.published = map[string]published{}
	for _, f := range b.src.files {
		if f.path != schemasFile {
			continue
		}
		value, err := decodeJSON(f.text)
		tools, ok := value.(map[string]any)
		if err != nil || !ok {
			errs.addFile(f.name, "not the schemas of tools", "run go generate")
			continue
		}
		for name := range tools {
			tool, _ := tools[name].(map[string]any)
			input, _ := tool["input"].(map[string]any)
			output, _ := tool["output"].(map[string]any)
			b.published[name] = published{schema{input, input}, schema{output, output}}
		}
	}
}
