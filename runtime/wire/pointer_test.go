package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

func TestParsePointer(t *testing.T) {
	for text, want := range map[string][]string{
		"": {}, "/": {""}, "/a/0": {"a", "0"}, "/a~1b/~0/~01": {"a/b", "~", "~1"},
	} {
		parts, err := wire.ParsePointer(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, parts)
		again := ""
		for _, part := range parts {
			again += "/" + wire.EscapePointer(part)
		}
		assert.Equal(t, text, again)
	}
	for _, text := range []string{"a", "/~", "/~2", "/a~", "#/a"} {
		_, err := wire.ParsePointer(text)
		assert.ErrorContains(t, err, "is no JSON Pointer", text)
	}
}
