package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/examples/workspace/filetools"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/wire"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// folderOf returns the tools on a new directory with an empty docs/.
func folderOf(t *testing.T) (*tools, string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "docs"), 0o755))
	objects, err := content.Open(filepath.Join(t.TempDir(), "objects"))
	require.NoError(t, err)
	ws, err := workspace.Open(dir, objects)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, ws.Close())
		require.NoError(t, objects.Close())
	})
	return &tools{ws: ws}, dir
}

// save prepares and makes a write as the runtime would.
func (w *tools) save(t *testing.T, name, text string) (*filetools.Change, error) {
	t.Helper()
	change, err := w.prepare(t.Context(), name, text)
	if err != nil {
		return nil, err
	}
	tx, err := w.ws.BeginTx(t.Context(), workspace.Key{Session: "s", Call: name})
	require.NoError(t, err)
	ctx := workspace.WithTx(t.Context(), tx)
	if err := w.write(ctx, name, text); err != nil {
		require.NoError(t, tx.Rollback(ctx))
		return nil, err
	}
	_, err = tx.Seal(ctx)
	require.NoError(t, err)
	return change, tx.Commit(ctx)
}

func TestWriteIsTakenBack(t *testing.T) {
	w, dir := folderOf(t)
	name := filepath.Join(dir, "docs", "run.sh")
	require.NoError(t, os.WriteFile(name, []byte("old"), 0o644))
	require.NoError(t, os.Chmod(name, 0o751))
	first, err := w.save(t, "docs/run.sh", "new")
	require.NoError(t, err)
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o751), info.Mode())
	second, err := w.save(t, "docs/deep/er/a.md", "text")
	require.NoError(t, err)

	for range 2 { // it may run more than once
		require.NoError(t, w.takeBack(t.Context(), second))
		require.NoDirExists(t, filepath.Join(dir, "docs", "deep"))
		require.NoError(t, w.takeBack(t.Context(), first))
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, "old", string(text))
	}
	require.NoError(t, os.WriteFile(name, []byte("mine"), 0o644))
	require.ErrorIs(t, w.takeBack(t.Context(), first), runtime.ErrDrift)
}

func TestWhatAnUndoNeedsCanBeStored(t *testing.T) {
	want := workspace.Snapshot{}.WithFile("a", []byte("text"), 0o640).WithDir("b", 0o755).Without("c")
	change := filetools.Change{Before: stored(want)}
	require.Equal(t, want, loaded(change.Before))
}

func TestNothingIsWrittenThroughLinks(t *testing.T) {
	w, dir := folderOf(t)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "src"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "src", "a.go"), []byte("mine"), 0o644))
	require.NoError(t, os.Symlink("../src", filepath.Join(dir, "docs", "folder")))
	require.NoError(t, os.Symlink("../src/a.go", filepath.Join(dir, "docs", "file")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "docs", "dangling")))

	for _, name := range []string{"docs/folder/a.go", "docs/folder/new/b.go", "docs/file", "docs/dangling"} {
		_, err := w.save(t, name, "x")
		require.ErrorContains(t, err, "link", name)
	}
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
	for name, want := range map[string]string{
		"docs/missing.md": `"docs/missing.md" does not exist: file_list says what does`,
		"docs":            `"docs" is a folder: name a file in it`,
		"docs/a.bin":      `"docs/a.bin" is not a text: name another file`,
	} {
		_, err := w.read(t.Context(), name)
		require.EqualError(t, err, want)
	}
	for name, want := range map[string]string{
		"docs":           `"docs" is a folder: name a file in it`,
		"docs//fees.md":  `write "docs/fees.md": the path may not be used`,
		"../a.md":        `path "../a.md": it has an element ..: the path may not be used`,
		"/etc/a.md":      `path "/etc/a.md": it is absolute: paths begin in the workspace: the path may not be used`,
		"docs/a.bin/b.c": `"docs/a.bin" is no directory`,
		".git/config":    `path ".git/config": the repository of the user is not written: the path may not be used`,
	} {
		_, err := w.save(t, name, "x")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), dir)
	}
}

func TestListSaysWhatIsALink(t *testing.T) {
	w, dir := folderOf(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs", "a.md"), []byte("1"), 0o644))
	require.NoError(t, os.Symlink("..", filepath.Join(dir, "docs", "up")))
	list := func(path string, depth int64) []filetools.FileListOutputEntriesItem {
		out, err := w.FileList(context.Background(), &filetools.FileListInput{Path: path, Depth: depth})
		require.NoError(t, err)
		return out.Entries
	}
	docs := filetools.FileListOutputEntriesItem{Path: "docs", Kind: filetools.FileListOutputEntriesItemKindFolder}
	file := filetools.FileListOutputEntriesItem{Path: "docs/a.md", Kind: filetools.FileListOutputEntriesItemKindFile, Size: wire.Some[int64](1)}
	link := filetools.FileListOutputEntriesItem{Path: "docs/up", Kind: filetools.FileListOutputEntriesItemKindLink}
	require.Equal(t, []filetools.FileListOutputEntriesItem{docs, file, link}, list(".", 8))
	require.Equal(t, []filetools.FileListOutputEntriesItem{docs}, list(".", 1))
	require.Equal(t, []filetools.FileListOutputEntriesItem{file, link}, list("./docs/", 1))
	require.Equal(t, []filetools.FileListOutputEntriesItem{file}, list("docs/a.md", 1))
}
