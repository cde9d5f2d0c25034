package places

import (
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/internal/rego/schema"
)

func TestInput(t *testing.T) {
	args := Args(bundle(t), "file_write")
	path, closed := args.Step(ast.StringTerm("path"))
	assert.False(t, closed)
	assert.EqualValues(t, schema.StringKind, path.Kinds())
	_, closed = args.Step(ast.StringTerm("pth"))
	assert.True(t, closed)
	assert.Contains(t, args.Names(), "path")
	assert.Nil(t, Args(bundle(t), "file_write", "unknown"), "of an unknown tool nothing is known")
	assert.EqualValues(t, schema.AnyKind, Input{}.Kinds())
}

func TestPath(t *testing.T) {
	assert.Equal(t, "input.args.x", Path{ast.StringTerm("args"), ast.StringTerm("x")}.String())
	names, ground := PathOf(ast.MustParseTerm(`["a", "b"]`)).Names()
	assert.True(t, ground)
	assert.Equal(t, []string{"a", "b"}, names)
	_, ground = PathOf(ast.VarTerm("x")).Names()
	assert.False(t, ground)
}

func TestData(t *testing.T) {
	b := bundle(t)
	root := Root(b, b.Compiler)
	for ref, want := range map[string]int{
		"data.ambit.declared.tools.file_write.effect": 0,
		"data.ambit.declared.tools[x].effect":         0,
		"data.ambit.declared.tools[x].consent":        0, // which a tool may declare
		"data.ambit.declared.tools[x].efect":          5,
		"data.ambit.declared.toolz":                   3,
	} {
		_, wrong := root.Lost(ast.MustParseRef(ref))
		assert.Equal(t, want, wrong, ref)
	}
	at, _ := root.Lost(ast.MustParseRef("data.ambit.declared.toolz"))
	assert.True(t, at.Held())
	assert.Contains(t, at.Names(), "tools")
	assert.Empty(t, root.Any([]*ast.Term{ast.StringTerm("ambit"), ast.StringTerm("acme")}).Docs, "one of several is for the application to say")
}

// bundle returns the compiled bundle of generated files alone.
func bundle(t *testing.T) *policydir.Bundle {
	t.Helper()
	src, err := policydir.ReadSource(regotest.Dir())
	require.NoError(t, err)
	var errs policydir.Errors
	b, _ := policydir.ReadBundle(src, &errs)
	require.Empty(t, errs)
	b.Compiler = b.NewCompiler()
	b.Compiler.Compile(b.Stamped())
	require.Empty(t, b.Compiler.Errors)
	return b
}
