package scenario_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/fuzz"
	"github.com/ambit-tools/ambit/runtime/simulate/scenario"
)

// fuzzed is the length of a text in bytes up to which FuzzParse parses it. The
// time of a run and of minimizing a text grows with its length, and what can be
// wrong with a case fits; TestExamples reads the long files.
const fuzzed = 1 << 10

// FuzzParse reads any text: it is a file of cases, or all that is wrong with it
// is told at a place inside of it. A seed is a file of one case.
func FuzzParse(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.yaml")
	require.NoError(f, err)
	seeds := 0
	for _, path := range paths {
		src, err := os.ReadFile(path)
		require.NoError(f, err)
		head, cases, ok := strings.Cut(string(src), "\n- name: ")
		require.True(f, ok, path)
		for _, c := range strings.Split(cases, "\n- name: ") {
			if text := head + "\n- name: " + c; len(text) <= fuzzed {
				f.Add(text)
				seeds++
			}
		}
	}
	require.Greater(f, seeds, 20)
	f.Add("scenarios: v1\ncases: [{name: a, tools: {t: &x {input: {properties: {p: *x}}}}}]")
	fuzz.Run(f, func(t *testing.T, text string) {
		if len(text) > fuzzed {
			t.Skip("too long")
		}
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
