package dsl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestManyTools: a fault among ten thousand tools, and one in a tool of nearly a
// megabyte, have their places.
func TestManyTools(t *testing.T) {
	var many strings.Builder
	many.WriteString("ambit: v1\npackage: shop\ntools:\n")
	for i := range 10_000 {
		fmt.Fprintf(&many, "  t%d: {version: 1.0.0, description: Do it., input: {}, output: {}}\n", i)
	}
	f, err := Parse("tools.yaml", []byte(many.String()))
	require.NoError(t, err)
	assert.Len(t, f.Tools, 10_000)
	many.WriteString("  last: {version: 1.0.0, description: Do it., input: {type: string}, output: {}}\n")
	_, err = Parse("tools.yaml", []byte(many.String()))
	assert.EqualError(t, err, "tools.yaml:10004:54: input must be an object")

	long := strings.Repeat("x", maxSource-1000)
	_, err = Parse("tools.yaml", declaring("{type: string, description: "+long+", minLength: -1}"))
	assert.EqualError(t, err, fmt.Sprintf("tools.yaml:10:%d: minLength must be at least 0, not -1", len(long)+53))
}
