package importer_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/importer"
)

// TestKindsOfTheDocs: the table of docs/import.md says what Kinds does.
func TestKindsOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/import.md")
	require.NoError(t, err)
	var rows strings.Builder
	for _, k := range importer.Kinds() {
		what := k.What
		if k.Narrows {
			what += "; **narrows**"
		}
		fmt.Fprintf(&rows, "| `%s` | %s |\n", k.Kind, what)
	}
	if *update {
		head, rest, _ := strings.Cut(string(text), "| kind | what it is |\n|---|---|\n")
		_, rest, _ = strings.Cut(rest, "\n\n")
		require.NoError(t, os.WriteFile("../../docs/import.md", []byte(head+"| kind | what it is |\n|---|---|\n"+rows.String()+"\n"+rest), 0o644))
		return
	}
	require.Contains(t, string(text), rows.String(), "run go test ./internal/importer -run TestKindsOfTheDocs -update")
}
