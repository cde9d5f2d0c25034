package dsl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// partSource has rules everywhere. Each test breaks one place of it.
const partSource = `ambit: v1
package: shop
rules: {max_calls: 9}
tools:
  first:
    version: 1.0.0
    description: D.
    rules: {max_calls: 1}
    input: {type: object}
    output: {type: object}
  second: {version: 1.0.0, description: D., rules: {max_calls: 2}, input: {type: object}, output: {type: object}}
  third: {version: 1.0.0, description: D., rules: {max_calls: 3}, input: {type: object}, output: {type: object}}
reasons: {dear: Too dear.}
`

func TestPart(t *testing.T) {
	for _, c := range []struct {
		name, old, new string
		whole, ruled   string // the tools that are whole, and those whose rules are
	}{
		{"first tool", "description: D.\n", "description: 1\n", "second third", "set first second third"},
		{"rules of a tool in one line", "max_calls: 2", "max_calls: x", "first third", "set first third"},
		{"beside the rules in one line", "max_calls: 2}, input: {type: object}", "max_calls: 2}, input: {type: objec}", "first third", "set first second third"},
		{"rules of the first tool", "max_calls: 1", "max_call: 1", "second third", "set second third"},
		{"last tool", "max_calls: 3}, input", "max_calls: 3}, inptu", "first second", "set first second third"},
		{"last key", "output: {type: object}}\nreasons", "output: {type: objec}}\nreasons", "first second", "set first second third"},
		{"after the tools", "Too dear.", "''", "none", "set first second third"},
		{"rules of the set", "max_calls: 9", "max_calls: 0", "none", "first second third"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := strings.Replace(partSource, c.old, c.new, 1)
			require.NotEqual(t, partSource, src)
			whole, ruled, called := "none", "", 0
			_, err := Parse("tools.yaml", []byte(src), WithPart(func(p Part) {
				called++
				if p.Tools != nil {
					whole = ""
					for _, tool := range p.Tools.Tools {
						whole += " " + tool.Name
					}
				}
				if p.Rules.Rules != nil {
					ruled = "set"
				}
				for _, tool := range p.Rules.Tools {
					if tool.Rules != nil {
						ruled += " " + tool.Name
					}
				}
			}))
			require.Error(t, err)
			require.Equal(t, 1, called)
			assert.Equal(t, c.whole, strings.TrimSpace(whole))
			assert.Equal(t, c.ruled, strings.TrimSpace(ruled))
		})
	}
}

// TestNoPart holds that nothing is handed over of a file without faults, nor of
// one that is not read to its end.
func TestNoPart(t *testing.T) {
	for _, src := range []string{partSource, "a: b: c", "- a", ""} {
		_, _ = Parse("tools.yaml", []byte(src), WithPart(func(Part) { t.Errorf("%.20q", src) }))
	}
}
