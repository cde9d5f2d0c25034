package gen_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

// TestDraft07: a root may name draft-07, whether Go has a type for the schema or not; a schema inside
// of it may not.
func TestDraft07(t *testing.T) {
	const draft = `$schema: "http://json-schema.org/draft-07/schema#"`
	const text = `
ambit: v1
package: shop
types:
  Checked: {%s, description: C., not: {type: string%s}}
tools:
  buy:
    version: 1.0.0
    description: Buy.
    effect: read
    input:
      %s
      type: object
      properties: {a: {type: string, description: A.}, c: {$ref: "#/types/Checked"}}
      anyOf: [{required: [a]}, {required: [c]}]
    output: {type: object, properties: {}}
`
	f, err := dsl.Parse("tools.yaml", fmt.Appendf(nil, text, draft, "", draft))
	require.NoError(t, err)
	_, err = gen.Generate(f, gen.Options{})
	require.NoError(t, err)

	f, err = dsl.Parse("tools.yaml", fmt.Appendf(nil, text, "type: integer", ", "+draft, draft))
	require.NoError(t, err)
	_, err = gen.Generate(f, gen.Options{})
	assert.ErrorContains(t, err, `dialect "http://json-schema.org/draft-07/schema#" is not known`)
}
