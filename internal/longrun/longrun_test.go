package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestAMadeStoreIsOneOfAnExecutor: the entries that were written under other names are authenticated, signed
// and recovered like those of calls that were made, and a hundred runs are open.
func TestAMadeStoreIsOneOfAnExecutor(t *testing.T) {
	m := made{filepath.Join(t.TempDir(), "a.db"), 1200}
	require.NoError(t, generate(t.Context(), m))
	dir := t.TempDir()
	ambit, err := build(t.Context(), "../..", filepath.Join(dir, "ambit"), "./cmd/ambit")
	require.NoError(t, err)
	rig := &rig{dir: dir, ambit: ambit, few: m, many: m, log: io.Discard}
	_, err = rig.verb(t.Context(), ambit, "audit", "verify", "--store", m.path, "--key", m.key()+audit.PublicSuffix, "--anchor", m.anchor())
	require.NoError(t, err)
	_, err = rig.cutCopy(t.Context(), m)
	require.NoError(t, err)
	r, err := sqlite.OpenReader(m.path, sqlite.WithKeys(m.path+".keys"))
	require.NoError(t, err)
	_, err = r.Authenticate(t.Context())
	require.NoError(t, err)
	rows, err := r.Calls(t.Context(), sqlite.CallFilter{Limit: 5000})
	require.NoError(t, err)
	assert.Len(t, rows, 1200)
	require.NoError(t, r.Close())

	s, log, err := m.open(t.Context())
	require.NoError(t, err)
	exec, err := newExecutor(t.Context(), log.Journal())
	require.NoError(t, err)
	open := 0
	for n := range 120 {
		session, ok := exec.FindSession(fmt.Sprintf("s%08d", n))
		require.True(t, ok, n)
		if _, ok := session.Run(fmt.Sprintf("r%08d", n)); ok {
			open++
		}
	}
	assert.Equal(t, openSessions, open)
	ctx := context.Background()
	require.NoError(t, exec.Shutdown(ctx))
	require.NoError(t, log.Close(ctx))
	require.NoError(t, s.Close())

	for _, what := range []string{"start", "export", "archive"} {
		f, err := measurements[what](t.Context(), m)
		require.NoError(t, err, what)
		assert.NotEmpty(t, f, what)
	}
	m.calls = 2000
	f, err := session(t.Context(), m)
	require.NoError(t, err)
	assert.Positive(t, f["many"])
}

// TestATableSaysWhatIsNotMet: a bar that waits for work is named and lets the rest pass, any other does not.
func TestATableSaysWhatIsNotMet(t *testing.T) {
	for _, c := range []struct {
		b    bar
		met  bool
		says string
	}{
		{bar{value: 1, bar: 2}, true, "| met ("},
		{bar{value: 3, bar: 2}, false, "| NOT MET ("},
		{bar{value: 3, bar: 2, least: true}, true, "| met ("},
		{bar{value: 1, bar: 2, least: true}, false, "| NOT MET ("},
		{bar{value: 3, bar: 2, waits: quiet}, true, "| not met: waits for a machine with nothing else on it ("},
		{bar{value: 1, bar: 2, waits: quiet}, true, "| met, though it waits for"},
	} {
		var out strings.Builder
		assert.Equal(t, c.met, table(&out, []bar{c.b}))
		assert.Contains(t, out.String(), c.says)
	}
}

func TestAnUnknownChildIsRefused(t *testing.T) {
	var stdout, stderr strings.Builder
	assert.Equal(t, 1, run([]string{"-child", "nothing"}, &stdout, &stderr))
	assert.Contains(t, stderr.String(), `no child measures "nothing"`)
	assert.Equal(t, 1, run([]string{"-calls", "10"}, &stdout, &stderr))
	assert.Contains(t, stderr.String(), "the large store has at least 20000 calls")
}
