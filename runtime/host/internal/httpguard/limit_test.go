package httpguard_test

import (
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/internal/httpguard"
)

// TestLimiter: an identity gives as many answers at once as the bucket holds, then one a second. Where too many
// are counted, those that gave some lately may be forgotten, and none is refused for another.
func TestLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l httpguard.Limiter
		for range 30 {
			require.True(t, l.Take("alice"))
		}
		assert.False(t, l.Take("alice"))
		assert.True(t, l.Take("bob"))
		time.Sleep(time.Second)
		assert.True(t, l.Take("alice"))
		assert.False(t, l.Take("alice"))
		for i := range 3_000 {
			assert.True(t, l.Take(strconv.Itoa(i)))
		}
	})
}
