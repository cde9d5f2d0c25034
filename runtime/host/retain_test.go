package host_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/host"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// TestAHostRetains: a host that goes on archives what is old, verifies it, and deletes segments with a record in the audit log.
// SEMANTICS 6.14.7
func TestAHostRetains(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "var")
	h, err := host.Open(t.Context(), host.Config{Tools: noteTools(nil), Policies: policies(), Dir: dir, Delete: 60 * 24 * time.Hour})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(t.Context())) }()
	for i := range 20 {
		require.Equal(t, runtime.Completed, execute(t, h, fmt.Sprint("c", i), "Shopping").Kind)
	}
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	require.Equal(t, runtime.Completed, execute(t, h, "later", "Shopping").Kind)
	require.NoError(t, h.RetainOnce(t.Context(), time.Now()))
	require.NoDirExists(t, filepath.Join(dir, "archive"), "nothing is old")

	require.NoError(t, h.RetainOnce(t.Context(), time.Now().Add(31*24*time.Hour)))
	segments, err := h.Store.Segments(t.Context())
	require.NoError(t, err)
	require.Len(t, segments, 1)
	id, err := h.Store.ID(t.Context())
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "archive", fmt.Sprintf("%012d-%012d-%s.segment", 1, segments[0].Last, id[:8])), segments[0].File)
	f, err := archive.Open(segments[0].File)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, runtime.Completed, execute(t, h, "after", "Shopping").Kind)
	report, err := h.VerifyAudit(t.Context())
	require.NoError(t, err)
	require.True(t, report.OK, report.Bad)
	assert.Equal(t, []audit.Span{{First: 1, Last: segments[0].Last}}, report.Archived)

	require.NoError(t, h.RetainOnce(t.Context(), time.Now().Add(59*24*time.Hour)))
	_, err = os.Stat(segments[0].File)
	require.NoError(t, err)
	require.NoError(t, h.RetainOnce(t.Context(), time.Now().Add(61*24*time.Hour)))
	_, err = os.Stat(segments[0].File)
	require.ErrorIs(t, err, os.ErrNotExist)
	entries, err := h.Store.Read(t.Context(), mustArchived(t, h), 1<<10)
	require.NoError(t, err)
	var deleted []*journal.Deleted
	for i := range entries {
		if r, err := journal.Decode(entries[i].Leaf); entries[i].Kind == journal.KindDeleted {
			require.NoError(t, err)
			deleted = append(deleted, r.Deleted)
		}
	}
	require.Len(t, deleted, 1)
	assert.Equal(t, segments[0].Last, deleted[0].Last)
	require.NoError(t, h.RetainOnce(t.Context(), time.Now().Add(62*24*time.Hour)), "it is gone already")
	require.Equal(t, runtime.Completed, execute(t, h, "last", "Shopping").Kind)
}

// TestAHostLooksAtOnceAndEveryHour: the first look comes at the start, the next one a period after the end of the one before,
// and none after the end of the context.
func TestAHostLooksAtOnceAndEveryHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start, over := time.Now(), make(chan struct{})
		var looks []time.Duration
		go func() {
			defer close(over)
			host.AtOnceAndEvery(ctx, time.Hour, func() {
				looks = append(looks, time.Since(start))
				time.Sleep(time.Minute)
			})
		}()
		time.Sleep(3 * time.Hour)
		cancel()
		<-over
		assert.Equal(t, []time.Duration{0, time.Hour + time.Minute, 2*time.Hour + 2*time.Minute}, looks)
	})
}

func mustArchived(t *testing.T, h *host.Host) uint64 {
	t.Helper()
	n, err := h.Store.Archived(t.Context())
	require.NoError(t, err)
	return n
}

// TestAHostOfAnArchiveStarts: what waits is there after a restart, and calls go on.
func TestAHostOfAnArchiveStarts(t *testing.T) {
	config := host.Config{Tools: noteTools(nil), Policies: policies(), Dir: filepath.Join(t.TempDir(), "var")}
	h, err := host.Open(t.Context(), config)
	require.NoError(t, err)
	require.Equal(t, runtime.Completed, execute(t, h, "c1", "Shopping").Kind)
	require.NoError(t, h.Audit.Checkpoint(t.Context()))
	require.Equal(t, runtime.Pending, execute(t, h, "c2", "Draft").Kind)
	_, err = h.Archive(t.Context(), time.Now(), t.TempDir())
	require.NoError(t, err)
	require.NotZero(t, mustArchived(t, h))
	require.NoError(t, h.Close(t.Context()))

	h, err = host.Open(t.Context(), config)
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(t.Context())) }()
	require.Len(t, h.Executor.Requests(), 1)
	require.Equal(t, runtime.Completed, execute(t, h, "c3", "Shopping").Kind)
}

// TestRetentionsAreRefused: one that is shorter than a window, negative ones, and an archive of calls whose window is open.
// SEMANTICS 6.14.2
func TestRetentionsAreRefused(t *testing.T) {
	tools := func(change func(*runtime.Spec)) []*runtime.Tool {
		list := noteTools(nil)
		change(list[0].Spec())
		return list
	}
	for want, c := range map[string]host.Config{
		`shorter than the time for an undo of tool "note_write", which is 48h0m0s`: {Retain: time.Hour, Tools: tools(func(s *runtime.Spec) { s.Undo = &runtime.UndoSpec{TTL: 48 * time.Hour} })},
		`shorter than the time for an undo of tool "note_write", which is 1h0m0s`:  {Retain: time.Minute, Tools: tools(func(s *runtime.Spec) { s.Undo = &runtime.UndoSpec{} })}, // the default
		`shorter than the window of the idempotency key of tool "note_write"`:      {Retain: time.Hour, Tools: tools(func(s *runtime.Spec) { s.Idempotency = &runtime.Idempotency{Window: 2 * time.Hour} })},
		`shorter than the dedupe window of tool "note_write"`:                      {Retain: time.Hour, Tools: tools(func(s *runtime.Spec) { s.Dedupe.Window = 2 * time.Hour })},
		`shorter than the cooldown of tool "note_write"`:                           {Retain: time.Hour, Tools: tools(func(s *runtime.Spec) { s.Rules.Cooldown = 2 * time.Hour })},
		"is negative": {Retain: -1, Tools: noteTools(nil)},
		"host: Config.Delete is 1h0m0s, shorter than Config.Retain, which is 720h0m0s": {Delete: time.Hour, Tools: noteTools(nil)},
	} {
		c.Dir, c.Policies = filepath.Join(t.TempDir(), "var"), policies()
		_, err := host.Open(t.Context(), c)
		require.ErrorContains(t, err, want)
	}
	h, err := host.Open(t.Context(), host.Config{
		Tools: tools(func(s *runtime.Spec) {
			s.Idempotency = &runtime.Idempotency{Key: []string{"title"}, Window: 2 * time.Hour}
		}), Policies: policies(),
		Dir: filepath.Join(t.TempDir(), "var"), Retain: host.KeepAll,
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close(t.Context())) }()
	_, err = h.Archive(t.Context(), time.Now(), t.TempDir())
	var refused *archive.Refusal
	require.ErrorAs(t, err, &refused)
	require.True(t, strings.HasPrefix(refused.What, `the window of the idempotency key of tool "note_write" is 2h0m0s`), refused.What)
}
