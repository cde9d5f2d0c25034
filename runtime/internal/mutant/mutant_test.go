package mutant_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/mutant"
)

func TestPatchIsAChangeOfOneLine(t *testing.T) {
	head := "# 4 a: b\n# tests: ./x\n--- a/x.go\n+++ b/x.go\n@@ -1,3 +1,3 @@\n"
	p, err := mutant.Parse(head + " a\n-b\n+c\n\n d\n")
	require.NoError(t, err)
	require.Equal(t, &mutant.Patch{Breaks: "4 a: b", Tests: []string{"./x"}, File: "x.go", Before: "a\nb\n\nd\n", After: "a\nc\n\nd\n"}, p)
	for _, text := range []string{
		"", head, head + " a\n b\n", head + "-a\n-b\n", head + "+a\n+b\n", head + "-a\n@@ -9 +9 @@\n-b\n",
		strings.Replace(head, "# 4", "4", 1) + "-a\n", strings.Replace(head, " ./x", "", 1) + "-a\n", strings.Replace(head, "+++ b/", "+++ ", 1) + "-a\n",
	} {
		_, err := mutant.Parse(text)
		require.Error(t, err, text)
	}
}
