package opa

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/policies"
)

func TestLibraryTests(t *testing.T) {
	b := &bundle{data: object{}, parsed: map[string]*ast.Module{}, src: &source{}}
	modules := map[string]*ast.Module{}
	opts := ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1}
	entries, err := policies.FS.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		text, err := policies.FS.ReadFile(e.Name())
		require.NoError(t, err)
		f := file{name: libraryName + e.Name(), text: text, library: true}
		m, err := ast.ParseModuleWithOpts(f.name, string(text), opts)
		require.NoError(t, err)
		modules[f.name] = m
		if !f.test() {
			b.parsed[f.name] = m
			b.src.files = append(b.src.files, f)
			assertDocumented(t, m)
		}
		formatted, err := format.SourceWithOpts(f.name, text, format.Opts{RegoVersion: ast.RegoV1})
		require.NoError(t, err)
		assert.Equal(t, string(formatted), string(text), "opa fmt %s", e.Name())
	}
	report, err := runModules(t.Context(), b, modules, TestOptions{}, func(file) bool { return true })
	require.NoError(t, err)
	assert.NoError(t, report.err())
	assert.Greater(t, len(report.Tests), 20)
	assert.Equal(t, 100.0, report.Coverage, "%+v", report.Files)
}

// assertDocumented checks that the package and every rule have a title.
func assertDocumented(t *testing.T, m *ast.Module) {
	t.Helper()
	titled := map[int]bool{}
	for _, a := range m.Annotations {
		assert.NotEmpty(t, a.Title)
		titled[a.EndLoc().Row+1] = true
	}
	assert.True(t, titled[m.Package.Location.Row], "%s: the package has no METADATA", position(m.Package.Location))
	for _, r := range m.Rules {
		assert.True(t, titled[r.Location.Row] || strings.HasPrefix(ruleName(r), "_"), "%s: no METADATA", position(r.Location))
	}
}
