package engine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTooMany: one call of a session warns, the first one above the limit.
// SEMANTICS 6.14.5
func TestTooMany(t *testing.T) {
	warned := 0
	for n := range 3 * manyCalls {
		r := callRecord{Number: n}
		if err := r.TooMany("s"); err != nil {
			assert.Equal(t, 10_001, n)
			assert.EqualError(t, err, `session "s" has more than 10000 calls, of which each is remembered: begin new sessions, and end those that are over (Session.End)`)
			warned++
		}
	}
	assert.Equal(t, 1, warned)
}
