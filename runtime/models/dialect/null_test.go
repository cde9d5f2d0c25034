package dialect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// TestNullOfASchemaThatRefersToItself: null stays where the schema allows it, also in a schema whose
// definition is not complete when a member of it refers to it.
func TestNullOfASchemaThatRefersToItself(t *testing.T) {
	for _, test := range []struct{ tree, input, want string }{
		{`{"type":["object","null"],"properties":{"left":{"$ref":"#/$defs/T"}},"additionalProperties":false}`, `{"t":{"left":null}}`, `{"t":{"left":null}}`},
		{`{"anyOf":[{"type":"null"},{"type":"object","properties":{"left":{"$ref":"#/$defs/T"}},"additionalProperties":false}]}`, `{"t":{"left":null}}`, `{"t":{"left":null}}`},
		{`{"type":"object","properties":{"left":{"$ref":"#/$defs/T"}},"additionalProperties":false}`, `{"t":{"left":null}}`, `{"t":{}}`},
		{`{"type":"object","properties":{"left":{"$ref":"#/$defs/U"}},"additionalProperties":false}`, `{"t":{"left":null}}`, `{"t":{"left":null}}`},
	} {
		s, err := dialect.Rewrite([]byte(`{"type":"object","properties":{"t":{"$ref":"#/$defs/T"}},"required":["t"],"additionalProperties":false,
			"$defs":{"T":`+test.tree+`,"U":{"anyOf":[{"$ref":"#/$defs/T"},{"type":"null"}]}}}`), dialect.OpenAIStrict)
		require.NoError(t, err)
		require.True(t, s.Strict, "%v", s.Notes)
		assert.Equal(t, test.want, string(s.Restore([]byte(test.input))), test.tree)
	}
}

// TestBranchesByAnyScalar: constants of any scalar type tell the branches of a union apart.
func TestBranchesByAnyScalar(t *testing.T) {
	for _, kinds := range [][2]string{{`1`, `2`}, {`true`, `false`}, {`1.5`, `"a"`}, {`"a"`, `null`}} {
		branch := func(kind, with string) string {
			return `{"type":"object","properties":{"kind":{"const":` + kind + `},"with":` + with + `},"required":["kind"],"additionalProperties":false}`
		}
		cut := `{"type":"object","properties":{"kind":{"const":` + kinds[1] + `},"with":{"type":["string","null"]}},"required":["kind","with"],"additionalProperties":false}`
		s, err := dialect.Rewrite([]byte(`{"type":"object","properties":{"edit":{"anyOf":[`+branch(kinds[0], `{"type":"string"}`)+`,`+cut+`]}},"required":["edit"],"additionalProperties":false}`), dialect.OpenAIStrict)
		require.NoError(t, err)
		require.True(t, s.Strict, "%v", s.Notes)
		assert.Equal(t, `{"edit":{"kind":`+kinds[0]+`}}`, string(s.Restore([]byte(`{"edit":{"kind":`+kinds[0]+`,"with":null}}`))))
		same := `{"edit":{"kind":` + kinds[1] + `,"with":null}}`
		assert.Equal(t, same, string(s.Restore([]byte(same))))
	}
}
