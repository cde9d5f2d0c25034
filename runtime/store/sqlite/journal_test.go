package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/runtimetest"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a store and closes it at the end of the test.
func open(t testing.TB, path string, opts ...sqlite.Option) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(path, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// reopened opens a store, and opens it again once it is closed.
func reopened(t *testing.T) (journal.Journal, func() journal.Journal) {
	path := filepath.Join(t.TempDir(), "store.ambit")
	s := open(t, path)
	return s, func() journal.Journal {
		require.NoError(t, s.Close())
		s = open(t, path)
		return s
	}
}

func TestJournal(t *testing.T) { runtimetest.TestJournal(t, reopened) }

func TestSessions(t *testing.T) { runtimetest.TestSessions(t, reopened) }

func TestRequests(t *testing.T) { runtimetest.TestRequests(t, reopened) }

func TestKeeper(t *testing.T) { runtimetest.TestKeeper(t, reopened) }

func TestJournalCrashes(t *testing.T) {
	for name, fault := range map[string]simdisk.Fault{
		"power": simdisk.PowerCut, "sync": simdisk.SyncFail, "write": simdisk.WriteFail, "full": simdisk.Full,
	} {
		t.Run(name, func(t *testing.T) {
			disk, err := simdisk.New(1)
			require.NoError(t, err)
			runtimetest.TestCrashes(t, func(t *testing.T) (journal.Journal, func(int), func() journal.Journal) {
				disk.Reset(1, nil)
				s, err := sqlite.Open("/store", sqlite.WithDisk(disk))
				require.NoError(t, err)
				return s, func(n int) { disk.Inject(fault, n) }, func() journal.Journal {
					disk.Crash()
					_ = s.Close() // what it saves is lost
					return open(t, "/store", sqlite.WithDisk(disk))
				}
			})
		})
	}
}

// owned opens a store, and a successor that holds its living owner for dead: the lock file of the
// owner is gone.
func owned(t *testing.T) (journal.Journal, func() journal.Journal) {
	path := filepath.Join(t.TempDir(), "store")
	former, err := sqlite.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { _ = former.Close() }) // a store that was taken over cannot be closed in order
	return former, func() journal.Journal {
		require.NoError(t, os.Remove(path+".lock"))
		return open(t, path, sqlite.WithWait(time.Hour))
	}
}

func TestOwner(t *testing.T) { runtimetest.TestOwner(t, owned) }

func TestFencer(t *testing.T) { runtimetest.TestFencer(t, owned) }
