package cmdutil

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestProgress has a clock of its own.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(0, 0)
	p := newProgress(&out, func() time.Time { return now })
	p.Step("verifying", 200)
	p.Add(10)
	p.Close()
	assert.Empty(t, out.String(), "a command that is quick says nothing")
	now = now.Add(progressEvery)
	p.Add(40)
	p.Add(50)
	assert.Equal(t, "\r\x1b[Kverifying: 50 of 200 entries, 25%", out.String())
	now = now.Add(progressEvery)
	p.Step("packing", 0)
	p.Close()
	p.Close()
	assert.Equal(t, "\r\x1b[Kverifying: 50 of 200 entries, 25%\r\x1b[Kpacking\r\x1b[K", out.String())
}

// TestProgressIsForTerminals has a file and a buffer, which are none.
func TestProgressIsForTerminals(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	for _, p := range []*Progress{NewProgress(f), NewProgress(new(bytes.Buffer))} {
		assert.Nil(t, p)
		p.Step("verifying", 1)
		p.Add(1)
		p.Close()
	}
	text, err := os.ReadFile(f.Name())
	require.NoError(t, err)
	assert.Empty(t, text)
	require.NoError(t, f.Close())
}
