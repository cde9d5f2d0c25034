package host_test

import (
	"context"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/host/inbox"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// give puts a command into the inbox of a host and returns what became of it.
func give(t *testing.T, h *host.Host, c inbox.Command) inbox.CommandResult {
	t.Helper()
	after := h.Store.Health().Head
	require.NoError(t, inbox.Put(t.Context(), h.Store, &c))
	for {
		entries, err := h.Store.Read(t.Context(), after, 1000)
		require.NoError(t, err)
		for _, e := range entries {
			r, err := journal.Decode(e.Leaf)
			require.NoError(t, err)
			if e.Kind == journal.KindCommandDone && r.Command.Nonce == c.Nonce {
				return *r.Command.Result
			}
		}
		goruntime.Gosched()
	}
}

// archiveInto is a command to archive all that can be.
func archiveInto(name string) inbox.Command {
	return inbox.Command{Kind: inbox.CommandArchive, Archive: &journal.CommandArchive{Before: time.Now().Add(time.Minute), File: name}}
}

// used opens a host with an anchored call and one behind it.
func used(t *testing.T, c host.Config) *host.Host {
	t.Helper()
	c.Tools, c.Policies, c.Retain = noteTools(nil), policies(), host.KeepAll
	h, err := host.Open(t.Context(), c)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Close(context.Background())) })
	require.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	require.Equal(t, runtime.Completed, execute(t, h, "c2", "Shopping").Kind)
	return h
}

// TestCommandsArchive: a host archives on a command of its inbox, says what, and goes on.
// SEMANTICS 6.14.3
func TestCommandsArchive(t *testing.T) {
	dir := t.TempDir()
	h := used(t, host.Config{Dir: dir})
	res := give(t, h, archiveInto("2027-03.segment"))
	require.True(t, res.Done, res)
	require.NotNil(t, res.Archived)
	assert.Equal(t, filepath.Join(dir, "archive", "2027-03.segment"), res.Archived.File)
	assert.Equal(t, uint64(1), res.Archived.First)
	assert.Equal(t, mustArchived(t, h), res.Archived.Last)
	info, err := os.Stat(res.Archived.File)
	require.NoError(t, err)
	assert.Equal(t, info.Size(), res.Archived.Bytes)
	require.Equal(t, runtime.Completed, execute(t, h, "c3", "Shopping").Kind)

	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	require.Equal(t, runtime.Pending, execute(t, h, "c4", "Draft").Kind)
	res = give(t, h, archiveInto("")) // it is named by its entries
	require.True(t, res.Done, res)
	assert.Regexp(t, `archive.[0-9]{12}-[0-9]{12}-[0-9a-f]{8}\.segment$`, res.Archived.File)

	for name, c := range map[string]inbox.Command{
		"no time":    {Kind: inbox.CommandArchive, Archive: &journal.CommandArchive{File: "x"}},
		"nothing":    {Kind: inbox.CommandArchive},
		"other kind": {Kind: "archive.all", Archive: &journal.CommandArchive{Before: time.Now()}},
	} {
		assert.False(t, give(t, h, c).Done, name)
	}
}

// TestArchivedCallsAreAnswered from the segment, as before and after a restart; not where it is not there any more, or another file is in its
// place.
// SEMANTICS 1.4.4
func TestArchivedCallsAreAnswered(t *testing.T) {
	faults := make(chan error, 9)
	c := host.Config{
		Dir: filepath.Join(t.TempDir(), "var"), Tools: noteTools(nil), Policies: policies(), Retain: host.KeepAll, Report: func(err error) { faults <- err },
	}
	h, err := host.Open(t.Context(), c)
	require.NoError(t, err)
	first := execute(t, h, "c1", "Shopping")
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	require.Equal(t, runtime.Completed, execute(t, h, "c2", "Shopping").Kind)
	done, err := h.Archive(t.Context(), time.Now().Add(time.Minute), t.TempDir())
	require.NoError(t, err)
	require.NoError(t, h.Close(t.Context()))

	h, err = host.Open(t.Context(), c) // without the outcomes of the last calls in memory
	require.NoError(t, err)
	defer func() { assert.NoError(t, h.Close(context.Background())) }()
	again := execute(t, h, "c1", "Shopping")
	assert.Equal(t, []any{first.Kind, string(first.Output)}, []any{again.Kind, string(again.Output)})

	text, err := os.ReadFile(done.File)
	require.NoError(t, err)
	require.NoError(t, os.Remove(done.File))
	assert.Equal(t, runtime.ReasonCallIDReused, execute(t, h, "c1", "Shopping").Reason)
	for _, other := range [][]byte{text[:len(text)/2], append([]byte(nil), "no segment"...)} {
		require.NoError(t, os.WriteFile(done.File, other, 0o600))
		assert.Equal(t, runtime.ReasonCallIDReused, execute(t, h, "c1", "Shopping").Reason)
		assert.ErrorContains(t, <-faults, done.File)
	}
	require.NoError(t, os.WriteFile(done.File, text, 0o600))
	assert.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
	assert.Empty(t, faults)
}

// TestCommandsArchiveIntoOneFolder: a command names no file outside of the folder, replaces none and follows no link.
// SEMANTICS 6.14.4
func TestCommandsArchiveIntoOneFolder(t *testing.T) {
	dir := t.TempDir()
	h := used(t, host.Config{Dir: dir})
	outside := filepath.Join(dir, "outside")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "archive"), 0o700))
	for _, name := range []string{
		"../x", "/tmp/x", outside, ".", "..", "a/b", `a\b`, ".hidden", "-x", "x.part", "000000000001-000000000009.segment", "000000000001-000000000009-0123abcd.segment", "x\x00", "x\n", " ", string(make([]byte, 300)),
	} {
		res := give(t, h, archiveInto(name))
		assert.Equal(t, inbox.RejectedArchive, res.Reason, "%q", name)
		assert.Contains(t, res.Error, "is no name for a segment in", "%q", name)
		assert.NotEmpty(t, res.Remedy)
	}
	refused := func(name, why string) {
		t.Helper()
		res := give(t, h, archiveInto(name))
		assert.Equal(t, inbox.RejectedArchive, res.Reason)
		assert.Contains(t, res.Error, why)
	}
	there := filepath.Join(dir, "archive", "there")
	require.NoError(t, os.WriteFile(there, []byte("kept"), 0o600))
	refused("there", "file already exists")
	text, err := os.ReadFile(there)
	require.NoError(t, err)
	assert.Equal(t, "kept", string(text))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "archive", "folder"), 0o700))
	refused("folder", "is there and is no file")
	for link, to := range map[string]string{"link": outside, "link.segment.part": outside, "folder.link": dir} {
		if os.Symlink(to, filepath.Join(dir, "archive", link)) != nil {
			t.Skip("this system makes no links")
		}
	}
	refused("link", "is there and is no file")
	refused("folder.link", "is there and is no file")
	require.Zero(t, mustArchived(t, h))
	require.True(t, give(t, h, archiveInto("link.segment")).Done)
	require.NoFileExists(t, outside, "the file that is written first is no link")
}

// TestStoresOfOneFolderArchive: two stores in one Dir write segments of the same entries beside each other.
func TestStoresOfOneFolderArchive(t *testing.T) {
	dir := t.TempDir()
	var files [2]string
	var hosts [2]*host.Host
	for i, name := range []string{"a.db", "b.db"} {
		hosts[i] = used(t, host.Config{Dir: dir, Store: name})
		res := give(t, hosts[i], archiveInto(""))
		require.True(t, res.Done, res.Error)
		require.EqualValues(t, 1, res.Archived.First)
		files[i] = res.Archived.File
	}
	assert.Equal(t, filepath.Dir(files[0]), filepath.Dir(files[1]))
	assert.NotEqual(t, files[0], files[1])
	for i, h := range hosts {
		report, err := h.VerifyAudit(t.Context())
		require.NoError(t, err)
		require.True(t, report.OK, report.Bad)
		segments, err := h.Store.Segments(t.Context())
		require.NoError(t, err)
		require.Len(t, segments, 1)
		require.Equal(t, files[i], segments[0].File)
	}
}

// TestCommandsArchiveWhatIsAnchored: what no anchored checkpoint proves stays, and the answer says so.
func TestCommandsArchiveWhatIsAnchored(t *testing.T) {
	silent := audit.AnchorFunc(func(context.Context, []byte) error { return nil })
	h := used(t, host.Config{Dir: t.TempDir(), Anchor: silent})
	res := give(t, h, archiveInto(""))
	assert.Equal(t, inbox.RejectedArchive, res.Reason)
	assert.Equal(t, "an anchored checkpoint proves the entries up to 0, and those from 1 on are to be archived", res.Error)
	assert.Contains(t, res.Remedy, "add newer anchored checkpoints")
	require.Zero(t, mustArchived(t, h))
}

// denied denies one act.
type denied struct {
	runtime.OperatorDefaults
	act runtime.Act
}

func (d denied) Authorize(ctx context.Context, r *runtime.ActRequest) (runtime.ActDecision, error) {
	if r.Act == d.act {
		return runtime.ActDecision{Reason: "not today"}, nil
	}
	return d.OperatorDefaults.Authorize(ctx, r)
}

// TestWhoMayArchive: archiving is an act of its own, and the decision is on record.
// SEMANTICS 6.14.3
func TestWhoMayArchive(t *testing.T) {
	h := used(t, host.Config{Dir: t.TempDir(), Operators: denied{act: runtime.ActArchive}})
	res := give(t, h, archiveInto(""))
	assert.Equal(t, string(action.CodeNotPermitted), res.Reason)
	assert.Equal(t, "not today", res.Error)
	require.Zero(t, mustArchived(t, h))
	entries, err := h.Store.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	var acts []journal.OperatorAct
	for i := range entries {
		if r, err := journal.Decode(entries[i].Leaf); entries[i].Kind == journal.KindOperator {
			require.NoError(t, err)
			acts = append(acts, *r.Operator)
		}
	}
	require.Len(t, acts, 1)
	assert.Equal(t, string(runtime.ActArchive), acts[0].Act)
	assert.False(t, acts[0].Allowed)
}

// TestAHostLooksWhenItStarts: a host archives what is old when it has started, and not an hour later.
func TestAHostLooksWhenItStarts(t *testing.T) {
	c := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: t.TempDir(), Retain: host.KeepAll}
	h, err := host.Open(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
	require.NoError(t, h.Close(context.Background()))
	c.Retain = time.Nanosecond
	h, err = host.Open(t.Context(), c)
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(context.Background())) }()
	for mustArchived(t, h) == 0 {
		goruntime.Gosched()
	}
}

// TestWhatAnArchiveHasLeft without an end is removed by the next one, whatever that is named. Other files stay.
// SEMANTICS 6.14.13
func TestWhatAnArchiveHasLeft(t *testing.T) {
	dir := t.TempDir()
	h := used(t, host.Config{Dir: dir})
	folder := filepath.Join(dir, "archive")
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "a.part"), 0o700))
	for _, name := range []string{"000000000001-000000000009.segment.part", "2027-03.segment.part", "notes"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("left"), 0o600))
	}
	require.True(t, give(t, h, archiveInto("2027-04.segment")).Done)
	list, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, entry := range list {
		names = append(names, entry.Name())
	}
	assert.Equal(t, []string{"2027-04.segment", "a.part", "notes"}, names)
}

// TestSnapshotsAreArchived: the snapshots that an archive writes before it fails are entries that a later one takes, and the
// sessions go on: the next snapshot takes in all that is archived, whatever the last change of its session was.
func TestSnapshotsAreArchived(t *testing.T) {
	dir := t.TempDir()
	c := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Retain: host.KeepAll}
	h, err := host.Open(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	require.Equal(t, runtime.Completed, execute(t, h, "c2", "Shopping").Kind)
	taken := filepath.Join(dir, "taken")
	require.NoError(t, os.WriteFile(taken, nil, 0o600))
	for range 2 {
		_, err = h.Archive(t.Context(), time.Now(), taken)
		require.ErrorIs(t, err, os.ErrExist)
	}
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	_, err = h.Archive(t.Context(), time.Now(), taken) // so that there is an entry behind the snapshots
	require.ErrorIs(t, err, os.ErrExist)
	_, err = h.Archive(t.Context(), time.Now(), filepath.Join(dir, "first"))
	require.NoError(t, err)
	require.NoError(t, h.Close(context.Background()))
	h, err = host.Open(t.Context(), c)
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(context.Background())) }()
	require.Equal(t, runtime.Completed, execute(t, h, "c3", "Shopping").Kind)
}
