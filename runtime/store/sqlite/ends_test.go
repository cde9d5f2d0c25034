package sqlite

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// A model is what a store is to say of its sessions.
type model struct {
	last map[string]uint64
	open map[journal.CallKey]opening
}

func (m *model) add(e *journal.Entry) {
	m.last[e.Session] = e.Seq
	key := journal.CallKey{Session: e.Session, Call: e.Call}
	if what, begun := marked(e); begun {
		m.open[key] |= what
	} else if m.open[key] &^= what; m.open[key] == 0 {
		delete(m.open, key)
	}
}

func (m *model) openSessions() (list []string) {
	set := map[string]bool{}
	for key := range m.open {
		set[key.Session] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// check compares a store with the model: the ends of its sessions, what is open, and each leaf of the tree.
func (m *model) check(t *testing.T, s *Store) {
	t.Helper()
	for session := range m.last {
		first := uint64(0)
		require.NoError(t, s.Back(t.Context(), session, math.MaxUint64, func(e *journal.Entry) bool {
			first = e.Seq
			return false
		}), session)
		require.Equal(t, m.last[session], first, session)
	}
	require.NoError(t, s.Back(t.Context(), "another", math.MaxUint64, func(*journal.Entry) bool {
		t.Error("an entry of a session that is not there")
		return false
	}))
	list, err := s.Open(t.Context())
	require.NoError(t, err)
	require.Equal(t, m.openSessions(), list)
	byIndex, err := (&Reader{}).withReader(s).Open(t.Context())
	require.NoError(t, err)
	require.Equal(t, list, byIndex, "by the index of the calls")
}

// withReader returns a Reader without keys of the file of a store.
func (r *Reader) withReader(s *Store) *Reader {
	r.path, r.disk, r.db = s.path, s.disk, s.db
	return r
}

// leaves compares the tree of a store that was closed with the model.
func (m *model) leaves(t *testing.T, path string) {
	t.Helper()
	r, err := OpenReader(path, WithKeys(path+".keys"))
	require.NoError(t, err)
	require.NoError(t, r.VerifySessions(t.Context()))
	p, err := r.tree(context.Background(), "SELECT o.rooted, o.root, o.mac, (SELECT mac FROM entry WHERE seq = o.rooted), t.path, t.data FROM owner o LEFT JOIN node t ON true")
	require.NoError(t, err)
	many := 0
	require.NoError(t, chain.EachLeaf(p, p.root, false, func(*chain.Leaf) error { many++; return nil }))
	require.Len(t, m.last, many)
	for session, last := range m.last {
		leaf, found, err := chain.FindLeaf(p, p.root, chain.New(r.secret).Name(session))
		require.NoError(t, err)
		require.True(t, found, session)
		require.Equal(t, last, leaf.Last, session)
		open := uint32(0)
		for key, o := range m.open {
			if key.Session == session {
				open += uint32(o&1 + o>>1&1)
			}
		}
		require.Equal(t, open, leaf.Open, session)
	}
	require.NoError(t, r.Close())
}

// TestEndsAgreeWithTheEntries appends random entries of many sessions, some of which are refused, closes and
// opens the store in between, and compares it with a model.
func TestEndsAgreeWithTheEntries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	path := filepath.Join(t.TempDir(), "store")
	m := &model{map[string]uint64{}, map[journal.CallKey]opening{}}
	s, err := Open(path)
	require.NoError(t, err)
	seq := uint64(1)
	for round := range 6 {
		for range 150 {
			var list []journal.Entry
			for range 1 + rng.IntN(20) {
				list = append(list, journal.Entry{Seq: seq + uint64(len(list)), Kind: "k", Session: fmt.Sprint("s", rng.IntN(400*(round+1))), Call: []string{"", "a", "b"}[rng.IntN(3)],
					Mark: journal.Mark(rng.IntN(6)), Leaf: []byte("{}")})
			}
			if rng.IntN(10) == 0 {
				bad := slices.Clone(list)
				bad[len(bad)-1].Kind = "too early"
				require.ErrorIs(t, s.write(t.Context(), &op{rows: len(bad), do: func(w *writer) error {
					if err := w.insert(bad, false); err != nil {
						return err
					}
					return refusal{journal.ErrConflict}
				}}), journal.ErrConflict)
			}
			require.NoError(t, s.Append(t.Context(), list))
			for i := range list {
				m.add(&list[i])
			}
			seq += uint64(len(list))
		}
		m.check(t, s)
		require.LessOrEqual(t, len(s.w.ends.all), 3*rootEverySessions+len(m.openSessions())+3*indexEvery)
		crashed := filepath.Join(t.TempDir(), "crashed")
		for _, part := range []string{".keys", "", "-wal"} {
			text, err := os.ReadFile(path + part)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(crashed+part, text, 0o600))
		}
		after, err := Open(crashed)
		require.NoError(t, err)
		m.check(t, after)
		require.NoError(t, after.Close())
		m.leaves(t, crashed)
		require.NoError(t, s.Close())
		m.leaves(t, path)
		s, err = Open(path)
		require.NoError(t, err)
		if round%2 == 0 {
			m.check(t, s)
		}
	}
	require.NoError(t, s.Close())
}
