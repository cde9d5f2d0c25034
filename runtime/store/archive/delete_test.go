package archive_test

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
)

// archivedThrice returns an app of which three segments were archived, with their paths.
func archivedThrice(t *testing.T) (a *app, files []string, sizes []uint64) {
	t.Helper()
	dir := t.TempDir()
	a, sizes = filled(t, filepath.Join(dir, "a.db"), 20)
	for i, size := range sizes {
		to := filepath.Join(dir, string(rune('1'+i))+".segment")
		_, err := a.archive(t.Context(), to, began.Add(time.Duration(size+1)*time.Minute), time.Time{})
		require.NoError(t, err)
		a = a.reopened(t)
		files = append(files, to)
	}
	return a, files, sizes
}

// TestASegmentIsDeletedOnceItsRecordIsSigned: the file is there while its deletion is recorded and signed, and stays when either fails.
// Segments that are not old enough, and those behind them, stay.
// SEMANTICS 6.14.7
func TestASegmentIsDeletedOnceItsRecordIsSigned(t *testing.T) {
	a, files, sizes := archivedThrice(t)
	defer func() { require.NoError(t, a.close(t.Context())) }()
	var steps []string
	var failing string
	step := func(what string) error {
		steps = append(steps, what)
		assert.FileExists(t, files[0])
		if what == failing {
			return errors.New("no " + what)
		}
		return nil
	}
	var deleted *journal.Deleted
	d := &archive.Deletion{
		Store: a.store, Before: began.Add(time.Duration(sizes[0]+1) * time.Minute), Reason: "old",
		Record: func(r *journal.Record) error { deleted = r.Deleted; return step(r.Kind) },
		Sign:   func(context.Context) error { return step("signature") },
	}
	for _, failing = range []string{journal.KindDeleted, "signature"} {
		require.ErrorContains(t, archive.Delete(t.Context(), d), files[0]+`": no `+failing)
		require.FileExists(t, files[0])
	}
	failing, steps = "", nil
	require.NoError(t, archive.Delete(t.Context(), d))
	require.Equal(t, []string{journal.KindDeleted, "signature"}, steps)
	require.NoFileExists(t, files[0])
	segments, err := a.store.Segments(t.Context())
	require.NoError(t, err)
	require.Equal(t, &journal.Deleted{First: 1, Last: sizes[0], File: files[0], Digest: base64.StdEncoding.EncodeToString(segments[0].Digest[:]), Reason: "old"}, deleted)
	require.FileExists(t, files[1], "its last entry is not old enough")
	require.NoError(t, archive.Delete(t.Context(), d), "a file that is not there is skipped")
	require.Len(t, steps, 2)
}

// TestAnotherFileIsNotDeleted: one that has the name of a segment and not its content.
func TestAnotherFileIsNotDeleted(t *testing.T) {
	a, files, _ := archivedThrice(t)
	defer func() { require.NoError(t, a.close(t.Context())) }()
	other, err := os.ReadFile(files[2])
	require.NoError(t, err)
	never := func() error { t.Error("a deletion was recorded"); return nil }
	d := &archive.Deletion{
		Store: a.store, Before: time.Now(), Record: func(*journal.Record) error { return never() }, Sign: func(context.Context) error { return never() },
	}
	for what, text := range map[string][]byte{"it is not the segment of entries 1 to": other, files[0]: []byte("no segment")} {
		require.NoError(t, os.WriteFile(files[0], text, 0o600))
		require.ErrorContains(t, archive.Delete(t.Context(), d), what)
		require.FileExists(t, files[0])
		require.FileExists(t, files[1], "the later ones stay")
	}
}

// TestEntriesOfSegments are read by their positions, over several segments, and not from a file that only has the name of one.
func TestEntriesOfSegments(t *testing.T) {
	a, files, sizes := archivedThrice(t)
	defer func() { require.NoError(t, a.close(t.Context())) }()
	segments := archive.Segments{Store: a.store}
	list, err := segments.Entries(t.Context(), sizes[1], 1)
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, []uint64{sizes[1], 1}, []uint64{list[0].Seq, list[1].Seq})
	_, err = segments.Entries(t.Context(), sizes[2]+1)
	require.ErrorContains(t, err, "is in no segment")

	other, err := os.ReadFile(files[2])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[1], other, 0o600))
	_, err = segments.Entries(t.Context(), sizes[1])
	require.ErrorContains(t, err, files[1]+`" is not the segment of entries`)
	_, err = segments.Entries(t.Context(), sizes[0])
	require.NoError(t, err)
	require.NoError(t, os.Remove(files[0]))
	_, err = segments.Entries(t.Context(), sizes[0])
	require.ErrorIs(t, err, os.ErrNotExist)
}
