package project

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestManifestNamesOnlyWhatIsGenerated(t *testing.T) {
	for name, want := range map[string]bool{
		"tools_ambit.go": true, "schemas/a.input.json": true, "policy/ambit_gen/data.json": true,
		"main.go": false, "../tools_ambit.go": false, "schemas/../main.go": false,
		"ambit.schema.json": true, ".vscode/ambit.schema.json": true, "../a.json": false, "/etc/a.json": false, "a/../../a.json": false,
		"/etc/passwd": false, "": false, "schemas/": false, "policy/mine.rego": false, "<<<<<<< HEAD": false,
	} {
		require.Equal(t, want, generatable(name), "%q", name)
	}
}
