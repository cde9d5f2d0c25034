package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestBlocked: a turn blocks the tools that were added, and no other.
func TestBlocked(t *testing.T) {
	var b blockedTools
	assert.False(t, b.Has(0))
	b.Add(2)
	b.Add(2)
	b.Add(5)
	for i, want := range []bool{false, false, true, false, false, true, false} {
		assert.Equal(t, want, b.Has(i), i)
	}
}
