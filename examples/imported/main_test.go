package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/importer"
)

// TestRun holds the output to that of the README's command.
func TestRun(t *testing.T) {
	want, err := os.ReadFile("testdata/output.txt")
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out))
	require.Equal(t, string(want), out.String())
}

// TestTheDeclarationIsTheList: the import of the list into the declaration changes nothing, so
// its schemas are those of the server, and what people wrote is kept.
func TestTheDeclarationIsTheList(t *testing.T) {
	list, err := os.ReadFile("list.json")
	require.NoError(t, err)
	declaration, err := os.ReadFile("helm/tools.yaml")
	require.NoError(t, err)
	r, err := importer.MCP(list, importer.Options{Package: "helm", Path: "tools.yaml", Over: declaration})
	require.NoError(t, err)
	require.Empty(t, r.Left)
	require.Equal(t, []string{"helm_install", "helm_list", "helm_uninstall"}, r.Tools)
	require.Equal(t, string(declaration), string(r.Text))
}
