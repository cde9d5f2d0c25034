package journal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

type (
	plain  struct{ journal.Journal }
	owner  struct{}
	fencer struct{}
)

func (owner) Epoch() uint64                         { return 7 }
func (owner) Renew(context.Context) error           { return journal.ErrLost }
func (owner) Claim(context.Context) (func(), error) { return func() {}, nil }
func (fencer) Fence(context.Context, func()) error  { return journal.ErrLost }

// TestWrapPassesOnWhatAJournalIs wraps a journal of each kind.
func TestWrapPassesOnWhatAJournalIs(t *testing.T) {
	m := new(journal.Memory)
	p := plain{m}
	for name, c := range map[string]struct {
		inner                 journal.Journal
		owns, fences, keepsIt bool
	}{
		"neither": {p, false, false, false},
		"keeper":  {m, false, false, true},
		"owner": {struct {
			plain
			owner
		}{p, owner{}}, true, false, false},
		"owner and fencer": {struct {
			plain
			owner
			fencer
		}{p, owner{}, fencer{}}, true, true, false},
		"owner and keeper": {struct {
			*journal.Memory
			owner
		}{m, owner{}}, true, false, true},
		"all": {struct {
			*journal.Memory
			owner
			fencer
		}{m, owner{}, fencer{}}, true, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			j := journal.Wrap(c.inner, c.inner.Append)
			o, owns := j.(journal.Owner)
			f, fences := j.(journal.Fencer)
			_, keeps := j.(journal.Keeper)
			assert.Equal(t, []bool{c.owns, c.fences, c.keepsIt}, []bool{owns, fences, keeps})
			if owns {
				assert.EqualValues(t, 7, o.Epoch())
			}
			if fences {
				assert.Equal(t, journal.ErrLost, f.Fence(t.Context(), nil))
			}
		})
	}
}

// TestWrapAppends wraps a journal with an Append that refuses, and reads what is in it.
func TestWrapAppends(t *testing.T) {
	m := new(journal.Memory)
	require.NoError(t, m.Append(t.Context(), []journal.Entry{{Seq: 1, Session: "s", Call: "c", Mark: journal.MarkOpened, Leaf: []byte("{}")}}))
	refused := errors.New("refused")
	j := journal.Wrap(m, func(context.Context, []journal.Entry) error { return refused })
	assert.Equal(t, refused, j.Append(t.Context(), []journal.Entry{{Seq: 2}}))
	list, err := j.Read(t.Context(), 0, 2)
	require.NoError(t, err)
	assert.Len(t, list, 1)
	seqs, err := j.Entries(t.Context(), 1)
	require.NoError(t, err)
	assert.Equal(t, list, seqs)
	sessions, err := j.Open(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"s"}, sessions)
	var back []journal.Entry
	require.NoError(t, j.Back(t.Context(), "s", 2, func(e *journal.Entry) bool {
		back = append(back, *e)
		return true
	}))
	assert.Equal(t, list, back)
	call, err := j.Call(t.Context(), journal.CallKey{Session: "s", Call: "c"})
	require.NoError(t, err)
	assert.Len(t, call, 1)
	open, err := j.Unfinished(t.Context())
	require.NoError(t, err)
	assert.Len(t, open, 1)
}
