package archive_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// An app is a store with its audit log.
type app struct {
	path     string
	store    *sqlite.Store
	log      *audit.Log
	verifier note.Verifier
	seq      uint64
}

// openApp opens an app, and makes its key beside the store if there is none.
func openApp(ctx context.Context, path string) (*app, error) {
	a := &app{path: path}
	var err error
	if a.store, err = sqlite.Open(path); err != nil {
		return nil, err
	}
	a.seq = a.store.Health().Head
	signer, err := audit.OpenSigner(path+".audit", "example.com/app", a.seq == 0)
	if err == nil {
		a.verifier, err = audit.ReadVerifier(path + ".audit" + audit.PublicSuffix)
	}
	if err == nil {
		a.log, err = audit.New(ctx, a.store, audit.NewCheckpoints(a.store), signer, audit.WithAnchor(audit.FileAnchor{Path: path + ".anchor"}),
			audit.WithAfterFunc(func(time.Duration, func()) func() bool { return func() bool { return true } }))
	}
	if err != nil {
		return nil, errors.Join(err, a.store.Close())
	}
	return a, nil
}

func (a *app) close(ctx context.Context) error { return errors.Join(a.log.Close(ctx), a.store.Close()) }

// notes returns what was anchored.
func (a *app) notes() ([][]byte, error) {
	f, err := os.Open(a.path + ".anchor")
	if err != nil {
		return nil, err
	}
	notes, err := audit.ReadAnchors(f, a.verifier.Name())
	return notes, errors.Join(err, f.Close())
}

// record appends records, one a minute.
func (a *app) record(ctx context.Context, list ...journal.Record) error {
	for i := range list {
		r := &list[i]
		a.seq++
		r.At = began.Add(time.Duration(a.seq) * time.Minute)
		e, err := journal.NewEntry(a.seq, r, nil)
		if err == nil {
			err = a.log.Journal().Append(ctx, []journal.Entry{e})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// call records a call that has failed, or, when it is open, only its beginning.
func (a *app) call(ctx context.Context, session, run, id string, open bool) error {
	err := a.record(ctx, journal.Record{Kind: "tool.invoked", Session: session, Run: run, Call: id, Tool: "t", Mark: journal.MarkOpened, To: "DECLARED"})
	if err != nil || open {
		return err
	}
	return a.record(ctx, journal.Record{Kind: "tool.failed", Session: session, Run: run, Call: id, Tool: "t", Mark: journal.MarkEnded, To: "FAILED", Outcome: ended(runtime.Failed)})
}

// ended returns an outcome as it is recorded.
func ended(kind runtime.OutcomeKind) []byte {
	text, err := history.EncodeOutcome(&runtime.Outcome{Kind: kind})
	if err != nil {
		panic(err)
	}
	return text
}

// filled makes a store with two sessions of many calls, of which the second has ended, and three checkpoints. It returns the sizes of these.
func filled(t *testing.T, path string, calls int) (a *app, sizes []uint64) {
	t.Helper()
	a, err := openApp(t.Context(), path)
	require.NoError(t, err)
	for round := range 3 {
		for _, s := range []string{"s", "over"} {
			if s == "over" && round > 0 {
				continue
			}
			run := fmt.Sprint("r", round)
			require.NoError(t, a.record(t.Context(), journal.Record{Kind: journal.KindRunStarted, Session: s, Run: run}))
			for i := range calls {
				require.NoError(t, a.call(t.Context(), s, run, fmt.Sprint("call-", round*calls+i+1), false))
			}
			require.NoError(t, a.record(t.Context(), journal.Record{Kind: journal.KindRunClosed, Session: s, Run: run}))
		}
		if round == 0 {
			require.NoError(t, a.record(t.Context(), journal.Record{Kind: journal.KindSessionEnded, Session: "over"}))
		}
		require.NoError(t, a.log.Checkpoint(t.Context()))
		sizes = append(sizes, a.seq)
	}
	require.NoError(t, a.call(t.Context(), "s", "r3", "last", false))
	return a, sizes
}

// read reads a session.
func (a *app) read(t *testing.T, session string) *history.Single {
	t.Helper()
	engine, err := rules.Compile(rules.Config{})
	require.NoError(t, err)
	s, err := history.ReadSession(t.Context(), a.store, engine, nil, session)
	require.NoError(t, err)
	return s
}

// archive archives the entries before a time.
func (a *app) archive(ctx context.Context, to string, before, forget time.Time) (*archive.Done, error) {
	notes, err := a.notes()
	if err != nil {
		return nil, err
	}
	return archive.Write(ctx, &archive.Config{Store: a.store, Verifier: a.verifier, Notes: notes, Before: before, To: to, Forget: forget, Window: new(time.Duration)})
}

// reopened closes an app and opens it again.
func (a *app) reopened(t *testing.T) *app {
	t.Helper()
	require.NoError(t, a.close(t.Context()))
	again, err := openApp(t.Context(), a.path)
	require.NoError(t, err)
	return again
}

// verified verifies the audit log of a store that is closed, with segments.
func verified(t *testing.T, a *app, files ...string) audit.Report {
	t.Helper()
	r, err := sqlite.OpenReader(a.path, sqlite.WithKeys(a.path+".keys"))
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	var from audit.Reader = r
	var open []*archive.File
	for _, name := range files {
		f, err := archive.Open(name)
		require.NoError(t, err)
		defer func() { require.NoError(t, f.Close()) }()
		require.NoError(t, f.Signed(a.verifier))
		open = append(open, f)
	}
	if len(open) > 0 {
		from, err = archive.Join(r, open...)
		require.NoError(t, err)
	}
	notes, err := a.notes()
	require.NoError(t, err)
	report, err := audit.Verify(t.Context(), audit.NewSource(from, r), a.verifier, notes)
	require.NoError(t, err)
	require.NoError(t, report.Authenticate(t.Context(), r))
	require.True(t, report.OK, "%v", report.Bad)
	return report
}

// TestSessionsGoOn: what a session is does not change when its entries are archived, and both the store and the segments prove them.
func TestSessionsGoOn(t *testing.T) {
	dir := t.TempDir()
	a, sizes := filled(t, filepath.Join(dir, "a.db"), 300)
	before := a.read(t, "s")
	one, two := filepath.Join(dir, "1.segment"), filepath.Join(dir, "2.segment")
	done, err := a.archive(t.Context(), one, began.Add(time.Duration(sizes[0]+1)*time.Minute), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, [2]uint64{1, sizes[0]}, [2]uint64{done.First, done.Last})
	a = a.reopened(t)
	done, err = a.archive(t.Context(), two, began.Add(time.Duration(sizes[2]+1)*time.Minute), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, [2]uint64{sizes[0] + 1, sizes[2]}, [2]uint64{done.First, done.Last})
	a = a.reopened(t)
	after := a.read(t, "s")
	assert.Equal(t, before.References(), after.References())
	assert.Equal(t, before.State.Snapshot(), after.State.Snapshot())
	assert.Equal(t, before.Book.Snapshot(), after.Book.Snapshot())
	assert.Equal(t, before.Open, after.Open)
	assert.Equal(t, before.Runs, after.Runs)
	assert.Empty(t, after.Pinned())
	over := a.read(t, "over")
	assert.True(t, over.Over, "a session that ended is not begun again when its entries are archived")
	assert.Empty(t, over.References())

	_, err = a.store.Entries(t.Context(), after.References()[0].Outcome)
	var gone *journal.ArchivedError
	require.ErrorAs(t, err, &gone)
	assert.Equal(t, one, gone.Segment)
	require.NoError(t, a.close(t.Context()))
	assert.Equal(t, []audit.Span{{First: 1, Last: sizes[2]}}, verified(t, a).Archived)
	whole := verified(t, a, one, two)
	assert.Empty(t, whole.Archived, "all entries were read")
	assert.Equal(t, verified(t, a).Entries, whole.Entries)
}

// TestCallsAreForgotten: with a time, calls that ended before it are forgotten, but the one with the largest id that was made.
func TestCallsAreForgotten(t *testing.T) {
	dir := t.TempDir()
	a, sizes := filled(t, filepath.Join(dir, "a.db"), 300)
	limit := began.Add(time.Duration(sizes[2]+1) * time.Minute)
	_, err := a.archive(t.Context(), filepath.Join(dir, "1"), began.Add(time.Duration(sizes[0]+1)*time.Minute), time.Time{})
	require.NoError(t, err)
	require.Len(t, a.read(t, "s").References(), 901)
	a = a.reopened(t)
	_, err = a.archive(t.Context(), filepath.Join(dir, "2"), limit, limit)
	require.NoError(t, err)
	var ids []string
	for _, c := range a.read(t, "s").References() {
		ids = append(ids, c.Call)
	}
	assert.Equal(t, []string{"call-900", "last"}, ids)
	require.NoError(t, a.close(t.Context()))
}

// TestWhatHoldsBack: a call that is open or whose outcome is not known, an anchor that is behind, and the time.
// SEMANTICS 6.14.1
func TestWhatHoldsBack(t *testing.T) {
	dir := t.TempDir()
	a, sizes := filled(t, filepath.Join(dir, "a.db"), 20)
	first := a.seq + 1
	require.NoError(t, a.record(t.Context(), journal.Record{Kind: "tool.invoked", Session: "s", Run: "r4", Call: "lost", Tool: "t", Mark: journal.MarkOpened, To: "DECLARED"},
		journal.Record{Kind: "tool.failed", Session: "s", Run: "r4", Call: "lost", Tool: "t", Mark: journal.MarkEnded, To: "FAILED", Outcome: ended(runtime.Unknown)}))
	require.NoError(t, a.log.Checkpoint(t.Context()))
	require.NoError(t, a.call(t.Context(), "s", "r4", "open", true))
	require.NoError(t, a.log.Checkpoint(t.Context()))
	require.NoError(t, a.call(t.Context(), "s", "r4", "later", false))
	late := began.Add(1000 * time.Hour)
	done, err := a.archive(t.Context(), filepath.Join(dir, "1"), late, time.Time{})
	require.NoError(t, err)
	assert.GreaterOrEqual(t, done.Last, sizes[2])
	assert.Less(t, done.Last, first)
	assert.Contains(t, done.Held, fmt.Sprintf("a call of session \"s\" that is open or whose outcome is not known begins at entry %d", first))
	assert.Equal(t, first, a.read(t, "s").Pinned(), "the one whose outcome is not known")
	a = a.reopened(t)
	for what, at := range map[string]time.Time{"begins at entry": late, "no checkpoint of entries from": began} {
		_, err = a.archive(t.Context(), filepath.Join(dir, "2"), at, time.Time{})
		var refused *archive.Refusal
		require.ErrorAs(t, err, &refused)
		assert.Contains(t, refused.What, what)
		assert.NotEmpty(t, refused.Remedy)
	}
	_, err = archive.Write(t.Context(), &archive.Config{Store: a.store, Verifier: a.verifier, Before: late, To: filepath.Join(dir, "2"), Window: new(time.Duration)})
	require.ErrorContains(t, err, "an anchored checkpoint proves the entries up to 0")
	_, err = os.Stat(filepath.Join(dir, "2"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, a.close(t.Context()))
}

// A failing folder is one whose names cannot be made durable at times.
type failing struct {
	disk.Dir
	err    error
	synced int // how often its names were
}

func (f *failing) Sync(name string) error {
	if f.err != nil {
		return f.err
	}
	f.synced++
	return f.Dir.Sync(name)
}

// TestAFolderThatIsNotDurable: no entry leaves the store for a segment whose name may be lost with the power. Once the sync of a folder
// has failed another one says nothing about what it was to write, until the store is opened again; a name that is there already is made durable.
//
// SEMANTICS 6.14.14
func TestAFolderThatIsNotDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	a, _ := filled(t, path, 20)
	in := t.TempDir()
	opened, err := disk.Open(in)
	require.NoError(t, err)
	defer func() { assert.NoError(t, opened.Close()) }()
	folder := &failing{Dir: opened, err: errors.New("the disk is gone")}
	ctx, late := disk.With(t.Context(), folder), began.Add(1000*time.Hour)
	archived := func() uint64 {
		last, err := a.store.Archived(t.Context())
		require.NoError(t, err)
		return last
	}

	_, err = a.archive(ctx, in, late, time.Time{})
	require.ErrorIs(t, err, archive.ErrFolder)
	require.ErrorIs(t, err, folder.err)
	files, err := os.ReadDir(in)
	require.NoError(t, err)
	require.Len(t, files, 1, "it is seen")
	folder.err = nil
	_, err = a.archive(ctx, in, late, time.Time{})
	require.ErrorContains(t, err, "nothing more is archived until the store is opened again: ")
	require.ErrorContains(t, err, "the disk is gone")
	require.Zero(t, archived())

	a, folder.synced = a.reopened(t), 0
	done, err := a.archive(ctx, in, late, time.Time{})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(in, files[0].Name()), done.File)
	require.Equal(t, done.Last, archived())
	require.Equal(t, 1, folder.synced)
	require.NoError(t, a.close(t.Context()))
}

// TestAFileThatIsThere: one with the same entries, which a crash has left, is taken over; another one is not replaced.
// SEMANTICS 6.14.13
func TestAFileThatIsThere(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	a, _ := filled(t, path, 20)
	late, last := began.Add(1000*time.Hour), uint64(0)
	require.NoError(t, a.close(t.Context()))
	twin := filepath.Join(dir, "b.db")
	for _, end := range []string{"", ".keys", ".audit", ".audit.pub", ".anchor"} {
		data, err := os.ReadFile(path + end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(twin+end, data, 0o600))
	}
	to := filepath.Join(dir, "1")
	for _, from := range []string{path, twin} { // to which the file is what a crash has left
		a, err := openApp(t.Context(), from)
		require.NoError(t, err)
		if from == twin { // a start after the crash has signed and anchored more
			require.NoError(t, a.call(t.Context(), "s", "r8", "more", false))
			require.NoError(t, a.log.Checkpoint(t.Context()))
			require.NoError(t, a.call(t.Context(), "s", "r8", "even more", false))
		}
		done, err := a.archive(t.Context(), to, late, time.Time{})
		require.NoError(t, err)
		require.EqualValues(t, 1, done.First)
		if last == 0 {
			last = done.Last
		}
		require.Equal(t, last, done.Last)
		require.NoError(t, a.close(t.Context()))
	}
	a, err := openApp(t.Context(), twin)
	require.NoError(t, err)
	require.NoError(t, a.call(t.Context(), "s", "r9", "another", false))
	require.NoError(t, a.log.Checkpoint(t.Context()))
	require.NoError(t, a.call(t.Context(), "s", "r9", "last but one", false))
	_, err = a.archive(t.Context(), to, time.Now().Add(time.Hour), time.Time{})
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, a.close(t.Context()))
}
