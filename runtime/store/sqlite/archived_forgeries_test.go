package sqlite_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// An archiveForgery is one change of the files of an archivedVictim.
type archiveForgery struct {
	what     string
	do       func(t *testing.T, path string)
	at       uint64 // position that a verification names; 0: it is about no entry
	loaded   bool   // a start refuses it, or the session that it is about does
	cut      bool   // perhaps of the last entry of the store
	audited  bool   // only the anchor of the audit log tells of it
	harmless bool   // it changes what is never read, and the store goes on as it was
}

// forge makes up the nth forgery: the kinds take turns, so that a small battery has all of them.
func (v *archivedVictim) forge(n int) archiveForgery {
	kinds := []func(*rand.Rand) archiveForgery{
		v.putBack, v.raised, v.lowered, v.rewritten, v.snapshotSwapped, v.sessionCut, v.proofRemoved, v.checkpoints, v.rolledBack, v.deletion, v.snapshotSwapped,
	}
	return kinds[n%len(kinds)](rand.New(rand.NewPCG(uint64(n), 7)))
}

// sql is a forgery by a statement, in which other stores may be named.
func (v *archivedVictim) sql(what, query string) archiveForgery {
	attached := fmt.Sprintf("ATTACH '%s' AS full; ATTACH '%s' AS between_; ATTACH '%s' AS donor; ", v.full, v.between, v.donor)
	return archiveForgery{what: what + ": " + query, do: func(t *testing.T, path string) { change(t, path, attached+query) }}
}

const entryColumns = "seq, at, kind, session, run, call, tool, mark, leaf, mac"

// last returns where the archives end.
func (v *archivedVictim) last() uint64 { return v.low[len(v.low)-1] }

// putBack puts rows below the lower end, which look as if a crash had left them: no reader goes there.
func (v *archivedVictim) putBack(rng *rand.Rand) archiveForgery {
	from := []string{"full", "donor"}[rng.IntN(2)]
	first := 1 + rng.Uint64N(v.low[0])
	leaf := []string{"leaf", "randomblob(9)", "(SELECT leaf FROM donor.entry WHERE kind = 'session.snapshot' LIMIT 1)"}[rng.IntN(3)]
	query := fmt.Sprintf("INSERT INTO entry SELECT seq, at, kind, session, run, call, tool, mark, %s, mac FROM %s.entry WHERE seq BETWEEN %d AND %d", leaf, from, first, v.low[0])
	if rng.IntN(2) == 0 {
		query += fmt.Sprintf("; INSERT OR REPLACE INTO session SELECT * FROM %s.session WHERE id = 'gone'; UPDATE entry SET session = 'idle' WHERE seq <= %d", from, v.low[0])
	}
	f := v.sql("rows below the lower end", query)
	f.harmless = true
	return f
}

// raised moves the lower end up: entries that nothing archived would count as archived.
func (v *archivedVictim) raised(rng *rand.Rand) archiveForgery {
	to := v.last() + 1 + rng.Uint64N(v.size-v.last())
	mac := []string{"mac", "randomblob(32)", "x''", "(SELECT mac FROM checkpoint ORDER BY size DESC LIMIT 1)"}[rng.IntN(4)]
	query := fmt.Sprintf(`INSERT INTO segment SELECT %d, CAST(replace(CAST(data AS TEXT), '"last":%d,', '"last":%d,') AS BLOB), %s FROM segment WHERE last = %d`,
		to, v.last(), to, mac, v.last())
	if rng.IntN(2) == 0 {
		query += fmt.Sprintf("; DELETE FROM segment WHERE last = %d", v.last())
	}
	if rng.IntN(2) == 0 {
		query += fmt.Sprintf("; DELETE FROM entry WHERE seq <= %d", to)
	}
	f := v.sql("the lower end moved up", query)
	f.at, f.loaded = to, true
	return f
}

// lowered moves the lower end down, with or without the entries that are in reach then.
func (v *archivedVictim) lowered(rng *rand.Rand) archiveForgery {
	queries := []string{
		"DELETE FROM segment",
		fmt.Sprintf("DELETE FROM segment WHERE last = %d", v.last()), // the row before it is authentic
		fmt.Sprintf("DELETE FROM segment WHERE last = %d; INSERT INTO entry SELECT * FROM between_.entry WHERE seq <= %d", v.last(), v.last()),
		fmt.Sprintf("DELETE FROM segment; INSERT INTO entry SELECT * FROM full.entry WHERE seq <= %d", v.low[0]),
		fmt.Sprintf(`UPDATE segment SET last = last - 1, data = CAST(replace(CAST(data AS TEXT), '"last":%d,', '"last":%d,') AS BLOB) WHERE last = %d`, v.last(), v.last()-1, v.last()),
	}
	i := rng.IntN(len(queries))
	f := v.sql("the lower end moved down", queries[i])
	f.at, f.loaded = v.last(), true
	if i == len(queries)-1 {
		f.at--
	}
	return f
}

// rewritten changes what a row says of a segment.
func (v *archivedVictim) rewritten(rng *rand.Rand) archiveForgery {
	at := v.last()
	columns := []string{
		`data = CAST(replace(CAST(data AS TEXT), '"first":', '"first":1') AS BLOB)`, `data = CAST(replace(CAST(data AS TEXT), '"file":"', '"file":"x') AS BLOB)`,
		`data = CAST(replace(CAST(data AS TEXT), '"digest":[', '"digest":[1') AS BLOB)`, `data = CAST(replace(CAST(data AS TEXT), '"tail":[', '"tail":[1') AS BLOB)`,
		"data = x''", "mac = randomblob(32)", "mac = x''", "mac = (SELECT mac FROM owner)", fmt.Sprintf("data = (SELECT data FROM segment WHERE last = %d)", v.low[0]),
		"(data, mac) = (SELECT data, mac FROM donor.segment ORDER BY last DESC LIMIT 1)", fmt.Sprintf("(data, mac) = (SELECT data, mac FROM segment WHERE last = %d)", v.low[0]),
	}
	f := v.sql("the row of a segment", fmt.Sprintf("UPDATE segment SET %s WHERE last = %d", columns[rng.IntN(len(columns))], at))
	f.at, f.loaded = at, true
	return f
}

// snapshotSwapped puts another snapshot in the place of that of a session of which entries are archived: an older
// one, in which the grant is live, that of another session, or one of the donor.
func (v *archivedVictim) snapshotSwapped(rng *rand.Rand) archiveForgery {
	session := []string{"s", "idle"}[rng.IntN(2)]
	from, seq := "between_", v.earlier["idle"]
	switch rng.IntN(4) {
	case 0:
		from, seq = "donor", v.donated["idle"]
	case 1:
		from, seq = "main", v.latest[map[string]string{"s": "idle", "idle": "s"}[session]]
	case 2:
		from, seq = "main", v.latest[""]
	}
	columns := []string{"leaf", "leaf, mac", "at, leaf, mac", "at, kind, session, leaf, mac"}[rng.IntN(4)]
	to := v.latest[session]
	query := fmt.Sprintf("UPDATE main.entry SET (%s) = (SELECT %s FROM %s.entry WHERE seq = %d) WHERE seq = %d", columns, columns, from, seq, to)
	f := v.sql(fmt.Sprintf("the snapshot of %q", session), query)
	f.at, f.loaded = to, true
	return f
}

// sessionCut removes the latest entries of a session or its snapshot alone, so that it would go on from an earlier place, or be
// over or new.
func (v *archivedVictim) sessionCut(rng *rand.Rand) archiveForgery {
	session := []string{"s", "idle"}[rng.IntN(2)]
	snapshot := v.latest[session]
	first := []uint64{v.last() + 1, snapshot, snapshot + 1}[rng.IntN(3)]
	query := fmt.Sprintf("DELETE FROM entry WHERE session = '%s' AND seq >= %d", session, first)
	if rng.IntN(3) == 0 {
		first, query = snapshot, fmt.Sprintf("DELETE FROM entry WHERE seq = %d", snapshot)
	}
	if rng.IntN(2) == 0 {
		query += fmt.Sprintf("; DELETE FROM session WHERE id = '%s'; DELETE FROM call WHERE session = '%s'; DELETE FROM request WHERE session = '%s'", session, session, session)
	}
	f := v.sql("a session cut", query)
	f.loaded, f.cut = true, true
	for _, seq := range v.places[session] {
		if f.at == 0 && seq >= first {
			f.at = seq
		}
	}
	return f
}

// proofRemoved removes or replaces what proves the ends of the sessions.
func (v *archivedVictim) proofRemoved(rng *rand.Rand) archiveForgery {
	changes := []string{
		"DELETE FROM node", "DELETE FROM node WHERE path = (SELECT max(path) FROM node)", "UPDATE node SET data = x''",
		"UPDATE node SET data = CAST(substr(data, 1, 40) || x'00' || substr(data, 42) AS BLOB)", "UPDATE owner SET root = randomblob(32)", "UPDATE owner SET mac = randomblob(32)",
		"UPDATE owner SET rooted = 0, root = x'', mac = x''", "UPDATE owner SET rooted = rooted - 1",
		"DELETE FROM node; INSERT INTO node SELECT * FROM between_.node", "DELETE FROM node; INSERT INTO node SELECT * FROM donor.node",
		"UPDATE owner SET (rooted, root, mac) = (SELECT rooted, root, mac FROM between_.owner); DELETE FROM node; INSERT INTO node SELECT * FROM between_.node",
		"UPDATE owner SET (rooted, root, mac) = (SELECT rooted, root, mac FROM donor.owner); DELETE FROM node; INSERT INTO node SELECT * FROM donor.node",
	}
	f := v.sql("the proof of the sessions", changes[rng.IntN(len(changes))])
	f.loaded = true
	return f
}

// checkpoints removes or replaces the checkpoint with which the store begins. The engine does without it, the audit log does not.
func (v *archivedVictim) checkpoints(rng *rand.Rand) archiveForgery {
	changes := []string{
		"DELETE FROM checkpoint", fmt.Sprintf("DELETE FROM checkpoint WHERE size = %d", v.last()), fmt.Sprintf("UPDATE checkpoint SET note = x'' WHERE size = %d", v.last()),
		fmt.Sprintf("UPDATE checkpoint SET note = (SELECT note FROM donor.checkpoint WHERE size >= %d ORDER BY size LIMIT 1) WHERE size = %d", v.low[0], v.last()),
		fmt.Sprintf("UPDATE checkpoint SET note = (SELECT note FROM between_.checkpoint ORDER BY size DESC LIMIT 1) WHERE size = %d", v.last()),
	}
	f := v.sql("the checkpoint of the archive", changes[rng.IntN(len(changes))])
	f.audited = true
	return f
}

// rolledBack puts the store as it was between the archives, before them, or another one in the place of the store, with
// or without its keys.
func (v *archivedVictim) rolledBack(rng *rand.Rand) archiveForgery {
	from := []string{v.full, v.between, v.donor}[rng.IntN(3)]
	f := archiveForgery{what: "roll back to " + filepath.Base(from), audited: from != v.donor && rng.IntN(2) == 0}
	f.loaded = !f.audited
	f.do = func(t *testing.T, path string) {
		keys, err := os.ReadFile(path + ".keys")
		require.NoError(t, err)
		for _, part := range []string{"", "-wal", "-shm", ".keys"} {
			if err := os.Remove(path + part); !errors.Is(err, os.ErrNotExist) {
				require.NoError(t, err)
			}
		}
		copyStore(t, from, path)
		if !f.audited {
			require.NoError(t, os.WriteFile(path+".keys", keys, 0o600))
		}
	}
	return f
}

// deletion records that segments were deleted on purpose, in the place of an entry or as the last one.
func (v *archivedVictim) deletion(rng *rand.Rand) archiveForgery {
	columns := []string{entryColumns[len("seq, "):], "kind, session, run, call, tool, mark, leaf"}[rng.IntN(2)]
	from := "(SELECT " + columns + " FROM donor.entry WHERE kind = '" + journal.KindDeleted + "')"
	at := v.last() + 1 + rng.Uint64N(v.size-v.last())
	query := fmt.Sprintf("UPDATE entry SET (%s) = %s WHERE seq = %d", columns, from, at)
	if rng.IntN(2) == 0 {
		at = v.size + 1
		query = fmt.Sprintf("INSERT INTO entry SELECT %d, %s FROM donor.entry WHERE kind = '%s'", at, entryColumns[len("seq, "):], journal.KindDeleted)
	}
	f := v.sql("a record of a deletion", query)
	f.at = at
	return f
}

// TestForgeriesOfArchives attacks a store of which entries are archived, as TestForgeries does one that has all: a
// verification finds each change that matters, at its position, and nothing is carried out that the store itself would not carry out.
func TestForgeriesOfArchives(t *testing.T) {
	victims := newArchivedVictims(t)
	genuine := ""
	for _, v := range victims { // they are good as they are, and the store between the archives would carry out two of the calls
		genuine = struck(t, v, func(*testing.T, string) {}, 0)
		struck(t, v, func(t *testing.T, path string) { copyStore(t, v.between, path) }, 2)
	}
	refusedAs := map[string]int{}
	for n := range battery.Count(t, 22, 400) {
		v := victims[n%len(victims)]
		f := v.forge(n)
		f.hold(t, v, fmt.Sprintf("forgery %d of the store that was %s: %s", n, v.name, f.what), genuine, refusedAs)
	}
	t.Log(refusedAs)
}

// struck makes the calls of strike on a changed copy without an audit, and wants so many to be carried out.
func struck(t *testing.T, v *archivedVictim, do func(*testing.T, string), ran int64) string {
	path, _ := v.fresh(t, t.TempDir())
	do(t, path)
	require.NoError(t, verifyWithKeys(t.Context(), path))
	a, err := startApp(t.Context(), path, nil, audit.FileAnchor{})
	require.NoError(t, err)
	got := strike(t.Context(), a)
	require.NoError(t, a.close(t.Context()))
	require.Equal(t, ran, a.ran.Load(), got)
	return got
}

// hold holds one forgery to what is promised.
func (f *archiveForgery) hold(t *testing.T, v *archivedVictim, what, genuine string, refusedAs map[string]int) {
	for _, signer := range []note.Signer{nil, v.signer} {
		if f.audited && signer == nil {
			continue
		}
		dir := t.TempDir()
		path, anchor := v.fresh(t, dir)
		f.do(t, path)
		if signer == nil || f.audited {
			f.verified(t, v, path, what)
		}
		a, err := startApp(t.Context(), path, signer, anchor)
		got := ""
		if err == nil {
			got = strike(t.Context(), a)
			_ = a.close(t.Context()) // a session that cannot be read may not be written either
		}
		require.Zero(t, a.ran.Load(), "%s: %s", what, got)
		switch {
		case f.harmless:
			require.NoError(t, err, what)
			require.Equal(t, genuine, got, what)
		case f.loaded || f.audited:
			require.NotEqual(t, genuine, got, what)
		}
		if err != nil {
			refusedAs[reasonOf(err)]++
		} else {
			refusedAs["started"]++
		}
		require.NoError(t, os.RemoveAll(dir))
	}
}

// verified wants a verification to find the forgery where it is.
func (f *archiveForgery) verified(t *testing.T, v *archivedVictim, path, what string) {
	err := verifyWithKeys(t.Context(), path)
	bad, unread := auditOf(t.Context(), v, path)
	if f.harmless {
		require.NoError(t, errors.Join(err, unread), what)
		require.Nil(t, bad, what)
		return
	}
	if f.audited {
		require.NoError(t, unread, what)
		require.NotNil(t, bad, what)
		require.NotZero(t, bad.First, what)
		return
	}
	require.Error(t, err, what)
	var forged *sqlite.ForgedError
	var missing *sqlite.CorruptError
	switch {
	case f.at == 0:
	case errors.As(err, &forged):
		require.Equal(t, f.at, forged.Seq, what)
	case errors.As(err, &missing):
		require.Equal(t, f.at, missing.Damaged, what)
	case f.cut && errors.Is(err, sqlite.ErrRolledBack): // it names the new end
	default:
		require.True(t, strings.Contains(err.Error(), fmt.Sprintf("up to %d", f.at)), "%s: %v", what, err)
	}
}
