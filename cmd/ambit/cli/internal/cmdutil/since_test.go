package cmdutil_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

func TestSince(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h": now.Add(-2 * time.Hour), "2026-11-19": now.Add(-36 * time.Hour), "2026-11-20T10:00:00+01:00": now.Add(-3 * time.Hour),
	} {
		got, err := cmdutil.Since(text, now)
		require.NoError(t, err)
		assert.True(t, want.Equal(got), text)
	}
	_, err := cmdutil.Since("soon", now)
	assert.Error(t, err)
}
