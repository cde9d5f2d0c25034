package policies_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
	"github.com/ambit-tools/ambit/policies/lint"
	"github.com/ambit-tools/ambit/runtime/opa"
)

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	return string(text)
}

// purchases returns the policy directory of the example of the README, with the given
// files in the place of its policies.
func purchases(t *testing.T, files map[string]string) fstest.MapFS {
	t.Helper()
	declaration, err := os.ReadFile("examples/spending_limit/tools.yaml")
	require.NoError(t, err)
	data, err := os.ReadFile("examples/spending_limit/policy/limits/data.json")
	require.NoError(t, err)
	fsys, err := regotest.Generate(string(declaration))
	require.NoError(t, err)
	fsys["limits/data.json"] = &fstest.MapFile{Data: data}
	for name, text := range files {
		fsys[name] = regotest.Text(text)
	}
	return fsys
}

// TestReadmePolicies: the policy of the README passes its checks, and its test passes.
func TestReadmePolicies(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```rego\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	require.Len(t, blocks, 2)
	report, err := opa.Test(t.Context(), purchases(t, map[string]string{"p.rego": blocks[0][1], "p_test.rego": blocks[1][1]}), opa.TestOptions{})
	require.NoError(t, err)
	assert.Len(t, report.Tests, 1)
	assert.Empty(t, report.Failed())
}

// TestReadmeChecks: what the README and testdata/mistakes.md say of a rule, the checks say.
func TestReadmeChecks(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| `([^`]+ .*?)` \\| (.+) \\|$")
	_, checks, ok := strings.Cut(readme(t), "## What the checks say")
	require.True(t, ok)
	checks, _, _ = strings.Cut(checks, "## Pitfalls")
	others, err := os.ReadFile("testdata/mistakes.md")
	require.NoError(t, err)
	said := func(text string, want int, of func(*lint.Report) string) {
		rows := row.FindAllStringSubmatch(text, -1)
		require.Len(t, rows, want)
		for _, m := range rows {
			report, err := lint.Check(purchases(t, map[string]string{"p.rego": "package ambit.tools.purchase\n\n" + m[1] + "\n"}))
			require.NoError(t, err)
			assert.Contains(t, of(report), m[2], m[1])
		}
	}
	for _, page := range []struct {
		text             string
		errors, warnings int
	}{{checks, 6, 1}, {string(others), 14, 1}} {
		mistakes, warnings, ok := strings.Cut(page.text, "Warnings do not stop")
		require.True(t, ok)
		said(mistakes, page.errors, func(r *lint.Report) string { return r.Errors.Error() })
		said(warnings, page.warnings, func(r *lint.Report) string { return r.Warnings.Error() })
	}
}

// TestReadmeCommands runs the commands of the README, which print what it says.
func TestReadmeCommands(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	require.Len(t, blocks, 4)
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for _, block := range blocks {
		for _, part := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			line, want, _ := strings.Cut(part, "\n")
			words := split(line)
			if words[0] == "cp" {
				require.NoError(t, os.CopyFS(filepath.Base(words[2]), os.DirFS(filepath.Join(root, words[2]))))
				continue
			}
			require.Equal(t, "ambit", words[0])
			var out bytes.Buffer
			require.Zero(t, cli.Run(words[1:], strings.NewReader(""), &out, &out), "%s: %s", line, &out)
			if words[1] != "generate" { // which lists files
				assert.Equal(t, strings.TrimSpace(want), strings.TrimSpace(filepath.ToSlash(out.String())), line)
			}
		}
	}
}

// split returns the words of a command line, of which some are in single quotes.
func split(line string) []string {
	var words []string
	for _, m := range regexp.MustCompile(`'([^']*)'|(\S+)`).FindAllStringSubmatch(line, -1) {
		words = append(words, m[1]+m[2])
	}
	return words
}
