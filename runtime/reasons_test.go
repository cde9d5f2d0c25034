package runtime

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReasonsOfThePages compares the reasons with rules 2.3.2 and 2.3.3 of the specification, and
// with the table of the package's documentation.
// SEMANTICS 2.3.2, 2.3.3
func TestReasonsOfThePages(t *testing.T) {
	want := slices.Sorted(slices.Values(reasonNames[1:]))

	page, err := os.ReadFile("../docs/semantics.md")
	require.NoError(t, err)
	var listed []string
	for _, rule := range []string{"2.3.2", "2.3.3"} {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(rule) + ` \| ([^|]*) \|`).FindSubmatch(page)
		require.NotNil(t, row, rule)
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllSubmatch(row[1], -1) {
			listed = append(listed, string(m[1]))
		}
	}
	slices.Sort(listed)
	assert.Equal(t, want, slices.Compact(listed), "docs/semantics.md")

	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(doc), "//\tcompleted ")
	require.True(t, found)
	table, _, found = strings.Cut(table, "\n//\n")
	require.True(t, found)
	for _, name := range want {
		assert.Regexp(t, `\b`+name+`\b`, table, "doc.go")
	}
}
