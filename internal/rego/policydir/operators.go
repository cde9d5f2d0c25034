package policydir

import (
	_ "embed"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/ambit-tools/ambit/internal/rego/schema"
)

// OperatorEntryPoint is the query whose answer true allows an act of an operator.
const OperatorEntryPoint = "data.ambit.operators.allow"

// operatorSchema is the schema of what the operator policy is asked. No tool has a schema of that name,
// since names of tools begin with a small letter.
const operatorSchema = "Operators"

//go:embed operators.schema.json
var operatorInput []byte

// addOperators adds the schema of the operator policy's input to those of the tools.
func (b *Bundle) addOperators() {
	value, err := decodeJSON(operatorInput)
	if err != nil {
		panic(err) // a part of this package
	}
	b.Schemas[operatorSchema] = schema.New(value.(map[string]any))
	b.schemaSet.Put(ast.Ref{ast.SchemaRootDocument, ast.StringTerm(operatorSchema)}, value)
}

// HasOperators reports whether a file that people write decides about acts of operators.
func (b *Bundle) HasOperators() bool {
	for _, m := range b.HandWritten(b.Parsed) {
		if kind, _ := ContractPackage(m.Package.Path); kind == OperatorPackage {
			return true
		}
	}
	return false
}
