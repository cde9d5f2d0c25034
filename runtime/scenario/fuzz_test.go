package scenario_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/scenario"
)

// FuzzParse reads any text: it is a file of cases, or all that is wrong with it
// is told at a place inside of it.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.yaml")
	require.NoError(f, err)
	for _, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(string(src))
	}
	f.Add("scenarios: v1\ncases: [{name: a, tools: {t: &x {input: {properties: {p: *x}}}}}]")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := scenario.Parse("cases.yaml", []byte(text))
		if err == nil {
			return
		}
		var all dsl.Diagnostics
		require.ErrorAs(t, err, &all)
		for _, d := range all {
			require.Positive(t, d.Pos.Line)
			require.Positive(t, d.Pos.Col)
			require.NotEmpty(t, d.Message)
		}
	})
}
