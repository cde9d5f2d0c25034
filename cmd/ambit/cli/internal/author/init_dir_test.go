package author

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}

// Files that appear while init is at work stay, and only those that init made are removed.
func TestMoveReplacesNothing(t *testing.T) {
	stage, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"a.txt", "b/c.txt", "b/d.txt", "e.txt"} {
		writeFile(t, filepath.Join(stage, name), "ours")
	}
	foreign := filepath.Join(dir, "b", "d.txt")
	writeFile(t, filepath.Join(dir, "b.txt"), "theirs")

	var made placed
	require.NoError(t, made.claim(filepath.Join(dir, "b"), true))
	writeFile(t, foreign, "theirs")
	made = placed{}
	err := made.move(stage, dir, nil)
	require.EqualError(t, err, `"b" appeared in "`+dir+`" meanwhile`)
	made.remove()

	text, err := os.ReadFile(foreign)
	require.NoError(t, err)
	require.Equal(t, "theirs", string(text))
	require.NoFileExists(t, filepath.Join(dir, "a.txt"))
	require.FileExists(t, filepath.Join(dir, "b.txt"))
}

func TestMoveKeepsWhatMayStay(t *testing.T) {
	stage, dir := t.TempDir(), t.TempDir()
	writeFile(t, filepath.Join(stage, "README.md"), "ours")
	writeFile(t, filepath.Join(stage, "a", "README.md"), "ours")
	writeFile(t, filepath.Join(dir, "readme.md"), "theirs")
	var made placed
	kept, err := keep(dir)
	require.NoError(t, err)
	require.NoError(t, made.move(stage, dir, kept))
	text, err := os.ReadFile(filepath.Join(dir, "readme.md"))
	require.NoError(t, err)
	require.Equal(t, "theirs", string(text))
	require.FileExists(t, filepath.Join(dir, "a", "README.md"))
}

// An error does not name files that only init uses.
func TestWhatCannotBeWrittenIsNamedAsGiven(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "mkdir", Path: "app/.ambit-init-7", Err: fs.ErrPermission}, `"app": permission denied`},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: fs.ErrPermission}, `"app": permission denied`},
		{&fs.PathError{Op: "mkdir", Path: "app/.ambit-init-7", Err: fs.ErrNotExist}, `"app": nothing can be written there`},
	} {
		require.EqualError(t, cannotWrite("app", test.err), test.want)
	}
}
