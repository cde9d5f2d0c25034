package examples_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies/lint"
	"github.com/ambit-tools/ambit/runtime/opa"
)

// folders returns the examples.
func folders(t *testing.T) []string {
	t.Helper()
	declarations, err := filepath.Glob("*/tools.yaml")
	require.NoError(t, err)
	require.Len(t, declarations, 5)
	for i, path := range declarations {
		declarations[i] = filepath.Dir(path)
	}
	return declarations
}

// TestCommands runs the commands that the README of policies names.
func TestCommands(t *testing.T) {
	for _, dir := range folders(t) {
		t.Run(dir, func(t *testing.T) {
			var out, errors bytes.Buffer
			assert.Zero(t, cli.Run([]string{"check", dir}, strings.NewReader(""), &out, &errors))
			assert.Empty(t, errors.String(), "no warnings")
			out.Reset()
			scenarios := filepath.Join(dir, "scenarios.yaml")
			assert.Zero(t, cli.Run([]string{"simulate", "--declaration", filepath.Join(dir, "tools.yaml"), scenarios}, strings.NewReader(""), &out, &errors))
			assert.Empty(t, errors.String())
			for line := range strings.Lines(out.String()) {
				assert.True(t, strings.HasPrefix(line, "ok "), line)
			}
			assert.Greater(t, strings.Count(out.String(), "\n"), 1)
		})
	}
}

// TestChecksAndTests: the policies have no error, no warning and no closed tool, they are
// written as opa fmt writes them, their tests pass and reach every line of a policy that
// has conditions.
func TestChecksAndTests(t *testing.T) {
	for _, dir := range folders(t) {
		t.Run(dir, func(t *testing.T) {
			fsys := directory(t, dir)
			report, err := lint.Check(fsys)
			require.NoError(t, err)
			assert.NoError(t, report.Err())
			assert.Empty(t, report.Warnings)
			assert.Empty(t, report.Closed)
			tests, err := opa.Test(t.Context(), fsys, opa.TestOptions{})
			require.NoError(t, err)
			assert.Empty(t, tests.Failed())
			for _, f := range tests.Files {
				if strings.Contains(string(fsys[f.File].Data), " if ") {
					assert.Equal(t, 100.0, f.Coverage, "%s: %v", f.File, f.Uncovered)
				}
			}
			for name, f := range fsys {
				if strings.HasSuffix(name, ".rego") && !strings.HasPrefix(name, "ambit_gen/") {
					formatted, err := format.SourceWithOpts(name, f.Data, format.Opts{RegoVersion: ast.RegoV1})
					require.NoError(t, err)
					assert.Equal(t, string(formatted), string(f.Data), "opa fmt %s", name)
				}
			}
		})
	}
}

// TestTestsNotice: when one of its refusals or asks never applies, a test of the example
// fails.
func TestTestsNotice(t *testing.T) {
	tried := 0
	for _, dir := range folders(t) {
		fsys := directory(t, dir)
		for name, f := range fsys {
			if !strings.HasSuffix(name, ".rego") || strings.HasPrefix(name, "ambit_gen/") || strings.HasSuffix(name, "_test.rego") {
				continue
			}
			for i := range rules(t, name, f.Data).Rules {
				m := rules(t, name, f.Data)
				rule := string(m.Rules[i].Head.Name)
				if rule != "deny" && rule != "ask" {
					continue
				}
				tried++
				m.Rules[i].Body.Append(ast.MustParseExpr("1 == 2"))
				text, err := format.Ast(m)
				require.NoError(t, err)
				without := maps.Clone(fsys)
				without[name] = &fstest.MapFile{Data: text}
				tests, err := opa.Test(t.Context(), without, opa.TestOptions{})
				require.NoError(t, err, "%s", text)
				assert.NotEmpty(t, tests.Failed(), "%s/policy/%s: without the rule in line %d", dir, name, m.Rules[i].Location.Row)
			}
		}
	}
	assert.Equal(t, 11, tried)
}

// rules parses a policy.
func rules(t *testing.T, name string, text []byte) *ast.Module {
	t.Helper()
	m, err := ast.ParseModuleWithOpts(name, string(text), ast.ParserOptions{ProcessAnnotation: true, RegoVersion: ast.RegoV1})
	require.NoError(t, err)
	return m
}

// directory returns the policy directory of an example, as it is once it is generated.
func directory(t *testing.T, dir string) fstest.MapFS {
	t.Helper()
	declaration, err := os.ReadFile(filepath.Join(dir, "tools.yaml"))
	require.NoError(t, err)
	fsys, err := regotest.Generate(string(declaration))
	require.NoError(t, err)
	root := filepath.Join(dir, "policy")
	require.NoError(t, filepath.WalkDir(root, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(root, path)
		fsys[filepath.ToSlash(name)] = &fstest.MapFile{Data: text}
		return err
	}))
	return fsys
}
