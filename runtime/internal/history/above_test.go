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

// read reads a session of which the first entries are archived.
func (c *cut) read(t *testing.T, id string) *history.Single {
	t.Helper()
	s, err := history.ReadSession(t.Context(), c, engine(t), key, id)
	require.NoError(t, err)
	return s
}

// TestAboveForgets: a snapshot that is made for an archive needs nothing below it. Calls leave it when they ended before a time, but
// for those of open runs and the one with the largest id that was made.
func TestAboveForgets(t *testing.T) {
	all := &counted{Memory: new(journal.Memory)}
	for _, id := range []string{"call-7", "call-12", "a", "call-x"} {
		all.call(t, "s", id)
		all.call(t, "gone", id)
	}
	all.snapshot(t, "s", 2)
	all.call(t, "s", "b")
	last := all.append(t, journal.Record{Kind: journal.KindSessionEnded, Session: "gone", Principal: "alice"})
	ids := func(s *history.Single) (list []string) {
		for _, c := range s.References() {
			list = append(list, c.Call)
		}
		return list
	}
	s := all.session(t, "s")
	assert.Zero(t, s.Pinned())
	s.Above(last, time.Time{})
	all.append(t, *s.Snapshot(began, 0))
	c := &cut{all, last}
	assert.Equal(t, []string{"call-7", "call-12", "a", "call-x", "b"}, ids(c.read(t, "s")))
	assert.True(t, c.read(t, "gone").Over)
	_, err := history.ReadSession(t.Context(), &cut{all, math.MaxUint64}, engine(t), key, "other")
	require.NoError(t, err, "it has no entries")

	// Late news of a call whose entries are archived change nothing, and a call that repeats it goes on.
	all.append(t, of("a", runtime.EventLateResult.String(), journal.Record{Session: "s"}))
	assert.Equal(t, []string{"call-7", "call-12", "a", "call-x", "b"}, ids(c.read(t, "s")))

	s = c.read(t, "s")
	s.Above(last, began.Add(time.Second))
	all.append(t, *s.Snapshot(began, 0))
	open := c.read(t, "s")
	if _, runs := open.Open[open.References()[0].Run]; runs {
		assert.Len(t, open.References(), 5, "their run is open")
	} else {
		assert.Equal(t, []string{"call-12"}, ids(open))
	}
}
