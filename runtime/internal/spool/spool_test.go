package spool_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/internal/spool"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("AMBIT_SPOOL"); dir != "" {
		crash(spool.Folder(dir))
	}
	battery.Main(m)
}

// TestKeepsWhatAKeeperKeeps: at each point of a stream, a reader finds in the file what a Keeper of the
// agent has in memory.
func TestKeepsWhatAKeeperKeeps(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round, most := range []int64{0, 1, 2, 7, 1000, 64 << 10, 300 << 10} {
		d := spool.Folder(filepath.Join(t.TempDir(), "spool"))
		mark := fmt.Sprint("m", round)
		s, err := d.Create(mark, most)
		require.NoError(t, err)
		keeper := process.NewKeeper(most)
		for range battery.Count(t, 40, 200) {
			piece := make([]byte, random.IntN(100<<10)>>random.IntN(17))
			for i := range piece {
				piece[i] = "\nabcdefg"[random.IntN(8)]
			}
			s.Write(process.Stdout, piece)
			_, _ = keeper.Write(piece)
			out, none, err := d.Read(mark)
			require.NoError(t, err)
			want := keeper.Output()
			require.Zero(t, none.Size)
			require.Equal(t, want.Size, out.Size)
			require.Equal(t, want.Truncated, out.Truncated)
			require.True(t, bytes.Equal(want.Head, out.Head) && bytes.Equal(want.Tail, out.Tail))
			if out.Truncated {
				require.Zero(t, out.SHA256, "that of a part would be taken for that of the stream")
				require.Zero(t, out.Lines)
				continue
			}
			require.Equal(t, want.SHA256, out.SHA256)
			require.Equal(t, want.Lines, out.Lines)
		}
		require.NoError(t, s.Close())
		require.NoError(t, d.Remove(mark))
		_, _, err = d.Read(mark)
		require.ErrorIs(t, err, fs.ErrNotExist)
		left, err := os.ReadDir(string(d))
		require.NoError(t, err)
		require.Empty(t, left)
		require.NoError(t, d.Remove(mark), "it is gone already")
	}
}

// TestOutlivesTheAgent: after a kill -9 of the process that wrote, all of it is there.
func TestOutlivesTheAgent(t *testing.T) {
	dir := t.TempDir()
	c := exec.Command("/proc/self/exe")
	c.Env = append(os.Environ(), "AMBIT_SPOOL="+dir)
	if _, err := os.Stat(c.Path); err != nil {
		c.Path = os.Args[0]
	}
	require.ErrorContains(t, c.Run(), "killed")
	out, errs, err := spool.Folder(dir).Read("crashed")
	require.NoError(t, err)
	assert.Equal(t, "before", string(out.Head)+string(out.Tail))
	assert.Equal(t, "too", string(errs.Head)+string(errs.Tail))
}

func crash(d spool.Folder) {
	s, err := d.Create("crashed", 100)
	if err != nil {
		panic(err)
	}
	s.Write(process.Stdout, []byte("before"))
	s.Write(process.Stderr, []byte("too"))
	p, _ := os.FindProcess(os.Getpid())
	_ = p.Kill()
	select {}
}

// TestAnUncountedPiece: a piece that was written, and not counted because the agent died in between, is not
// in what is read, and has destroyed nothing of it.
func TestAnUncountedPiece(t *testing.T) {
	const most = 200
	d := spool.Folder(t.TempDir())
	s, err := d.Create("m", most)
	require.NoError(t, err)
	s.Write(process.Stdout, bytes.Repeat([]byte("0123456789"), 20_000))
	path := filepath.Join(string(d), "m.stdout")
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	before, _, err := d.Read("m")
	require.NoError(t, err)
	s.Write(process.Stdout, bytes.Repeat([]byte("x"), 60_000))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(file[:16], 0)
	require.NoError(t, err)
	after, _, err := d.Read("m")
	require.NoError(t, err)
	assert.Equal(t, before, after)
	require.NoError(t, s.Close())
	require.NoError(t, f.Close())
}

// TestAfterAnError: a stream keeps what it had before an error, and gets no byte behind those that are missing. The
// other stream goes on.
func TestAfterAnError(t *testing.T) {
	for _, size := range []int{3, 20, 200_000} { // in the head, over head and tail, in pieces
		d := spool.Folder(t.TempDir())
		s, err := d.Create("m", 16)
		require.NoError(t, err)
		s.Write(process.Stdout, []byte("before"))
		repair, err := s.Break(process.Stdout)
		require.NoError(t, err)
		s.Write(process.Stdout, bytes.Repeat([]byte("x"), size))
		repair()
		s.Write(process.Stdout, []byte("behind"))
		s.Write(process.Stderr, []byte("other"))
		out, errs, err := d.Read("m")
		require.NoError(t, err)
		assert.EqualValues(t, 6, out.Size)
		assert.Equal(t, "before", string(out.Head)+string(out.Tail))
		assert.Equal(t, "other", string(errs.Head)+string(errs.Tail))
		require.NoError(t, s.Close())
	}
}

// TestSweep: files of no call are removed, and nothing that is no spool.
func TestSweep(t *testing.T) {
	d := spool.Folder(filepath.Join(t.TempDir(), "none"))
	require.NoError(t, d.Sweep(nil), "there is no folder")
	for _, mark := range []string{"a", "b"} {
		s, err := d.Create(mark, 10)
		require.NoError(t, err)
		require.NoError(t, s.Close())
	}
	_, err := d.Create("a", 10)
	require.ErrorIs(t, err, fs.ErrExist)
	_, _, err = d.Read("a")
	require.NoError(t, err, "it is that of another process")
	s, err := d.Create("c", 10)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(filepath.Join(string(d), "-other.txt"), nil, 0o600))
	require.NoError(t, d.Sweep(func(mark string) bool { return mark == "b" }))
	list, err := os.ReadDir(string(d))
	require.NoError(t, err)
	names := []string{}
	for _, e := range list {
		names = append(names, e.Name())
	}
	assert.Equal(t, []string{"-other.txt", "b.stderr", "b.stdout"}, names)
	for _, mark := range []string{"", "../x", "a.b", "a/b"} {
		_, err := d.Create(mark, 1)
		require.ErrorContains(t, err, "no mark")
		_, _, err = d.Read(mark)
		require.ErrorContains(t, err, "no mark")
	}
}

// TestDamagedHeader: a file that no spool wrote is an error, and takes no memory.
func TestDamagedHeader(t *testing.T) {
	d := spool.Folder(t.TempDir())
	for _, text := range []string{"", "short", "\xff\xff\xff\xff\xff\xff\xff\xff0000000\x00", "00000000\xff\xff\xff\xff\xff\xff\xff\x7f", "\x09\x00\x00\x00\x00\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00abc"} {
		require.NoError(t, os.WriteFile(filepath.Join(string(d), "m.stdout"), []byte(text), 0o600))
		_, _, err := d.Read("m")
		require.ErrorContains(t, err, "m.stdout")
	}
}
