package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/backup"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// An app is a store with its audit log and its contents, as a host has them.
type app struct {
	path   string
	signer note.Signer
	store  *sqlite.Store
	log    *audit.Log
	seq    uint64
}

// openApp opens an app, and makes its signing key beside the store if there is none.
func openApp(ctx context.Context, path string) (*app, error) {
	a := &app{path: path}
	var err error
	if a.store, err = sqlite.Open(path); err != nil {
		return nil, err
	}
	a.seq = a.store.Health().Head
	if a.signer, err = audit.OpenSigner(path+".audit", "example.com/app", a.seq == 0); err == nil {
		a.log, err = audit.New(ctx, a.store, audit.NewCheckpoints(a.store), a.signer, audit.WithAnchor(audit.FileAnchor{Path: path + ".anchor"}))
	}
	if err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	return a, nil
}

// kinds is how many values of the state and contents there are at most.
const kinds = 50

// work appends entries, with a value of the state and a content for each.
func (a *app) work(ctx context.Context, n int) error {
	contents, err := content.Open(a.path + ".objects")
	if err != nil {
		return err
	}
	for range n {
		a.seq++
		text := fmt.Appendf(nil, "content %d", a.seq%kinds)
		if _, err := contents.Put(ctx, text); err != nil {
			return err
		}
		if err := a.store.Apply(ctx, []sqlite.Write{{Key: fmt.Sprintf("key %d", a.seq%kinds), Value: text}}); err != nil {
			return err
		}
		e, err := journal.NewEntry(a.seq, &journal.Record{Kind: "note", Session: "s", Tool: string(text)}, nil)
		if err != nil {
			return err
		}
		if err := a.log.Journal().Append(ctx, []journal.Entry{e}); err != nil {
			return err
		}
	}
	return contents.Close()
}

func (a *app) close(ctx context.Context) error { return errors.Join(a.log.Close(ctx), a.store.Close()) }

// used returns a store with some entries, which is closed.
func used(t *testing.T, path string, n int) note.Signer {
	t.Helper()
	a, err := openApp(t.Context(), path)
	require.NoError(t, err)
	_, err = a.store.Key(t.Context(), "inbox")
	require.NoError(t, err)
	require.NoError(t, a.work(t.Context(), n))
	require.NoError(t, a.close(t.Context()))
	return a.signer
}

func why() sqlite.Restoration { return sqlite.Restoration{By: "ada", Reason: "the disk was lost"} }

// restored wants the store at path to be a whole one, whose last entries say that it was restored, and
// returns how many it had kept.
func restored(t *testing.T, path string, signer note.Signer) uint64 {
	t.Helper()
	kept, err := checkRestored(t.Context(), path, signer)
	require.NoError(t, err)
	return kept
}

func checkRestored(ctx context.Context, path string, signer note.Signer) (kept uint64, err error) {
	s, err := sqlite.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	list, err := s.Read(ctx, 0, 1<<20)
	if err != nil {
		return 0, err
	}
	last := list[len(list)-1]
	if last.Kind != journal.KindRestored {
		return 0, fmt.Errorf("the last of %d entries is %q", len(list), last.Kind)
	}
	kept = last.Seq - 1
	contents, err := content.Open(path + ".objects")
	if err != nil {
		return 0, err
	}
	for seq := uint64(1); seq <= min(kept, kinds-1); seq++ {
		text := fmt.Appendf(nil, "content %d", seq)
		if value, err := s.Get(ctx, fmt.Sprintf("key %d", seq)); err != nil || !bytes.Equal(value, text) {
			return 0, fmt.Errorf("the value %d is %q: %w", seq, value, err)
		}
		if got, err := contents.Get(ctx, content.RefOf(text)); err != nil || !bytes.Equal(got, text) {
			return 0, fmt.Errorf("the content %d: %w", seq, err)
		}
	}
	log, err := audit.New(ctx, s, audit.NewCheckpoints(s), signer, audit.WithAnchor(audit.FileAnchor{Path: path + ".anchor"}))
	if err != nil {
		return 0, err
	}
	return kept, errors.Join(contents.Close(), log.Close(ctx))
}

// TestBackupOfAStoreInUse writes a backup while the store is written, and restores it elsewhere.
func TestBackupOfAStoreInUse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "var", "ambit.db")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	a, err := openApp(t.Context(), path)
	require.NoError(t, err)
	_, err = a.store.Key(t.Context(), "inbox")
	require.NoError(t, err)
	require.NoError(t, a.work(t.Context(), 5))
	stop, done := make(chan struct{}), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			if err := a.work(t.Context(), 1); err != nil {
				done <- err
				return
			}
		}
	}()
	var kept []uint64
	for i := range 3 {
		file := filepath.Join(dir, fmt.Sprint("backup", i))
		m, err := backup.Write(t.Context(), file, backup.Source{Store: path})
		require.NoError(t, err)
		kept = append(kept, m.Entries)
		info, err := os.Stat(file)
		require.NoError(t, err)
		if os.PathSeparator == '/' {
			assert.EqualValues(t, 0o600, info.Mode().Perm())
		}
	}
	close(stop)
	require.NoError(t, <-done)
	require.NoError(t, a.close(t.Context()))
	assert.IsNonDecreasing(t, kept)
	left, err := filepath.Glob(filepath.Join(dir, "*.part*"))
	require.NoError(t, err)
	assert.Empty(t, left)

	key, err := os.ReadFile(path + ".audit")
	require.NoError(t, err)
	secret := strings.TrimSpace(string(key))
	for i := range 3 {
		file := filepath.Join(dir, fmt.Sprint("backup", i))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.NotContains(t, string(text), secret, "the signing key is in no backup")
		target := filepath.Join(dir, fmt.Sprint("other", i), "ambit.db")
		record, err := backup.Restore(t.Context(), file, target, backup.Target{Restoration: why(), Signer: a.signer})
		require.NoError(t, err)
		assert.Equal(t, kept[i], record.Kept)
		assert.Equal(t, kept[i], restored(t, target, a.signer))
		assert.NoDirExists(t, target+".restoring")
	}
}

// TestRestoreBesideKeysAndAnchor has lost the store alone: its keys and its anchor know of entries
// that the backup lacks.
func TestRestoreBesideKeysAndAnchor(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "ambit.db"), filepath.Join(dir, "backup")
	signer := used(t, path, 3)
	m, err := backup.Write(t.Context(), file, backup.Source{Store: path})
	require.NoError(t, err)
	used(t, path, 4)
	require.NoError(t, os.Remove(path))
	record, err := backup.Restore(t.Context(), file, path, backup.Target{Restoration: why(), Signer: signer})
	require.NoError(t, err)
	assert.Equal(t, m.Entries, record.Kept)
	assert.Equal(t, m.Entries+4, record.Had, "the keys file knows how many there were")
	assert.Equal(t, m.Entries, restored(t, path, signer))
	verifier, err := audit.ReadVerifier(path + ".audit.pub")
	require.NoError(t, err)
	anchored, err := os.Open(path + ".anchor")
	require.NoError(t, err)
	notes, err := audit.ReadAnchors(anchored, verifier.Name())
	require.NoError(t, errors.Join(err, anchored.Close()))
	r, err := sqlite.OpenReader(path)
	require.NoError(t, err)
	report, err := audit.Verify(t.Context(), audit.NewSource(r, r), verifier, notes)
	require.NoError(t, errors.Join(err, r.Close()))
	assert.Equal(t, audit.VerdictRestored, report.Verdict, "%v", report.Bad)
	assert.Equal(t, []uint64{m.Entries}, report.Restored)
}

// TestRestoreAgainAfterTheKeys is a restore that was killed when the keys had their name, and the
// store had none.
func TestRestoreAgainAfterTheKeys(t *testing.T) {
	dir := t.TempDir()
	path, file := filepath.Join(dir, "ambit.db"), filepath.Join(dir, "backup")
	signer := used(t, path, 3)
	_, err := backup.Write(t.Context(), file, backup.Source{Store: path})
	require.NoError(t, err)
	target := filepath.Join(dir, "other", "ambit.db")
	for range 2 {
		record, err := backup.Restore(t.Context(), file, target, backup.Target{Restoration: why(), Signer: signer})
		require.NoError(t, err)
		assert.EqualValues(t, 3, record.Kept)
		require.NoError(t, os.Remove(target))
		_, err = sqlite.Open(target)
		require.ErrorIs(t, err, sqlite.ErrRolledBack, "no other store is begun in its place")
		assert.NoFileExists(t, target)
	}
	_, err = backup.Restore(t.Context(), file, target, backup.Target{Restoration: why(), Signer: signer})
	require.NoError(t, err)
	assert.EqualValues(t, 3, restored(t, target, signer))
}

// files lists all files below a directory, with their contents.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	list := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, "-shm") {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(f)
		list[name] = string(text)
		return errors.Join(err, f.Close())
	}))
	return list
}
