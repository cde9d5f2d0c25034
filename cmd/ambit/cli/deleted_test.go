package cli_test

import (
	"context"
	"database/sql"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// own has the owner of the store do something with it and its audit log, which records.
func (s *archivedStore) own(t *testing.T, do func(store *sqlite.Store, record func(*journal.Record) error, sign func(context.Context) error)) {
	t.Helper()
	store, err := sqlite.Open(s.path)
	require.NoError(t, err)
	signer, err := audit.ReadSigner(s.key)
	require.NoError(t, err)
	log, err := audit.New(t.Context(), store, audit.NewCheckpoints(store), signer, audit.WithAnchor(audit.FileAnchor{Path: s.path + ".anchor"}))
	require.NoError(t, err)
	do(store, func(r *journal.Record) error {
		r.At = time.Now().UTC()
		e, err := journal.NewEntry(store.Health().Head+1, r, nil)
		if err != nil {
			return err
		}
		return log.Journal().Append(t.Context(), []journal.Entry{e})
	}, log.Checkpoint)
	require.NoError(t, log.Close(t.Context()))
	require.NoError(t, store.Close())
}

// deletes has the owner delete the segments whose last entry is from before an entry, and returns the position of the last record.
func (s *archivedStore) deletes(t *testing.T, before uint64) (at uint64) {
	s.own(t, func(store *sqlite.Store, record func(*journal.Record) error, sign func(context.Context) error) {
		require.NoError(t, archive.Delete(t.Context(), &archive.Deletion{Store: store, Before: time.Unix(int64(before), 0), Reason: "old", Record: record, Sign: sign}))
		at = store.Health().Head
	})
	return at
}

// change changes the store as a process without its keys can.
func (s *archivedStore) change(t *testing.T, query string, args ...any) {
	db, err := sql.Open("sqlite", s.path)
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), "DROP TRIGGER entry_is_not_changed; DROP TRIGGER entry_is_not_deleted")
	require.NoError(t, err)
	_, err = db.ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// recordCopied appends the record of a deletion once more, with another leaf.
const recordCopied = `INSERT INTO entry SELECT (SELECT max(seq) + 1 FROM entry), at, kind, session, run, call, tool, mark, %s, mac FROM entry WHERE kind = 'segment.deleted'`

// A deletion is what becomes of segments, and what "audit verify" says then.
type deletion struct {
	do    func(t *testing.T, s *archivedStore) (at uint64) // 0: what is wrong is no entry
	code  int
	print string // of "audit verify", with the position of do
}

// deletionsMade are deletions that an owner records, and that processes make without its keys.
var deletionsMade = map[string]deletion{
	"nothing":             {func(*testing.T, *archivedStore) uint64 { return 0 }, 0, `^ok: [0-9]+ entries, .* archived, proven\n$`},
	"with a record":       {func(t *testing.T, s *archivedStore) uint64 { s.deletes(t, 100); return 0 }, 0, `^ok: .*, 1\.\.[0-9]+ archived, proven, 1\.\.5[0-9] deleted\n$`},
	"both, with records":  {func(t *testing.T, s *archivedStore) uint64 { s.deletes(t, 1000); return 0 }, 0, `proven, 1\.\.5[0-9] deleted, [56][0-9]\.\.1[0-9]+ deleted\n$`},
	"the file is removed": {func(t *testing.T, s *archivedStore) uint64 { require.NoError(t, os.Remove(s.segments[1])); return 0 }, 0, `^ok: .* archived, proven\nnote: no proved entry of those that were read says that ".*2\.segment" was deleted, with entries [0-9]+ to [0-9]+, and the file is not there\n$`},
	"both files are removed": {func(t *testing.T, s *archivedStore) uint64 {
		require.NoError(t, os.Remove(s.segments[0]))
		require.NoError(t, os.Remove(s.segments[1]))
		return 0
	}, 0, `archived, proven\nnote: .*1\.segment" was deleted, .*; nor of 1 segment after it\n$`},
	"a record is copied": {func(t *testing.T, s *archivedStore) uint64 {
		at := s.deletes(t, 100)
		s.change(t, fmt.Sprintf(recordCopied, "leaf"))
		return at + 1
	}, 1, `bad: forged at %d: `},
	"a record of the other segment is forged": {func(t *testing.T, s *archivedStore) uint64 {
		at := s.deletes(t, 100)
		require.NoError(t, os.Remove(s.segments[1]))
		s.change(t, fmt.Sprintf(recordCopied, `CAST(replace(CAST(leaf AS TEXT), '"first":1,', '"first":59,') AS BLOB)`))
		return at + 1
	}, 1, `bad: forged at %d: `},
	"a record is made to name the other segment": {func(t *testing.T, s *archivedStore) uint64 {
		at := s.deletes(t, 100)
		s.change(t, `UPDATE entry SET leaf = CAST(replace(CAST(leaf AS TEXT), '"first":1,', '"first":59,') AS BLOB) WHERE seq = ?`, at)
		return at
	}, 1, `bad: forged at %d: `},
	"a record is cut": {func(t *testing.T, s *archivedStore) uint64 {
		at := s.deletes(t, 100)
		s.change(t, "DELETE FROM entry WHERE seq >= ?; DELETE FROM checkpoint WHERE size >= ?", at, at)
		return at
	}, 1, `bad: cut (at %d|within [0-9]+ to %[1]d): `},
	"an owner records the deletion of a segment of another store": {func(t *testing.T, s *archivedStore) (at uint64) {
		digest := base64.StdEncoding.EncodeToString(make([]byte, 32))
		s.own(t, func(store *sqlite.Store, record func(*journal.Record) error, sign func(context.Context) error) {
			require.NoError(t, record(&journal.Record{Kind: journal.KindDeleted, Deleted: &journal.Deleted{First: 1, Last: 58, Digest: digest}}))
			at = store.Health().Head
			require.NoError(t, sign(t.Context()))
		})
		return at
	}, 1, `bad: archive at %d: it says that a segment of entries 1 to 58 was deleted, and the store has archived none that has its digest`},
}

// TestDeletedSegments deletes segments, with the record of their owner, without one, and with records that are forged: none of these is believed.
// SEMANTICS 6.14.11
func TestDeletedSegments(t *testing.T) {
	for name, attack := range deletionsMade {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := &archivedStore{path: filepath.Join(dir, "a.db"), key: filepath.Join(dir, "key")}
			s.extend(t, "honest")
			s.extend(t, "honest")
			want := attack.print
			if at := attack.do(t, s); at > 0 {
				want = fmt.Sprintf(want, at)
			}
			code, out := s.ambit("verify", 0)
			require.Equal(t, attack.code, code, out)
			require.Regexp(t, want, out)
			if code != 0 {
				require.NotContains(t, out, " deleted\n")
			}
		})
	}
}

// TestUnprovedDeletions: without the keys of the store nothing proves the entries behind the last checkpoint, and a record there is not believed.
// SEMANTICS 6.14.11
func TestUnprovedDeletions(t *testing.T) {
	dir := t.TempDir()
	s := &archivedStore{path: filepath.Join(dir, "a.db"), key: filepath.Join(dir, "key")}
	s.extend(t, "honest")
	at := s.deletes(t, 100)
	code, out := s.verify("--key", s.key+audit.PublicSuffix, "--anchor", s.path+".anchor")
	require.Zero(t, code, out)
	require.Contains(t, out, "proven, 1..58 deleted\n")
	s.change(t, "DELETE FROM checkpoint WHERE size >= ?", at)
	require.NoError(t, os.Truncate(s.path+".anchor", 0))
	_, out = s.verify("--key", s.key+audit.PublicSuffix, "--anchor", s.path+".anchor")
	require.NotContains(t, out, "deleted\n")
	require.Contains(t, out, "note: no proved entry of those that were read says that ")
}
