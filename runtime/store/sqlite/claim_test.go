package sqlite_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// TestSecondExecutorIsRefused has two executors on one store of one process: the
// second is refused, the first goes on, and when that is shut down another may.
func TestSecondExecutorIsRefused(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "store"))
	first := newBench(t, s, 1)
	require.NoError(t, first.call(0))

	second := newExecutor(t, s)
	require.ErrorIs(t, second.Recover(t.Context()), journal.ErrClaimed)
	require.ErrorContains(t, newExecutor(t, audited(t, s)).Recover(t.Context()), "shut that one down first")
	require.NoError(t, second.Shutdown(t.Context()))
	require.NoError(t, first.call(0), "the first goes on")

	require.NoError(t, first.exec.Shutdown(context.Background()))
	third := newExecutor(t, s)
	require.NoError(t, third.Recover(t.Context()))
	require.NoError(t, third.Shutdown(t.Context()))
}

// TestClaimLooksAgain changes a store between its opening and the recovery.
func TestClaimLooksAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path)
	require.NoError(t, s.Append(t.Context(), []journal.Entry{entry(1, 10), entry(2, 10)}))
	change(t, path, "INSERT INTO entry SELECT 3, at, kind, session, run, call, tool, mark, leaf, mac FROM entry WHERE seq = 2")
	for range 2 {
		require.ErrorIs(t, newExecutor(t, s).Recover(t.Context()), sqlite.ErrForged)
	}
}

// TestFullDisk fills the disk and makes room again: what could not be appended
// can be then, and nothing of it was there before.
func TestFullDisk(t *testing.T) {
	disk, err := simdisk.New(1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, disk.Close()) })
	s := open(t, "/store", sqlite.WithDisk(disk))
	n := uint64(0)
	batch := func(k int) (list []journal.Entry) {
		for i := range k {
			list = append(list, entry(n+uint64(i)+1, 20_000))
		}
		return list
	}
	for _, size := range []int{1, 3, 40} {
		require.NoError(t, s.Append(t.Context(), batch(size)))
		n += uint64(size)
		disk.Inject(simdisk.Full, 2)
		for range 3 {
			require.ErrorIs(t, s.Append(t.Context(), batch(size)), journal.ErrUnavailable, size)
			list, err := s.Read(t.Context(), n, 9)
			require.NoError(t, err)
			require.Empty(t, list)
		}
		require.NoError(t, s.Health().Lost)
		disk.Room()
		require.NoError(t, s.Append(t.Context(), batch(size)))
		n += uint64(size)
		require.NoError(t, s.Check(t.Context()))
	}
	disk.Inject(simdisk.SyncFail, 1)
	require.ErrorIs(t, s.Append(t.Context(), batch(1)), journal.ErrLost)
	assert.ErrorIs(t, s.Append(t.Context(), batch(1)), journal.ErrLost, "a failed fsync is final")
	disk.Crash()
	again := open(t, "/store", sqlite.WithDisk(disk))
	list, err := again.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	require.Contains(t, []uint64{n, n + 1}, uint64(len(list)))
}

// newExecutor returns an executor of no interesting tool, before its recovery.
func newExecutor(t testing.TB, j journal.Journal) *engine.Executor {
	reg, err := runtime.NewRegistry(noteTool())
	require.NoError(t, err)
	exec, err := engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(j))
	require.NoError(t, err)
	return exec
}
