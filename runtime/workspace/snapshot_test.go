package workspace_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

func TestRestore(t *testing.T) {
	b := newBench(t)
	b.put("d/a", "before")
	b.put("b", "before")
	require.NoError(t, os.Chmod(filepath.Join(b.dir, "b"), 0o751))
	want := b.tree()
	before, err := b.ws.Snapshot(t.Context(), "d", "d/a", "b", "new", "new/x")
	require.NoError(t, err)
	text, err := json.Marshal(before)
	require.NoError(t, err)
	var kept workspace.Snapshot // what a prepare handler returned
	require.NoError(t, json.Unmarshal(text, &kept))

	ctx, tx := b.begin()
	require.NoError(t, b.ws.Remove(ctx, "d/a"))
	require.NoError(t, b.ws.Remove(ctx, "d"))
	require.NoError(t, b.ws.WriteFile(ctx, "b", []byte("after"), 0o600))
	require.NoError(t, b.ws.Mkdir(ctx, "new", 0o755))
	require.NoError(t, b.ws.WriteFile(ctx, "new/x", []byte("after"), 0o600))
	b.commit(tx)
	after := kept.Without("d/a").Without("d").WithFile("b", []byte("after"), 0o600).
		WithDir("new", 0o755).WithFile("new/x", []byte("after"), 0o600)
	assert.ElementsMatch(t, tx.Wrote(), after)

	b.put("b", "theirs")
	changed := b.tree()
	err = b.ws.Restore(t.Context(), kept, after)
	require.ErrorIs(t, err, runtime.ErrDrift)
	assert.Equal(t, changed, b.tree(), "nothing was restored")
	b.put("b", "after")
	for range 2 {
		require.NoError(t, b.ws.Restore(t.Context(), kept, after))
		assert.Equal(t, want, b.tree())
	}
}

// A call has made a directory in which there is something else now, so that the
// directory cannot go: then nothing goes.
func TestRestoreLeavesWhatOthersPutThere(t *testing.T) {
	b := newBench(t)
	b.put("f", "before")
	want := b.tree()
	before, err := b.ws.Snapshot(t.Context(), "f", "d", "d/e", "d/e/mine")
	require.NoError(t, err)
	ctx, tx := b.begin()
	require.NoError(t, b.ws.MkdirAll(ctx, "d/e", 0o755))
	require.NoError(t, b.ws.WriteFile(ctx, "d/e/mine", []byte("x"), 0o600))
	require.NoError(t, b.ws.Remove(ctx, "f"))
	require.NoError(t, b.ws.Mkdir(ctx, "f", 0o755))
	b.commit(tx)
	for _, theirs := range []string{"d/e/theirs", "d/theirs", "f/theirs"} {
		b.put(theirs, "theirs")
		changed := b.tree()
		var drift *workspace.DriftError
		require.ErrorAs(t, b.ws.Restore(t.Context(), before, tx.Wrote()), &drift)
		assert.Equal(t, []string{path.Dir(theirs)}, drift.Paths)
		assert.Equal(t, changed, b.tree(), "nothing was restored")
		require.NoError(t, os.Remove(filepath.Join(b.dir, theirs)))
	}
	require.NoError(t, b.ws.Restore(t.Context(), before, tx.Wrote()))
	assert.Equal(t, want, b.tree())
}

// What is kept of one file is damaged: that file stays as it is, the other comes
// back, and all does once the content is there again.
func TestADamagedContentIsNotRestored(t *testing.T) {
	b := newBench(t)
	b.put("a", "before a")
	b.put("b", "before b")
	want := b.tree()
	before, err := b.ws.Snapshot(t.Context(), "a", "b")
	require.NoError(t, err)
	b.put("a", "after")
	b.put("b", "after")
	after := before.WithFile("a", []byte("after"), 0o644).WithFile("b", []byte("after"), 0o644)
	hash := before[0].SHA256
	kept := filepath.Join(b.state, "content", hash[:2], hash[2:])
	for _, bad := range []string{"BEFORE A", "before", "before a and more"} {
		require.NoError(t, os.WriteFile(kept, []byte(bad), 0o600))
		require.ErrorIs(t, b.ws.Restore(t.Context(), before, after), content.ErrCorrupt)
		assert.Equal(t, "after", b.text("a"))
		assert.Len(t, b.tree(), 2, "nothing is left under another name")
	}
	b.open()
	_, err = b.store.Put(t.Context(), []byte("before a"))
	require.NoError(t, err)
	require.NoError(t, b.ws.Restore(t.Context(), before, after))
	assert.Equal(t, want, b.tree())
}

// In a call restoring is a write like any other.
func TestRestoreInACall(t *testing.T) {
	b := newBench(t)
	b.put("a", "before")
	before, err := b.ws.Snapshot(t.Context(), "a", "x")
	require.NoError(t, err)
	b.put("a", "after")
	b.put("x", "after")
	after, err := b.ws.Snapshot(t.Context(), "a", "x")
	require.NoError(t, err)
	ctx, tx := b.begin()
	require.NoError(t, b.ws.Restore(ctx, before, after))
	assert.Equal(t, "before", b.text("a"))
	assert.Equal(t, "-", b.text("x"))
	require.NoError(t, tx.Rollback(t.Context()))
	assert.Equal(t, "after", b.text("a"))
	assert.Equal(t, "after", b.text("x"))
}

func TestRestoreWaitsForNobody(t *testing.T) {
	b := newBench(t)
	ctx, tx := b.begin()
	require.NoError(t, b.ws.WriteFile(ctx, "a", []byte("x"), 0o600))
	require.ErrorIs(t, b.ws.Restore(t.Context(), workspace.Snapshot{{Path: "a"}}, tx.Wrote()), workspace.ErrBusy)
	b.commit(tx)
	require.NoError(t, b.ws.Restore(t.Context(), workspace.Snapshot{{Path: "a"}}, tx.Wrote()))
	assert.Equal(t, "-", b.text("a"))
}

func TestDiff(t *testing.T) {
	b := newBench(t)
	b.put("a", "one\ntwo\nthree\n")
	b.put("bin", "\x00")
	diff := func(name, data string) string {
		text, err := b.ws.Diff(t.Context(), name, []byte(data))
		require.NoError(t, err)
		return text
	}
	assert.Equal(t, "--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", diff("a", "one\n2\nthree\n"))
	assert.Equal(t, "--- /dev/null\n+++ b/new\n@@ -0,0 +1,1 @@\n+x\n", diff("new", "x\n"))
	assert.Equal(t, "--- /dev/null\n+++ b/new\n", diff("new", ""))
	assert.Empty(t, diff("a", "one\ntwo\nthree\n"))
	assert.Contains(t, diff("bin", "x"), "no text")
}

func TestScan(t *testing.T) {
	b := newBench(t)
	b.put("d/a", "x")
	b.put("d/b", "x")
	b.put("c", "x")
	b.put(".git/HEAD", "x")
	before, err := b.ws.Scan(t.Context())
	require.NoError(t, err)
	assert.Len(t, before, 4)
	ctx, tx := b.begin()
	require.NoError(t, b.ws.WriteFile(ctx, "d/a", []byte("declared"), 0o600))
	b.put("d/new", "around")
	b.put(".git/HEAD", "around")
	info, err := os.Stat(filepath.Join(b.dir, "c"))
	require.NoError(t, err)
	b.put("c", "y") // its size is the same, and its time is set back
	require.NoError(t, os.Chtimes(filepath.Join(b.dir, "c"), time.Time{}, info.ModTime()))
	require.NoError(t, os.Remove(filepath.Join(b.dir, "d", "b")))
	after, err := b.ws.Scan(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []workspace.Difference{
		{Path: "c", How: "changed"}, {Path: "d/b", How: "removed"}, {Path: "d/new", How: "added"},
	}, before.Compare(after, tx.Wrote().Paths()...))
}

func TestNeedsAndPrune(t *testing.T) {
	b := newBench(t)
	b.put("a", "before")
	ctx, tx := b.begin()
	require.NoError(t, b.ws.WriteFile(ctx, "a", []byte("after"), 0o600))
	before, err := b.ws.Snapshot(t.Context(), "a")
	require.NoError(t, err)
	for range 2 {
		needs, err := b.ws.Needs(t.Context())
		require.NoError(t, err)
		n, err := b.store.Prune(t.Context(), time.Now().Add(time.Hour), needs)
		require.NoError(t, err)
		assert.LessOrEqual(t, n, 1, "the snapshot was not needed: %v", before)
		b.open() // as after a crash
	}
	require.Error(t, tx.Commit(t.Context()))
	b.put("a", "theirs")
	key := workspace.Key{Session: "s", Call: "1"}
	require.ErrorIs(t, b.ws.Settle(t.Context(), key, false), runtime.ErrDrift)
	require.NoError(t, b.ws.Prune(t.Context(), time.Now().Add(time.Hour)))
	require.NoError(t, b.ws.Settle(t.Context(), key, false))
}
