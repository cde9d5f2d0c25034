package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A victim is a store with calls that wait for consent, as it was at one moment, with
// the key and the anchor of its audit. The attacker may write the store, has
// older copies of it and of its keys file, and the store of another owner in which the
// same calls were approved.
type victim struct {
	name        string
	path, older string
	anchor      audit.FileAnchor
	signer      note.Signer
	size, head  uint64 // entries of the store, and up to where they lie below the head
}

// An app is an executor on a store with an audit.
type app struct {
	store *sqlite.Store
	log   *audit.Log
	exec  *engine.Executor
	ran   atomic.Int64
	heads []func()
}

// startApp starts an application as any does; without a key it has no audit. What an
// error leaves open is closed.
func startApp(ctx context.Context, path string, signer note.Signer, anchor audit.FileAnchor) (a *app, err error) {
	a = &app{}
	a.store, err = sqlite.Open(path, sqlite.WithAfterFunc(func(_ time.Duration, f func()) func() bool {
		a.heads = append(a.heads, f)
		return func() bool { return true }
	}))
	if err != nil {
		return a, err
	}
	var j journal.Journal = a.store
	if signer != nil {
		a.log, err = audit.New(ctx, a.store, audit.NewCheckpoints(a.store), signer, audit.WithAnchor(anchor),
			audit.WithAfterFunc(func(time.Duration, func()) func() bool { return func() bool { return true } }))
		if err != nil {
			return a, errors.Join(err, a.store.Close())
		}
		j = a.log.Journal()
	}
	reg, err := runtime.NewRegistry(a.tool("note", runtime.ConsentAskPolicy), a.tool("pay", runtime.ConsentAskAlways))
	if err == nil {
		a.exec, err = engine.NewExecutor(reg, runtime.PolicyFunc(allowAll), engine.WithJournal(j),
			engine.WithApprover(consent.ApproverFunc(func(context.Context, *consent.Notice) error { return nil })))
	}
	if err == nil {
		err = a.exec.Recover(ctx)
	}
	if err != nil {
		return a, errors.Join(err, a.close(ctx))
	}
	return a, nil
}

func (a *app) tool(name string, ask runtime.ConsentAsk) *runtime.Tool {
	return runtime.NewTool(&runtime.Spec{Name: name, Version: "1.0.0", Effect: runtime.SideEffectWrite,
		Consent: &runtime.Consent{Ask: ask, MaxCover: runtime.CoverTool, Timeout: 1000 * time.Hour}},
		&wire.ObjectRule{Names: []string{"text"}, Required: 1},
		func(_ context.Context, in *message) (*message, error) {
			a.ran.Add(1)
			return in, nil
		})
}

func (a *app) close(ctx context.Context) (err error) {
	if a.exec != nil {
		err = a.exec.Shutdown(ctx)
	}
	if a.log != nil {
		err = errors.Join(err, a.log.Close(ctx))
	}
	return errors.Join(err, a.store.Close())
}

// work makes calls that are carried out and calls that wait; with approve the latter
// are answered with a grant for the session.
func (a *app) work(t *testing.T, from, to int, approve bool) {
	s := a.exec.Session(engine.SessionConfig{ID: "s", Principal: "agent"})
	run, ok := s.Run("r")
	if !ok {
		var err error
		run, err = s.StartRun(t.Context(), engine.RunConfig{ID: "r"})
		require.NoError(t, err)
	}
	turn := run.Turn(engine.TurnConfig{Budget: 1000 * time.Hour})
	for i := from; i < to; i++ {
		tool, want := "note", runtime.Completed
		if i%2 == 1 {
			tool, want = "pay", runtime.Pending
		}
		out := turn.Execute(t.Context(), runtime.Call{ID: fmt.Sprint("c", i), Tool: tool, Input: []byte(`{"text":"some"}`)})
		if approve && out.Kind == runtime.Pending {
			res := a.exec.Decide(t.Context(), out.RequestID, action.Answer{By: runtime.ProgramActor("mallory"), Approve: true, Grant: consent.ForSession, Cover: runtime.CoverTool})
			require.Equal(t, runtime.ResolutionAccepted, res.Kind, res.Reason)
			continue
		}
		if !approve {
			require.Equal(t, want, out.Kind, out.Message)
		}
	}
}

// newVictims makes the store that is attacked, in three states, and the donor.
func newVictims(t *testing.T) (list []*victim, donor string) {
	dir := t.TempDir()
	secret, _, err := audit.GenerateKey("prod")
	require.NoError(t, err)
	signer, err := note.NewSigner(secret)
	require.NoError(t, err)
	donor = filepath.Join(dir, "donor")
	a, err := startApp(t.Context(), donor, nil, audit.FileAnchor{})
	require.NoError(t, err)
	a.work(t, 0, 6, true)
	require.NoError(t, a.close(t.Context()))

	live, older := filepath.Join(dir, "live"), filepath.Join(dir, "older")
	at := func(name string) *victim {
		v := &victim{name: name, path: filepath.Join(dir, name), older: older, signer: signer, anchor: audit.FileAnchor{Path: filepath.Join(dir, name+".notes")}}
		copyStore(t, live, v.path)
		text, err := os.ReadFile(live + ".notes")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(v.anchor.Path, text, 0o600))
		return v
	}
	anchor := audit.FileAnchor{Path: live + ".notes"}
	next := func(from, to int) *app {
		a, err := startApp(t.Context(), live, signer, anchor)
		require.NoError(t, err)
		a.work(t, from, to, false)
		return a
	}
	require.NoError(t, next(0, 4).close(t.Context()))
	copyStore(t, live, older)
	a = next(4, 10)
	require.NoError(t, a.log.Checkpoint(t.Context())) // which writes the head
	head, err := a.store.Head(t.Context())
	require.NoError(t, err)
	a.work(t, 10, 13, false) // above the head
	crashed := at("crashed")
	require.NoError(t, a.close(t.Context()))
	closed := at("closed")
	restored := at("restored")
	restore(t, restored)
	for _, v := range []*victim{crashed, closed, restored} {
		v.size = entriesOf(t, v.path)
		v.head = v.size
	}
	crashed.head = head
	return []*victim{crashed, closed, restored}, donor
}

// restore puts the older copy in the place of a store on purpose.
func restore(t *testing.T, v *victim) {
	text, err := os.ReadFile(v.older)
	require.NoError(t, err)
	require.NoError(t, os.Remove(v.path))
	require.NoError(t, os.WriteFile(v.path, text, 0o600))
	s, record, err := sqlite.Restore(v.path, onPurpose)
	require.NoError(t, err)
	require.NoError(t, audit.Restore(t.Context(), s, audit.NewCheckpoints(s), v.signer, record.Kept, audit.WithAnchor(v.anchor)))
	require.NoError(t, s.Close())
}

func entriesOf(t *testing.T, path string) (n uint64) {
	require.NoError(t, other(t, path).QueryRow("SELECT max(seq) FROM entry").Scan(&n))
	return n
}

// A forgery is one change of the files, and the position that a start without an audit
// has to name; 0: it names none.
type forgery struct {
	what    string
	do      func(t *testing.T, path string)
	at      uint64
	audited bool // only an audit with an anchor can find it
}

// forge makes up a forgery.
func (v *victim) forge(rng *rand.Rand, donor string) forgery {
	seq := 1 + rng.Uint64N(v.size)
	sql := func(what string, at uint64, query string, args ...any) forgery {
		return forgery{what: fmt.Sprintf("%s: %s %v", what, query, args), at: at, do: func(t *testing.T, path string) { change(t, path, query, args...) }}
	}
	approval := "(SELECT min(seq) FROM donor.entry WHERE kind = 'approval.decided')"
	switch rng.IntN(11) {
	case 0: // append what the donor has, or what is there, with authenticators of either
		return sql("append", v.size+1, fmt.Sprintf("ATTACH ? AS donor; INSERT INTO entry SELECT %d, at, kind, session, run, call, tool, mark, leaf, %s FROM donor.entry WHERE seq = %s",
			v.size+1, v.mac(rng), approval), donor)
	case 1:
		return sql("insert", seq, fmt.Sprintf(`ATTACH ? AS donor; UPDATE entry SET seq = seq + 1000 WHERE seq >= %d;
INSERT INTO entry SELECT %d, at, kind, session, run, call, tool, mark, leaf, %s FROM donor.entry WHERE seq = %s;
UPDATE entry SET seq = seq - 999 WHERE seq > 1000`, seq, seq, v.mac(rng), approval), donor)
	case 2:
		return sql("replace", seq, fmt.Sprintf("ATTACH ? AS donor; UPDATE entry SET (at, kind, session, run, call, tool, mark, leaf, mac) = (SELECT at, kind, session, run, call, tool, mark, leaf, %s FROM donor.entry WHERE seq = %s) WHERE seq = %d",
			v.mac(rng), approval, seq), donor)
	case 3:
		columns := []string{"at = at + 1", "kind = kind || 'x'", "session = 'x'", "run = run || 'x'", "call = call || 'x'", "tool = tool || 'x'", "mark = (mark + 1) % 4",
			"leaf = CAST(replace(CAST(leaf AS TEXT), '\"at\"', '\"as\"') AS BLOB)", "leaf = CAST(leaf || ' ' AS BLOB)",
			"mac = randomblob(33)", "mac = x''", "mac = CAST(substr(mac, 1, 1) || zeroblob(32) AS BLOB)"}
		return sql("change", seq, "UPDATE entry SET "+columns[rng.IntN(len(columns))]+fmt.Sprintf(" WHERE seq = %d", seq))
	case 4:
		first := 1 + rng.Uint64N(v.size-1)
		return sql("swap", first, fmt.Sprintf("UPDATE entry SET seq = 9999 WHERE seq = %d; UPDATE entry SET seq = %d WHERE seq = %d; UPDATE entry SET seq = %d WHERE seq = 9999",
			first, first, first+1, first+1))
	case 5:
		seq = 1 + rng.Uint64N(v.head)
		return sql("delete", 0, fmt.Sprintf("DELETE FROM entry WHERE seq = %d; UPDATE entry SET seq = seq + 1000 WHERE seq > %d; UPDATE entry SET seq = seq - 1001 WHERE seq > 1000", seq, seq))
	case 6:
		return sql("cut", 0, fmt.Sprintf("DELETE FROM entry WHERE seq >= %d; DELETE FROM checkpoint WHERE size >= %d; DELETE FROM private WHERE seq >= %d",
			1+rng.Uint64N(v.head), 1, 1))
	case 7:
		return v.rollBack(rng, donor)
	case 8:
		queries := []string{"DELETE FROM migration", "DELETE FROM migration WHERE version > 2; UPDATE migration SET version = 1", "UPDATE owner SET store = zeroblob(16)", "UPDATE owner SET epoch = 0",
			"DELETE FROM owner", "UPDATE entry SET mac = x''", "DELETE FROM migration WHERE version > 2; UPDATE migration SET version = 1; ALTER TABLE entry DROP COLUMN mac", "DELETE FROM entry; DELETE FROM checkpoint"}
		return sql("make it another", 0, queries[rng.IntN(len(queries))])
	case 9:
		return sql("tree", 0, v.tree(rng), donor)
	}
	return sql("repeat", v.size+1, fmt.Sprintf("INSERT INTO entry SELECT %d, at, kind, session, run, call, tool, mark, leaf, mac FROM entry WHERE seq = %d", v.size+1, seq))
}

// tree returns a change of the tree of the sessions. The donor is attached, or is not used.
func (v *victim) tree(rng *rand.Rand) string {
	from := "donor"
	if v.name == "closed" && rng.IntN(2) == 0 { // the tree of a crashed one is that of the older copy
		from = "older"
	}
	changes := []string{
		"DELETE FROM node", "UPDATE node SET data = x''", "UPDATE node SET data = CAST(substr(data, 1, 40) || x'00' || substr(data, 42) AS BLOB)", "UPDATE node SET path = path + 1",
		"UPDATE owner SET root = randomblob(32)", "UPDATE owner SET mac = randomblob(32)", "UPDATE owner SET rooted = 0, root = x'', mac = x''", "UPDATE owner SET rooted = rooted - 1",
		"DELETE FROM node; INSERT INTO node SELECT * FROM " + from + ".node",
		"UPDATE owner SET (rooted, root, mac) = (SELECT rooted, root, mac FROM " + from + ".owner); DELETE FROM node; INSERT INTO node SELECT * FROM " + from + ".node",
	}
	return "ATTACH ? AS donor; ATTACH '" + v.older + "' AS older; " + changes[rng.IntN(len(changes))]
}

// mac returns an authenticator that is there, or none of any.
func (v *victim) mac(rng *rand.Rand) string {
	return []string{"mac", "randomblob(33)", "zeroblob(33)", fmt.Sprintf("(SELECT mac FROM main.entry WHERE seq %% 1000 = %d)", 1+rng.Uint64N(v.size))}[rng.IntN(4)]
}

// rollBack puts another store in the place of this one.
func (v *victim) rollBack(rng *rand.Rand, donor string) forgery {
	from := []string{v.older, v.older, donor, ""}[rng.IntN(4)]
	f := forgery{what: fmt.Sprintf("roll back to %q", filepath.Base(from)), audited: from == v.older && rng.IntN(2) == 0}
	f.do = func(t *testing.T, path string) {
		keys, err := os.ReadFile(path + ".keys")
		require.NoError(t, err)
		for _, part := range []string{"", "-wal", "-shm", ".keys"} {
			if err := os.Remove(path + part); !errors.Is(err, os.ErrNotExist) {
				require.NoError(t, err)
			}
		}
		if from != "" {
			copyStore(t, from, path)
		}
		if !f.audited {
			require.NoError(t, os.WriteFile(path+".keys", keys, 0o600))
		}
	}
	return f
}

// TestForgeries attacks a store as a process can that has none of its keys, after a
// clean close, after a crash and after a restore: every start is refused, before
// anything has run.
func TestForgeries(t *testing.T) {
	victims, donor := newVictims(t)
	for _, v := range victims { // they are good as they are
		dir := t.TempDir()
		copyVictim(t, v, dir)
		a, err := startApp(t.Context(), filepath.Join(dir, "store"), v.signer, audit.FileAnchor{Path: filepath.Join(dir, "notes")})
		require.NoError(t, err, v.name)
		require.NotEmpty(t, a.exec.Requests(), v.name)
		require.NoError(t, a.close(t.Context()))
		require.Zero(t, a.ran.Load())
	}
	refusedAs := map[string]int{}
	for n := range battery.Count(t, 60, 1000) {
		rng := rand.New(rand.NewPCG(uint64(n), 5))
		v := victims[n%len(victims)]
		f := v.forge(rng, donor)
		what := fmt.Sprintf("forgery %d of the store that was %s: %s", n, v.name, f.what)
		for _, signer := range []note.Signer{nil, v.signer} {
			if f.audited && signer == nil {
				continue
			}
			dir := t.TempDir()
			copyVictim(t, v, dir)
			path := filepath.Join(dir, "store")
			f.do(t, path)
			if !f.audited {
				require.Error(t, verifyWithKeys(t.Context(), path), what)
			}
			a, err := startApp(t.Context(), path, signer, audit.FileAnchor{Path: filepath.Join(dir, "notes")})
			require.Error(t, err, what)
			require.Zero(t, a.ran.Load(), what)
			var forged *sqlite.ForgedError
			if signer == nil && f.at != 0 {
				require.ErrorAs(t, err, &forged, what)
				require.Equal(t, f.at, forged.Seq, what)
			}
			refusedAs[reasonOf(err)]++
			require.NoError(t, os.RemoveAll(dir))
		}
	}
	t.Log(refusedAs)
}

// copyVictim copies a store and its anchor into a folder.
func copyVictim(t *testing.T, v *victim, dir string) {
	copyStore(t, v.path, filepath.Join(dir, "store"))
	text, err := os.ReadFile(v.anchor.Path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes"), text, 0o600))
}

// reasonOf names the error of a refused start.
func reasonOf(err error) string {
	for _, one := range []error{sqlite.ErrForged, sqlite.ErrRolledBack, sqlite.ErrKeys, sqlite.ErrVersion, audit.ErrTampered} {
		if errors.Is(err, one) {
			return one.Error()
		}
	}
	var corrupt *sqlite.CorruptError
	if errors.As(err, &corrupt) {
		return "an entry is missing"
	}
	return err.Error()
}
