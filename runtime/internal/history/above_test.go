package history_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A cut journal has archived its first entries.
type cut struct {
	*counted
	last uint64
}

func (c *cut) Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error {
	var gone error
	err := c.counted.Back(ctx, session, before, func(e *journal.Entry) bool {
		if e.Seq <= c.last {
			gone = &journal.ArchivedError{Seq: e.Seq, Last: c.last}
			return false
		}
		return f(e)
	})
	if gone != nil {
		return gone
	}
	return err
}

func (c *cut) Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error) {
	for _, seq := range seqs {
		if seq <= c.last {
			return nil, &journal.ArchivedError{Seq: seq, Last: c.last}
		}
	}
	return c.counted.Entries(ctx, seqs...)
}

func (c *cut) Call(ctx context.Context, key journal.CallKey) ([]journal.Entry, error) {
	list, err := c.counted.Call(ctx, key)
	if err == nil && len(list) > 0 && list[0].Seq <= c.last {
		return nil, &journal.ArchivedError{Seq: list[0].Seq, Last: c.last}
	}
	return list, err
}

// read reads a session of which the first entries are archived.
func (c *cut) read(t *testing.T, id string) *history.Single {
	t.Helper()
	s, err := history.ReadSession(t.Context(), c, engine(t), key, id)
	require.NoError(t, err)
	return s
}

// TestAboveForgets: a snapshot that is made for an archive needs nothing below it. Calls leave it when they ended before a time, but
// for those of open runs and the one with the largest id that was made.
// SEMANTICS 1.4.6, 6.14.10
func TestAboveForgets(t *testing.T) {
	all := &counted{Memory: new(journal.Memory)}
	for _, id := range []string{"call-7", "call-12", "a", "call-x"} {
		all.call(t, "s", id)
		all.call(t, "gone", id)
	}
	all.snapshot(t, "s", 2)
	all.call(t, "s", "b")
	last := all.append(t, journal.Record{Kind: journal.KindSessionEnded, Session: "gone", Principal: "alice"})
	s := all.session(t, "s")
	assert.Zero(t, s.Pinned())
	s.Above(last, time.Time{})
	all.append(t, *s.Snapshot(began, 0))
	c := &cut{all, last}
	assert.Equal(t, []string{"call-7", "call-12", "a", "call-x", "b"}, names(c.read(t, "s")))
	assert.True(t, c.read(t, "gone").Over)
	_, err := history.ReadSession(t.Context(), &cut{all, math.MaxUint64}, engine(t), key, "other")
	require.NoError(t, err, "it has no entries")

	// Late news of a call whose entries are archived change nothing, and a call that repeats it goes on.
	all.append(t, of("a", runtime.EventLateResult.String(), journal.Record{Session: "s"}))
	assert.Equal(t, []string{"call-7", "call-12", "a", "call-x", "b"}, names(c.read(t, "s")))

	s = c.read(t, "s")
	s.Above(last, began.Add(time.Second))
	all.append(t, *s.Snapshot(began, 0))
	open := c.read(t, "s")
	if _, runs := open.Open[open.References()[0].Run]; runs {
		assert.Len(t, open.References(), 5, "their run is open")
	} else {
		assert.Equal(t, []string{"call-12"}, names(open))
	}
}

// TestAForgottenIDIsUsedAgain: what comes late of a call that a snapshot forgot does not keep its session from being read, and a later call of
// its id is not mixed up with it, although the entries of both are there.
// SEMANTICS 6.14.10
func TestAForgottenIDIsUsedAgain(t *testing.T) {
	all := &counted{Memory: new(journal.Memory)}
	first := opened("x")
	first.Session, first.Call = "s", "x"
	all.append(t, first)
	all.call(t, "s", "a")
	last := all.session(t, "s").Last
	all.append(t, of("x", runtime.EventCompleted.String(), journal.Record{
		Session: "s", Mark: journal.MarkEnded, To: "COMPLETED", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}),
	}))
	s := all.session(t, "s")
	s.Above(last, began.Add(time.Second))
	all.append(t, *s.Snapshot(began, 0))
	denied := of("a", runtime.EventDenied.String(), journal.Record{Session: "s"})
	late := of("a", runtime.EventLateResult.String(), journal.Record{Session: "s", From: "COMPLETED", To: "COMPLETED"})
	ended := of("a", journal.KindProcessEnded, journal.Record{Session: "s"})
	for _, r := range []journal.Record{denied, late, ended} {
		all.append(t, r)
		assert.Equal(t, []string{"x"}, names(all.session(t, "s")))
	}
	a, err := history.ReadCall(t.Context(), all, journal.CallKey{Session: "s", Call: "a"})
	require.NoError(t, err)
	before := a.Opened

	again := all.session(t, "s").Last + 1
	all.call(t, "s", "a")
	all.snapshot(t, "s", 1)
	all.append(t, late)
	all.append(t, of("x", runtime.EventLateResult.String(), journal.Record{Session: "s"}))
	s = all.session(t, "s")
	assert.Equal(t, []string{"x", "a"}, names(s))
	assert.Equal(t, again, s.References()[1].Opened)
	a, err = history.ReadCall(t.Context(), all, journal.CallKey{Session: "s", Call: "a"})
	require.NoError(t, err)
	assert.Equal(t, again, a.Opened)
	assert.Less(t, before, again)

	all.append(t, of("b", runtime.EventValidated.String(), journal.Record{Session: "s", From: "DECLARED", To: "VALIDATED"}))
	_, err = history.ReadSession(t.Context(), all, engine(t), key, "s")
	require.ErrorContains(t, err, `call "b" has no beginning`)
}

// TestAnIDIsUsedAgainAfterADenial: a call that was denied, and the later call of its id, are not mixed up, whether a snapshot
// or a page has the first one or its entries are read.
// SEMANTICS 1.4.10
func TestAnIDIsUsedAgainAfterADenial(t *testing.T) {
	for _, snapshot := range []int{0, 1, 2} {
		all := &counted{Memory: new(journal.Memory)}
		first := opened("a")
		first.Session, first.Call = "s", "a"
		all.append(t, first)
		all.append(t, of("a", runtime.EventDenied.String(), journal.Record{
			Session: "s", Mark: journal.MarkEnded, To: "DENIED", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Denied, Reason: runtime.ReasonShuttingDown}),
		}))
		if snapshot > 0 {
			all.snapshot(t, "s", 3*snapshot-3) // with a page, or without one
		}
		again := all.session(t, "s").Last + 1
		all.append(t, first)
		s := all.session(t, "s")
		assert.Empty(t, s.References())
		require.Len(t, s.Calls, 1)
		assert.Nil(t, s.Calls[0].Outcome)
		assert.Equal(t, again, s.Calls[0].Opened)
		all.append(t, of("a", runtime.EventCompleted.String(), journal.Record{
			Session: "s", Mark: journal.MarkEnded, To: "COMPLETED", Outcome: outcome(t, runtime.Outcome{Kind: runtime.Completed}),
		}))
		for range 2 {
			list := all.session(t, "s").References()
			require.Len(t, list, 1)
			assert.Equal(t, []any{again, "completed"}, []any{list[0].Opened, list[0].Kind})
			all.snapshot(t, "s", 1)
		}
	}
}

// names returns the calls that a session has.
func names(s *history.Single) (list []string) {
	for _, c := range s.References() {
		list = append(list, c.Call)
	}
	return list
}

// TestASnapshotIsArchived: a session whose last archived entry is a snapshot is read from the next one, however often that happens
// without another entry of it.
func TestASnapshotIsArchived(t *testing.T) {
	all := &counted{Memory: new(journal.Memory)}
	all.call(t, "s", "a")
	all.snapshot(t, "s", 1)
	c := &cut{counted: all}
	for range 3 {
		s := c.read(t, "s")
		last := s.Last
		s.Above(last, time.Time{})
		all.append(t, *s.Snapshot(began, 0))
		c.last = last
		assert.Greater(t, c.read(t, "s").Last, last)
		assert.Equal(t, "a", c.read(t, "s").References()[0].Call)
	}
}

// TestASessionOfSegmentsAlone: a session that ended and of which all entries are archived has ended, and one that never was is nothing.
// SEMANTICS 1.4.4
func TestASessionOfSegmentsAlone(t *testing.T) {
	all := &counted{Memory: new(journal.Memory)}
	all.call(t, "s", "a")
	last := all.append(t, journal.Record{Kind: journal.KindSessionEnded, Session: "s", Principal: "alice"})
	s, err := history.Load(t.Context(), &cut{all, last}, engine(t), key, "s")
	require.NoError(t, err)
	require.NotNil(t, s, "ids of its calls would be used again")
	assert.True(t, s.Over)
	assert.Equal(t, last, s.Last)
	s, err = history.Load(t.Context(), &cut{all, last}, engine(t), key, "other")
	require.NoError(t, err)
	assert.Nil(t, s)
}

// TestUndoneBehindAnArchive: the entry that says that a call was undone counts, although those of the call are archived.
func TestUndoneBehindAnArchive(t *testing.T) {
	all := &counted{Memory: new(journal.Memory)}
	all.call(t, "s", "a")
	s := all.session(t, "s")
	last := s.Last
	s.Above(last, time.Time{})
	all.append(t, *s.Snapshot(began, 0))
	c := &cut{all, last}
	assert.False(t, c.read(t, "s").References()[0].Undone)
	all.append(t, of("a", runtime.EventUndone.String(), journal.Record{Session: "s", Mark: journal.MarkUndone, By: "alice"}))
	assert.True(t, c.read(t, "s").References()[0].Undone)
}

// TestARepeatedCallIsArchived: the outcome of a call that repeats one whose entries are archived is known, without the output.
func TestARepeatedCallIsArchived(t *testing.T) {
	all := &counted{Memory: new(journal.Memory)}
	all.call(t, "s", "a")
	last := all.session(t, "s").Last
	out, err := history.EncodeOutcome(&runtime.Outcome{Kind: runtime.Duplicate, Of: "a"})
	require.NoError(t, err)
	all.append(t, of("b", runtime.EventInvoked.String(), journal.Record{Session: "s", Mark: journal.MarkOpened, To: "DECLARED"}))
	all.append(t, of("b", runtime.EventDenied.String(), journal.Record{Session: "s", Mark: journal.MarkEnded, To: "DENIED", Outcome: out}))
	b, err := history.ReadCall(t.Context(), &cut{all, last}, journal.CallKey{Session: "s", Call: "b"})
	require.NoError(t, err)
	require.NotNil(t, b.Outcome)
	assert.Equal(t, runtime.Duplicate, b.Outcome.Kind)
	_, err = history.ReadCall(t.Context(), &cut{all, last}, journal.CallKey{Session: "s", Call: "a"})
	assert.ErrorAs(t, err, new(*journal.ArchivedError))
}
