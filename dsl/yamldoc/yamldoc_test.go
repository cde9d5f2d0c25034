package yamldoc_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/dsl/yamldoc"
)

func TestDecode(t *testing.T) {
	doc, second, err := yamldoc.Decode([]byte("a: 1\n"))
	require.NoError(t, err)
	require.NotNil(t, doc)
	assert.Nil(t, second)
	assert.Equal(t, "a", doc.Content[0].Content[0].Value)

	doc, second, err = yamldoc.Decode(nil)
	require.NoError(t, err)
	assert.Nil(t, doc)
	assert.Nil(t, second)

	_, second, err = yamldoc.Decode([]byte("a: 1\n---\nb: 2\n"))
	require.NoError(t, err)
	require.NotNil(t, second)
	assert.Equal(t, 2, second.Line)
}

func TestFault(t *testing.T) {
	for src, want := range map[string]struct {
		line int
		what string
	}{
		"a:\n\t- b\n":         {2, "found character that cannot start any token"},
		"a: b: c\n":           {0, "mapping values are not allowed in this context"},
		"a: *x\n":             {0, "unknown anchor 'x' referenced"},
		"a: 1\nb: 2\nc: [1\n": {3, "did not find expected ',' or ']'"},
	} {
		doc, second, err := yamldoc.Decode([]byte(src))
		require.Error(t, err, src)
		assert.Nil(t, doc)
		assert.Nil(t, second)
		line, what := yamldoc.Fault(err)
		assert.Equal(t, want.what, what, src)
		assert.Equal(t, want.line, line, src)
	}
}
