package opa

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies"
)

func TestLibraryTests(t *testing.T) {
	b := &policydir.Bundle{Data: regotest.Object{}, Parsed: map[string]*ast.Module{}, Src: &policydir.Source{}}
	modules := map[string]*ast.Module{}
	opts := ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1}
	entries, err := policies.FS.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		text, err := policies.FS.ReadFile(e.Name())
		require.NoError(t, err)
		f := policydir.File{Name: policydir.LibraryName + e.Name(), Text: text, Library: true}
		m, err := ast.ParseModuleWithOpts(f.Name, string(text), opts)
		require.NoError(t, err)
		modules[f.Name] = m
		if !f.Test() {
			b.Parsed[f.Name] = m
			b.Src.Files = append(b.Src.Files, f)
			assertDocumented(t, m)
		}
		formatted, err := format.SourceWithOpts(f.Name, text, format.Opts{RegoVersion: ast.RegoV1})
		require.NoError(t, err)
		assert.Equal(t, string(formatted), string(text), "opa fmt %s", e.Name())
	}
	report, err := runModules(t.Context(), b, modules, TestOptions{}, func(policydir.File) bool { return true })
	require.NoError(t, err)
	assert.NoError(t, report.err())
	assert.Greater(t, len(report.Tests), 20)
	assert.Equal(t, 100.0, report.Coverage, "%+v", report.Files)
	planned := planTests(t.Context(), b, modules, report.Tests)
	assert.Len(t, planned, len(report.Tests))
	for _, test := range planned {
		assert.NoError(t, test.err, test.Name)
		assert.True(t, test.holds, test.Name)
	}
}

// assertDocumented checks that the package and every rule have a title.
func assertDocumented(t *testing.T, m *ast.Module) {
	t.Helper()
	titled := map[int]bool{}
	for _, a := range m.Annotations {
		assert.NotEmpty(t, a.Title)
		titled[a.EndLoc().Row+1] = true
	}
	assert.True(t, titled[m.Package.Location.Row], "%s: the package has no METADATA", policydir.Position(m.Package.Location))
	for _, r := range m.Rules {
		assert.True(t, titled[r.Location.Row] || strings.HasPrefix(policydir.RuleName(r), "_"), "%s: no METADATA", policydir.Position(r.Location))
	}
}
