package ambit_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/scenario"
)

// TestScenariosOfTheDocs runs every scenario that docs/rules.md and
// docs/consent.md show.
func TestScenariosOfTheDocs(t *testing.T) {
	for _, path := range []string{"docs/rules.md", "docs/consent.md"} {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		shown := 0
		for _, m := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], "scenarios: v1\n") {
				continue
			}
			f, err := scenario.Parse(path, []byte(m[1]))
			require.NoError(t, err, m[1])
			for _, c := range f.Cases {
				shown++
				t.Run(c.Name, func(t *testing.T) {
					trace, err := c.Run(new(scenario.Setup))
					require.NoError(t, err)
					require.Empty(t, trace.Faults().String())
				})
			}
		}
		require.NotZero(t, shown, path)
	}
}
