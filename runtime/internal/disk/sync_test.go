package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

func TestAll(t *testing.T) {
	require.NoError(t, disk.All())
	d, err := disk.Open(t.TempDir())
	require.NoError(t, err)
	defer d.Close()
	var list []disk.Syncer
	done := make([]bool, 5)
	for i := range done {
		f, err := disk.Create(d, string(rune('a'+i)), []byte("x"), 0o600)
		require.NoError(t, err)
		defer f.Close()
		list = append(list, disk.Beside(func() { done[i] = true }), f)
	}
	require.NoError(t, disk.All(append(list, disk.SyncDir{Dir: d, Name: "."})...))
	assert.Equal(t, []bool{true, true, true, true, true}, done)
	err = disk.All(append(list, disk.SyncDir{Dir: d, Name: "gone"})...)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// flaky is a file of another disk.
type flaky struct {
	name  string
	err   error
	order *[]string
}

func (f flaky) Sync() error {
	*f.order = append(*f.order, f.name)
	return f.err
}

// A simulation has to do the same twice.
func TestAllOfAnotherDiskIsInOrder(t *testing.T) {
	var order []string
	bad := errors.New("bad")
	err := disk.All(flaky{"a", nil, &order}, flaky{"b", bad, &order}, disk.Beside(func() { order = append(order, "beside") }), flaky{"c", nil, &order})
	require.ErrorIs(t, err, bad)
	assert.Equal(t, []string{"a", "b", "beside", "c"}, order)
}

// The file that Create returns can be read, with any mode.
func TestCreateCanBeRead(t *testing.T) {
	dir := t.TempDir()
	d, err := disk.Open(dir)
	require.NoError(t, err)
	defer d.Close()
	f, err := disk.Create(d, "a", []byte("text"), 0o200)
	require.NoError(t, err)
	defer f.Close()
	b := make([]byte, 2)
	_, err = f.ReadAt(b, 2)
	require.NoError(t, err)
	assert.Equal(t, "xt", string(b))
	info, err := os.Stat(filepath.Join(dir, "a"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o200), info.Mode())
}
