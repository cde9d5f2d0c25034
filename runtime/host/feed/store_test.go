package feed_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/feed"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// stored opens the feed of a store, and that of a successor which holds the living owner of the
// store for dead.
func stored(t *testing.T) (journal.Journal, func() journal.Journal) {
	path := filepath.Join(t.TempDir(), "store")
	open := func(opts ...sqlite.Option) journal.Journal {
		s, err := sqlite.Open(path, opts...)
		require.NoError(t, err)
		t.Cleanup(func() { _ = s.Close() }) // a store that was taken over cannot be closed in order
		return feed.New(s, s.Health().Head).Journal()
	}
	return open(), func() journal.Journal {
		require.NoError(t, os.Remove(path+".lock"))
		return open(sqlite.WithWait(time.Hour))
	}
}

// TestFeedOfAStore runs the suites of what the store of the feed is.
func TestFeedOfAStore(t *testing.T) {
	t.Run("owner", func(t *testing.T) { runtimetest.TestOwner(t, stored) })
	t.Run("keeper", func(t *testing.T) {
		runtimetest.TestKeeper(t, func(t *testing.T) (journal.Journal, func() journal.Journal) {
			path := filepath.Join(t.TempDir(), "store")
			s, err := sqlite.Open(path)
			require.NoError(t, err)
			return feed.New(s, 0).Journal(), func() journal.Journal {
				require.NoError(t, s.Close())
				s, err = sqlite.Open(path)
				require.NoError(t, err)
				t.Cleanup(func() { _ = s.Close() })
				return feed.New(s, s.Health().Head).Journal()
			}
		})
	})
	t.Run("fencer", func(t *testing.T) { runtimetest.TestFencer(t, stored) })
}
