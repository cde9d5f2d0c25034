package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// folderOf returns a workspace on a new directory with an empty docs/.
func folderOf(t *testing.T) (*workspace, string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "docs"), 0o755))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { root.Close() })
	return &workspace{root: root}, dir
}

func TestWritersOfOneFileAllSucceed(t *testing.T) {
	w, dir := folderOf(t)
	foreign := filepath.Join(dir, "docs", "a.md.ambit-new")
	require.NoError(t, os.WriteFile(foreign, []byte("mine"), 0o644))
	var wait sync.WaitGroup
	failures := make([]error, 50)
	for i := range failures {
		wait.Go(func() { failures[i] = w.save("docs/deep/a.md", []byte(fmt.Sprint(i))) })
	}
	wait.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, "docs", "deep"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "no file is left over")
	require.NoError(t, w.save("docs/a.md", []byte("text")))
	text, err := os.ReadFile(foreign)
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
}

func TestWriteKeepsTheMode(t *testing.T) {
	w, dir := folderOf(t)
	name := filepath.Join(dir, "docs", "run.sh")
	require.NoError(t, os.WriteFile(name, nil, 0o644))
	require.NoError(t, os.Chmod(name, 0o751))
	require.NoError(t, w.save("docs/run.sh", []byte("text")))
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o751), info.Mode())
}

func TestNothingIsWrittenThroughLinks(t *testing.T) {
	w, dir := folderOf(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "src"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "src", "a.go"), []byte("mine"), 0o644))
	require.NoError(t, os.Symlink("../src", filepath.Join(dir, "docs", "folder")))
	require.NoError(t, os.Symlink("../src/a.go", filepath.Join(dir, "docs", "file")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "docs", "dangling")))

	require.EqualError(t, w.save("docs/folder/a.go", []byte("x")), `"docs/folder" `+errLink.Error())
	require.EqualError(t, w.save("docs/folder/new/b.go", []byte("x")), `"docs/folder" `+errLink.Error())
	require.EqualError(t, w.save("docs/file", []byte("x")), `"docs/file" `+errLink.Error())
	require.EqualError(t, w.save("docs/dangling", []byte("x")), `"docs/dangling" `+errLink.Error())

	entries, err := os.ReadDir(filepath.Join(dir, "src"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	text, err := os.ReadFile(filepath.Join(dir, "src", "a.go"))
	require.NoError(t, err)
	require.Equal(t, "mine", string(text))
}

func TestErrorsNameThePathAndTheRemedy(t *testing.T) {
	w, dir := folderOf(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "a.bin"), []byte{0xff}, 0o644))
	_, err := w.read("docs/missing.md")
	require.EqualError(t, err, `"docs/missing.md" does not exist: file_list says what does`)
	_, err = w.read("docs")
	require.EqualError(t, err, `"docs" is a folder: name a file in it`)
	_, err = w.read("docs/a.bin")
	require.EqualError(t, err, `"docs/a.bin" is not a text: name another file`)
	require.EqualError(t, w.save("docs", []byte("x")), `"docs" is a folder: name a file in it`)
	require.EqualError(t, w.save("docs/", []byte("x")), `"docs/" is a folder: name a file in it`)
	require.EqualError(t, w.save("../a.md", []byte("x")), `"../a.md" leads out of the workspace: name a path below it`)
	require.EqualError(t, w.save("/etc/a.md", []byte("x")), `"/etc/a.md" leads out of the workspace: name a path below it`)
	require.EqualError(t, w.save("docs/a.bin/b.md", []byte("x")), `"docs/a.bin" is a file: it can hold no others`)
}

func TestListSaysWhatIsALink(t *testing.T) {
	w, dir := folderOf(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "a.md"), []byte("1"), 0o644))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "docs", "up")))
	out, err := w.FileList(t.Context(), &filetools.FileListInput{Path: ".", Depth: 8})
	require.NoError(t, err)
	require.Equal(t, []filetools.FileListOutputEntriesItem{
		{Path: "docs", Kind: filetools.FileListOutputEntriesItemKindFolder},
		{Path: "docs/a.md", Kind: filetools.FileListOutputEntriesItemKindFile, Size: wire.Some[int64](1)},
		{Path: "docs/up", Kind: filetools.FileListOutputEntriesItemKindLink},
	}, out.Entries)
}
