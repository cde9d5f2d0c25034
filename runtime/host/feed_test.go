package host_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestFeedOutlivesTheProcess follows calls over two processes, and resumes in between.
func TestFeedOutlivesTheProcess(t *testing.T) {
	config := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir()}
	kinds := feed.Filter{Session: "s", Kinds: []string{"tool.invoked", "tool.completed"}}
	after := uint64(0)
	for _, id := range []string{"c1", "c2"} {
		h, err := host.Open(t.Context(), config)
		require.NoError(t, err)
		execute(t, h, id, "Shopping")
		var seen []string
		for e, err := range h.Feed.Subscribe(t.Context(), after, kinds) {
			require.NoError(t, err)
			after = e.Seq
			seen = append(seen, e.Kind+" "+e.Call)
			if e.Kind == "tool.completed" {
				break
			}
		}
		assert.Equal(t, []string{"tool.invoked " + id, "tool.completed " + id}, seen)
		ended := make(chan error)
		go func() {
			for _, err := range h.Feed.Subscribe(t.Context(), after, kinds) {
				ended <- err
			}
		}()
		require.NoError(t, h.Close(t.Context()))
		assert.ErrorIs(t, <-ended, journal.ErrClosed)
	}
}
