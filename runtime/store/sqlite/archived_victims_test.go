package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/engine"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// An archivedVictim is a store of which two archives have taken entries, as it was at one moment. The session "s" has
// a request that waits, "idle" had a grant that was revoked between the archives, and "gone" has ended: a snapshot of "idle" from
// before has the grant, and a store without what it knows of "s" and "gone" carries their calls out again.
type archivedVictim struct {
	name     string
	path     string
	full     string // the same store before the first archive
	between  string // after the first one, in which the grant is live
	donor    string // another store under the same key of the audit log, in which the grant is live
	folder   string // of the segments
	anchor   audit.FileAnchor
	signer   note.Signer
	verifier note.Verifier
	low      []uint64 // where the segments end
	size     uint64   // of the store

	latest, earlier, donated map[string]uint64   // where the latest snapshots are: here, in between and in donor
	places                   map[string][]uint64 // the entries of each session that are not archived
}

// newArchivedVictims makes the store that is attacked, after a crash and after a clean close.
func newArchivedVictims(t *testing.T) []*archivedVictim {
	dir := t.TempDir()
	secret, public, err := audit.GenerateKey("prod")
	require.NoError(t, err)
	v := &archivedVictim{full: filepath.Join(dir, "full"), between: filepath.Join(dir, "between"), folder: filepath.Join(dir, "segments")}
	v.signer, err = note.NewSigner(secret)
	require.NoError(t, err)
	v.verifier, err = note.NewVerifier(public)
	require.NoError(t, err)
	donor := *v
	v.donor, donor.folder = filepath.Join(dir, "donor"), filepath.Join(dir, "donated")
	for _, x := range []*archivedVictim{v, &donor} {
		require.NoError(t, os.Mkdir(x.folder, 0o700))
		x.path = filepath.Join(dir, "live")
		if x == &donor {
			x.path = v.donor
		}
		x.anchor.Path = x.path + ".notes"
	}
	donor.full, donor.between = v.donor+".full", v.donor+".between"
	a := donor.begin(t)
	donor.archive(t, a)
	require.NoError(t, a.exec.Snapshots().Record(&journal.Record{Kind: journal.KindDeleted, Deleted: &journal.Deleted{First: 1, Last: donor.low[1], File: "1.segment"}}))
	require.NoError(t, a.close(t.Context()))

	a = v.begin(t)
	for _, g := range a.exec.Grants(action.GrantFilter{}) {
		require.NoError(t, a.exec.Revoke(t.Context(), g.ID, runtime.ProgramActor("owner"), "over"))
	}
	v.calls(t, a, "s", 10, 13)
	v.archive(t, a)
	out := v.call(t, a, "s", "waits", "pay")
	require.Equal(t, runtime.Pending, out.Kind, out.Message)
	v.calls(t, a, "idle", 20, 22)
	v.calls(t, a, "s", 30, 31) // without the other sessions there are gaps
	crashed := v.copied(t, "crashed")
	require.NoError(t, a.close(t.Context()))
	return []*archivedVictim{crashed, v.copied(t, "closed")}
}

// begin makes a store in which three sessions have calls, and archives once.
func (v *archivedVictim) begin(t *testing.T) *app {
	a, err := startApp(t.Context(), v.path, v.signer, v.anchor)
	require.NoError(t, err)
	for _, session := range []string{"s", "idle", "gone"} {
		v.calls(t, a, session, 0, 3)
	}
	out := v.call(t, a, "idle", "paid", "pay")
	require.Equal(t, runtime.Pending, out.Kind, out.Message)
	res := a.exec.Decide(t.Context(), out.RequestID, action.Answer{By: runtime.ProgramActor("owner"), Approve: true, Grant: consent.ForSession, Cover: runtime.CoverTool})
	require.Equal(t, runtime.ResolutionAccepted, res.Kind, res.Reason)
	require.Equal(t, runtime.Completed, a.exec.Await(t.Context(), "idle", "paid").Kind)
	gone, ok := a.exec.FindSession("gone")
	require.True(t, ok)
	require.NoError(t, gone.End(t.Context()))
	require.NoError(t, a.exec.Flush(t.Context()))
	require.NoError(t, a.log.Checkpoint(t.Context()))
	copyStore(t, v.path, v.full)
	v.archive(t, a)
	copyStore(t, v.path, v.between)
	require.NoError(t, copyFile(v.anchor.Path, v.between+".notes"))
	return a
}

// archive moves what an anchored checkpoint proves to a segment.
func (v *archivedVictim) archive(t *testing.T, a *app) {
	require.NoError(t, a.exec.Flush(t.Context()))
	require.NoError(t, a.log.Checkpoint(t.Context()))
	v.call(t, a, "s", fmt.Sprint("last", len(v.low)), "note") // the last entry stays
	f, err := os.Open(v.anchor.Path)
	require.NoError(t, err)
	notes, err := audit.ReadAnchors(f, v.verifier.Name())
	require.NoError(t, err)
	require.NoError(t, f.Close())
	done, err := archive.Write(t.Context(), &archive.Config{
		Store: a.store, Verifier: v.verifier, Notes: notes, Before: time.Now().Add(time.Hour), To: v.folder, Snapshot: a.exec.Snapshots().Above,
	})
	require.NoError(t, err)
	v.low = append(v.low, done.Last)
}

// copied returns the victim as it is now.
func (v *archivedVictim) copied(t *testing.T, name string) *archivedVictim {
	out := *v
	out.name, out.path = name, filepath.Join(filepath.Dir(v.path), name)
	out.anchor.Path = out.path + ".notes"
	copyStore(t, v.path, out.path)
	require.NoError(t, copyFile(v.anchor.Path, out.anchor.Path))
	out.size = entriesOf(t, out.path)
	out.latest, out.places = snapshotsOf(t, out.path)
	out.earlier, _ = snapshotsOf(t, v.between)
	out.donated, _ = snapshotsOf(t, v.donor)
	return &out
}

// fresh copies a victim into a folder, and returns its path and its anchor there.
func (v *archivedVictim) fresh(t *testing.T, dir string) (string, audit.FileAnchor) {
	path := filepath.Join(dir, "store")
	copyStore(t, v.path, path)
	require.NoError(t, copyFile(v.anchor.Path, path+".notes"))
	return path, audit.FileAnchor{Path: path + ".notes"}
}

// snapshotsOf returns where the latest snapshot of each session is, and the entries of each session.
func snapshotsOf(t *testing.T, path string) (latest map[string]uint64, places map[string][]uint64) {
	latest, places = map[string]uint64{}, map[string][]uint64{}
	rows, err := other(t, path).Query("SELECT session, seq, kind FROM entry ORDER BY seq")
	require.NoError(t, err)
	for rows.Next() {
		var session, kind string
		var seq uint64
		require.NoError(t, rows.Scan(&session, &seq, &kind))
		places[session] = append(places[session], seq)
		if kind == journal.KindSnapshot {
			latest[session] = seq
		}
	}
	require.NoError(t, errors.Join(rows.Err(), rows.Close()))
	return latest, places
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// calls makes calls that are carried out.
func (v *archivedVictim) calls(t *testing.T, a *app, session string, from, to int) {
	for i := from; i < to; i++ {
		out := v.call(t, a, session, fmt.Sprint("c", i), "note")
		require.Equal(t, runtime.Completed, out.Kind, out.Message)
	}
}

// call makes a call.
func (v *archivedVictim) call(t *testing.T, a *app, session, id, tool string) runtime.Outcome {
	out, err := tried(t.Context(), a, session, "r", id, tool)
	require.NoError(t, err)
	return out
}

// tried makes a call in a run, which is started where it is not there.
func tried(ctx context.Context, a *app, session, run, id, tool string) (runtime.Outcome, error) {
	s := a.exec.Session(engine.SessionConfig{ID: session, Principal: "agent"})
	r, ok := s.Run(run)
	if !ok {
		var err error
		if r, err = s.StartRun(ctx, engine.RunConfig{ID: run}); err != nil {
			return runtime.Outcome{}, err
		}
	}
	return r.Turn(engine.TurnConfig{Budget: 1000 * time.Hour}).Execute(ctx, runtime.Call{ID: id, Tool: tool, Input: []byte(`{"text":"some"}`)}), nil
}

// strike makes the calls that a forged store could be tricked into carrying out: it repeats archived ones, uses the grant
// that was revoked, and goes on with what has ended. It returns what became of them, in one line.
func strike(ctx context.Context, a *app) string {
	var got []string
	for _, c := range [][3]string{
		{"s", "c0", "note"}, {"s", "c11", "note"}, {"idle", "c0", "note"}, {"idle", "paid", "pay"}, {"idle", "new", "pay"}, {"s", "other", "pay"},
		{"gone", "c0", "note"}, {"gone", "new", "note"},
	} {
		out, err := tried(ctx, a, c[0], "r", c[1], c[2])
		what := fmt.Sprintf("%v %v", out.Kind, out.Reason)
		if err != nil {
			what = "no run: " + err.Error()
		}
		got = append(got, c[0]+" "+c[1]+": "+what)
	}
	return strings.Join(got, "; ")
}

// auditOf does what "ambit audit verify" does with the key and the anchor.
func auditOf(ctx context.Context, v *archivedVictim, path string) (bad *audit.Fault, err error) {
	r, err := sqlite.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	f, err := os.Open(path + ".notes")
	if err != nil {
		return nil, err
	}
	notes, err := audit.ReadAnchors(f, v.verifier.Name())
	_ = f.Close()
	if err != nil {
		return nil, err
	}
	report, err := audit.Verify(ctx, audit.NewSource(r, r), v.verifier, notes)
	return report.Bad, err
}
