package gen_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/gen"
)

// maxColumns is how long a line of generated Go may be, where a tab is four columns.
const maxColumns = 140

// TestLineWidth holds generated Go to lines that fit a screen.
func TestLineWidth(t *testing.T) {
	short := func(name string, files []gen.OutputFile) {
		for _, f := range files {
			if path.Ext(f.Name) != ".go" {
				continue
			}
			for i, line := range strings.Split(string(f.Content), "\n") {
				columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
				require.LessOrEqual(t, columns, maxColumns, "%s: %s:%d: %s", name, f.Name, i+1, line)
			}
		}
	}
	for _, g := range goldens(t, "*.txtar") {
		short(g.name, generate(t, g.file("tools.yaml")))
	}
	declared, err := filepath.Glob("../examples/*/*/tools.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, declared)
	for _, path := range declared {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		short(path, generate(t, source))
	}
	short("fixture", generate(t, fixture(50)))
	short("wide", generate(t, wide()))
}

// wide is a declaration with long names, texts and lists. What Go code cannot
// break is the pair of two names.
func wide() []byte {
	var b strings.Builder
	name := strings.Repeat("longnames", 5)
	prose := strings.Repeat(`words of a "long" text with \ and `+"`quotes`, ", 20)
	fmt.Fprintf(&b, "ambit: v1\npackage: wide\ntools:\n  %s:\n    version: 1.0.0\n    description: %q\n    effect: write\n    idempotent: true\n", name, prose)
	fmt.Fprintf(&b, "    capabilities: [%s]\n", list("capability", 20))
	fmt.Fprintf(&b, "    consent: {ask: always, message: %q, approvers: [%s], preview: true}\n", prose, list("approver", 20))
	fmt.Fprintf(&b, "    undo: {state: {type: object}}\n    reconcile: true\n    retry: {}\n")
	fmt.Fprintf(&b, "    output: {type: object}\n    input:\n      type: object\n      required: [m0, m1]\n      properties:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "        m%d: {type: string, description: A short text., pattern: '^[a-z]{1,9}%s$'}\n", i, strings.Repeat("[0-9]", i))
	}
	fmt.Fprintf(&b, "        %s: {type: string, description: %q, enum: [a, b], pattern: %q}\n", strings.Repeat("member", 2), prose, strings.ReplaceAll(prose, `\ `, `\\ `))
	fmt.Fprintf(&b, "        level: {type: integer, description: A level., enum: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], default: 3}\n")
	fmt.Fprintf(&b, "        deep: {type: object, description: Deep., properties: {list: {type: array, description: A list., items: {type: object, properties: {a: {type: integer, description: One., enum: [1]}}}}}}\n")
	return []byte(b.String())
}

func list(what string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("%s%d", what, i)
	}
	return strings.Join(all, ", ")
}
