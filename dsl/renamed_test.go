package dsl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRulesByAnEarlierName: a rule that names a tool as it was called before, or by its alias, says what it is called now.
func TestRulesByAnEarlierName(t *testing.T) {
	for name, want := range map[string]string{
		"email_send": `tools.yaml:14:34: rules.requires_preceding: "email_send" is now "post"`,
		"post_it":    `tools.yaml:14:34: rules.requires_preceding: "post_it" is now "post"`,
		"pos":        `tools.yaml:14:34: rules.requires_preceding: no tool is named "pos"`,
	} {
		_, err := Parse("tools.yaml", []byte(`ambit: v1
package: desk
tools:
  post:
    version: 1.0.0
    alias: post_it
    renamed_from: [email_send]
    description: Send a mail.
    input: {type: object, properties: {}}
    output: {type: object, properties: {}}
  note_add:
    version: 1.0.0
    description: Add a note.
    rules: {requires_preceding: [`+name+`]}
    input: {type: object, properties: {}}
    output: {type: object, properties: {}}
`))
		require.ErrorContains(t, err, want)
	}
}
