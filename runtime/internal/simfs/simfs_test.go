package simfs_test

import (
	"errors"
	"io"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
)

func read(t *testing.T, d *simfs.Disk, name string) string {
	f, err := d.Root().Open(name, os.O_RDONLY, 0)
	if err != nil {
		return "-"
	}
	data, err := io.ReadAll(f)
	require.NoError(t, err)
	return string(data)
}

// TestWhatIsSyncedStays holds what a program may rely on, and that the disk does
// not let it rely on more.
func TestWhatIsSyncedStays(t *testing.T) {
	unsynced, unnamed := map[string]int{}, map[string]int{}
	for seed := range uint64(200) {
		d := simfs.New(seed)
		root := d.Root()
		f, err := disk.Create(root, "a", []byte("synced"), 0o600)
		require.NoError(t, err)
		require.NoError(t, disk.All(f, disk.SyncDir{Dir: root, Name: "."}))
		_, err = f.Write([]byte("+lost"))
		require.NoError(t, err)
		g, err := disk.Create(root, "b", []byte("x"), 0o600)
		require.NoError(t, err)
		require.NoError(t, g.Sync())
		d.Crash()
		a, b := read(t, d, "a"), read(t, d, "b")
		require.Equal(t, "synced", a[:6])
		unsynced[a]++
		unnamed[b]++
		_, err = f.Write(nil)
		require.ErrorIs(t, err, simfs.ErrPower, "it was opened before")
	}
	assert.Greater(t, len(unsynced), 5, "nothing, all, parts, zeros: %q", unsynced)
	assert.Len(t, unnamed, 2, "a name that was not synced may be there: %q", unnamed)
}

func TestASyncThatFailedLies(t *testing.T) {
	d := simfs.New(1)
	root := d.Root()
	f, err := disk.Create(root, "a", []byte("kept"), 0o600)
	require.NoError(t, err)
	require.NoError(t, disk.All(f, disk.SyncDir{Dir: root, Name: "."}))
	_, err = f.Write([]byte("lost"))
	require.NoError(t, err)
	d.Fail(simfs.Faults{Sync: 1})
	require.ErrorIs(t, f.Sync(), syscall.EIO)
	d.Fail(simfs.Faults{})
	require.NoError(t, f.Sync(), "it says that all is well")
	assert.Equal(t, "keptlost", read(t, d, "a"))
	d.Crash()
	assert.Equal(t, "kept\x00\x00\x00\x00", read(t, d, "a"))
}

func TestASeedDecidesAll(t *testing.T) {
	run := func() (list []string) {
		d := simfs.New(7)
		for range 20 {
			d.CutAfter(5)
			for i := range 5 {
				name := string(rune('a' + i))
				f, err := disk.Create(d.Root(), name, []byte(name+name+name), 0o600)
				if err == nil {
					err = f.Sync()
				}
				if errors.Is(err, simfs.ErrPower) {
					break
				}
			}
			d.Crash()
			for _, name := range []string{"a", "b", "c"} {
				list = append(list, read(t, d, name))
			}
		}
		return list
	}
	assert.Equal(t, run(), run())
}

func TestNamesAreThoseOfADisk(t *testing.T) {
	root := simfs.New(1).Root()
	require.NoError(t, root.Mkdir("d", 0o700))
	require.ErrorIs(t, root.Mkdir("d", 0o700), os.ErrExist)
	f, err := disk.Create(root, "d/a", nil, 0o600)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.ErrorIs(t, root.Remove("d"), syscall.ENOTEMPTY)
	_, err = root.Lstat("d/a/b")
	require.ErrorIs(t, err, syscall.ENOTDIR)
	_, err = root.Lstat("x/y")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorIs(t, root.Rename("d/a", "d"), syscall.EISDIR)
	require.NoError(t, root.Rename("d/a", "b"))
	require.NoError(t, root.Remove("d"))
	names, err := root.List()
	require.NoError(t, err)
	assert.Equal(t, []string{"b"}, names)
}

// TestForksAreApart changes two disks that were one.
func TestForksAreApart(t *testing.T) {
	a := simfs.New(1)
	f, err := disk.Create(a.Root(), "f", []byte("1"), 0o600)
	require.NoError(t, err)
	require.NoError(t, disk.All(f, disk.SyncDir{Dir: a.Root(), Name: "."}))
	times := 0
	a.Around(func() func() { times++; return func() { times++ } })
	b := a.Fork(2)
	_, err = f.Write([]byte("2"))
	require.NoError(t, err)
	assert.Equal(t, 2, times, "before and after")
	g, err := b.Root().Open("f", os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = g.Write([]byte("3"))
	require.NoError(t, errors.Join(err, g.Sync()))
	require.NoError(t, b.Root().Remove("f"))
	assert.Equal(t, 2, times, "nobody stands around a fork")
	assert.Equal(t, "12", read(t, a, "f"))
	assert.Equal(t, "-", read(t, b, "f"))
	a.Crash()
	assert.Equal(t, "1", read(t, a, "f")[:1])
}
