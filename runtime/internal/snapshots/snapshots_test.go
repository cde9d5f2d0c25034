package snapshots_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/internal/commitlog"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/sched"
	"github.com/ambit-tools/ambit/runtime/internal/snapshots"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

var key = make([]byte, 32)

// A session is one with a journal and what writes to it.
type session struct {
	journal.Memory
	sched  sched.Scheduler
	log    *commitlog.Writer
	writer *snapshots.Writer
	engine *rules.Engine
	broken error // of Back
}

func (s *session) Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error {
	if s.broken != nil {
		return s.broken
	}
	return s.Memory.Back(ctx, session, before, f)
}

func open(t *testing.T) *session {
	t.Helper()
	s := &session{}
	var err error
	s.engine, err = rules.Compile(rules.Config{})
	require.NoError(t, err)
	s.log = commitlog.New(commitlog.Config{
		Sched: &s.sched, Written: func(error) {},
		Append: func(entries []journal.Entry) error { return s.Append(context.Background(), entries) },
	})
	s.log.Begin(0)
	s.writer = snapshots.New(snapshots.Config{Sched: &s.sched, Journal: s, Engine: s.engine, Log: s.log, Key: func() []byte { return key }})
	t.Cleanup(func() { assert.NoError(t, s.log.Close()) })
	return s
}

// call records a call that has failed.
func (s *session) call(t *testing.T, id string) {
	t.Helper()
	out, err := history.EncodeOutcome(&runtime.Outcome{Kind: runtime.Failed})
	require.NoError(t, err)
	at := s.sched.Now().Round(0).UTC()
	s.log.Add(&journal.Record{Kind: runtime.EventInvoked.String(), At: at, Session: "s", Run: "r", Call: id, Tool: "t", Mark: journal.MarkOpened, To: "DECLARED"}, nil)
	s.log.Add(&journal.Record{Kind: runtime.EventFailed.String(), At: at, Session: "s", Run: "r", Call: id, Tool: "t", Mark: journal.MarkEnded, To: "FAILED", Outcome: out}, nil)
	require.NoError(t, s.log.FlushAll())
}

func (s *session) records(t *testing.T) (list []*journal.Record) {
	t.Helper()
	entries, err := s.Read(t.Context(), 0, 1<<10)
	require.NoError(t, err)
	for i := range entries {
		r, err := journal.Decode(entries[i].Leaf)
		require.NoError(t, err)
		list = append(list, r)
	}
	return list
}

// TestASnapshotIsDurable: with a page before it once enough calls have ended. Each call is on one page.
func TestASnapshotIsDurable(t *testing.T) {
	s := open(t)
	s.call(t, "a")
	require.NoError(t, s.writer.Write(t.Context(), "s", 2))
	s.call(t, "b")
	require.NoError(t, s.writer.Write(t.Context(), "s", 2))
	s.call(t, "c")
	require.NoError(t, s.writer.Write(t.Context(), "s", 2))
	all := s.records(t)
	require.Len(t, all, 10)
	first, page, second, third := all[2].Snapshot, all[5].Page, all[6].Snapshot, all[9].Snapshot
	assert.Equal(t, "a", first.Ended[0].Call)
	assert.Empty(t, first.Pages)
	assert.Equal(t, []string{"a", "b"}, []string{page.Ended[0].Call, page.Ended[1].Call})
	assert.Equal(t, []uint64{6}, second.Pages)
	assert.Empty(t, second.Ended)
	assert.Equal(t, []uint64{6}, third.Pages)
	require.Len(t, third.Ended, 1)
	assert.Equal(t, "c", third.Ended[0].Call)
	assert.Equal(t, uint64(9), third.Last)
}

// TestASnapshotTakesNoChangesAlong: a change of the book that waits for an entry is behind the snapshot, which does
// not hold it.
func TestASnapshotTakesNoChangesAlong(t *testing.T) {
	s := open(t)
	s.call(t, "a")
	s.log.ConsentChanged("s", &consent.Event{Seq: 1, Kind: consent.EventRetired})
	require.NoError(t, s.writer.Write(t.Context(), "s", 1))
	s.call(t, "b")
	for _, r := range s.records(t) {
		assert.Equal(t, r.Call == "b" && r.Mark == journal.MarkOpened, len(r.Consent) > 0, r.Kind)
	}
	read, err := history.ReadSession(t.Context(), s, s.engine, key, "s")
	require.NoError(t, err)
	assert.Equal(t, uint64(1), read.Book.Seq())
}

// TestASessionThatCannotBeRead gets no snapshot, and the error names it.
func TestASessionThatCannotBeRead(t *testing.T) {
	s := open(t)
	s.call(t, "a")
	s.broken = errors.New("the disk is broken")
	err := s.writer.Write(t.Context(), "s", 1)
	require.ErrorIs(t, err, s.broken)
	require.ErrorContains(t, err, `no snapshot of session "s" was made`)
	assert.Len(t, s.records(t), 2)
}
