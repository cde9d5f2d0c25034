package host_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// with counts the reports that contain a text.
func (f *faults) with(text string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.list {
		if strings.Contains(s, text) {
			n++
		}
	}
	return n
}

// TestWarningsOfSize: a host warns once of a large store from which nothing leaves, and says why, and not of one that
// is small or archives. The store of the test has less than a MiB: the limit is lower.
// SEMANTICS 6.14.5
func TestWarningsOfSize(t *testing.T) {
	silent := audit.AnchorFunc(func(context.Context, []byte) error { return nil })
	for name, c := range map[string]struct {
		config host.Config
		bytes  int64
		want   string
	}{
		"keeps all":      {host.Config{Retain: host.KeepAll}, 1 << 10, "Config.Retain is KeepAll"},
		"small":          {host.Config{Retain: host.KeepAll}, 1 << 30, ""},
		"archives":       {host.Config{}, 1 << 10, ""},
		"no anchor":      {host.Config{Anchor: silent}, 1 << 10, "Config.Anchor is no audit.NoteReader"},
		"no anchor, new": {host.Config{Anchor: silent}, 1 << 30, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var f faults
			c.config.Tools, c.config.Policies, c.config.Dir, c.config.Report = noteTools(nil), policies(), t.TempDir(), f.report
			h, err := host.Open(t.Context(), host.Within(c.config, time.Hour, c.bytes))
			require.NoError(t, err)
			require.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
			for range 3 { // a host looks when it starts, too
				require.NoError(t, h.RetainOnce(t.Context(), time.Now()))
			}
			require.NoError(t, h.Close(t.Context()))
			want := 1
			if c.want == "" {
				want = 0
			}
			assert.Equal(t, want, f.with("MiB, and"), f.list)
			if c.want != "" {
				assert.Equal(t, 1, f.with(c.want), f.list)
			}
		})
	}
}

// TestWarningsComeAgain: a store that was small again is warned of again.
// SEMANTICS 6.14.5
func TestWarningsComeAgain(t *testing.T) {
	var f faults
	h := used(t, host.Within(host.Config{Dir: t.TempDir(), Report: f.report}, time.Hour, 1))
	require.NoError(t, h.RetainOnce(t.Context(), time.Now()))
	require.Equal(t, 1, f.with("MiB, and"))
	host.SetLimit(h, 1<<30)
	require.NoError(t, h.RetainOnce(t.Context(), time.Now()))
	host.SetLimit(h, 1)
	require.NoError(t, h.RetainOnce(t.Context(), time.Now()))
	require.NoError(t, h.RetainOnce(t.Context(), time.Now()))
	require.Equal(t, 2, f.with("MiB, and"))
}

// TestWarningOfAStart: a start that takes longer than its limit is reported, and no other.
// SEMANTICS 6.14.5
func TestWarningOfAStart(t *testing.T) {
	for limit, want := range map[time.Duration]int{0: 1, time.Hour: 0} {
		var f faults
		h, err := host.Open(t.Context(), host.Within(host.Config{Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir(), Report: f.report}, limit, 1<<30))
		require.NoError(t, err)
		require.NoError(t, h.Close(t.Context()))
		assert.Equal(t, want, f.with("the recovery took"), slices.Clone(f.list))
	}
}
