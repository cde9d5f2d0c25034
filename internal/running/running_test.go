package running_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/running"
	"github.com/ambit-tools/ambit/runtime"
)

var now = time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)

// TestFile: the file has the last heartbeats, and is gone when nothing runs.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ambit.db"+running.Suffix)
	require.NoError(t, os.WriteFile(path, []byte("of an earlier owner"), 0o600))
	f := &running.File{Path: path}
	seen := runtime.RunningProcess{ID: runtime.ProcessID{PID: 7, Start: "12", Boot: "b"}, Seen: now, Usage: runtime.ProcessUsage{User: time.Second, Memory: 9}, Tool: "say"}
	require.NoError(t, f.Write(now, nil))
	require.NoFileExists(t, path)
	require.NoError(t, f.Write(now, []runtime.RunningProcess{{ID: runtime.ProcessID{PID: 8}}, seen}))

	beats, err := running.Read(path, now.Add(9*time.Second))
	require.NoError(t, err)
	require.Equal(t, []running.Beat{{ID: seen.ID, Seen: now, Usage: seen.Usage}}, beats)
	require.Equal(t, &beats[0], running.Of(beats, seen.ID))
	require.Nil(t, running.Of(beats, runtime.ProcessID{PID: 7, Start: "13", Boot: "b"}), "another process with its number")
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, f.Write(now, []runtime.RunningProcess{{ID: runtime.ProcessID{PID: 8}}}), "one that has told nothing yet")
	require.NoFileExists(t, path)
	beats, err = running.Read(path, now)
	require.NoError(t, err)
	require.Empty(t, beats)
}

// TestOldFile: what an owner that was killed has left behind says nothing.
func TestOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	f := &running.File{Path: path}
	require.NoError(t, f.Write(now, []runtime.RunningProcess{{ID: runtime.ProcessID{PID: 7}, Seen: now}}))
	for _, at := range []time.Time{now.Add(11 * time.Second), now.Add(-11 * time.Second)} {
		beats, err := running.Read(path, at)
		require.NoError(t, err)
		require.Empty(t, beats)
	}
}

// TestBadFile: a file that is none of an owner is an error that names it.
func TestBadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"", "{", `{"processes":7}`, strings.Repeat(" ", 1<<20+1)} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := running.Read(path, now)
		require.ErrorContains(t, err, path)
	}
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	_, err := running.Read(path, now)
	require.EqualError(t, err, path+" is no regular file")
}

// TestNoLinkIsFollowed: a link in the place of the file is replaced, and what it leads to is not written.
func TestNoLinkIsFollowed(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("kept"), 0o600))
	for _, name := range []string{"file", "file.part"} {
		require.NoError(t, os.Symlink(other, filepath.Join(dir, name)))
	}
	f := &running.File{Path: filepath.Join(dir, "file")}
	require.NoError(t, f.Write(now, []runtime.RunningProcess{{ID: runtime.ProcessID{PID: 7}, Seen: now}}))
	text, err := os.ReadFile(other)
	require.NoError(t, err)
	require.Equal(t, "kept", string(text))
}
