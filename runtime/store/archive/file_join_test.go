package archive

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
)

func TestJoinReadsBoth(t *testing.T) {
	s := newStore(t, 2500)
	a, b := s.segment(t, 1, 1000), s.segment(t, 1001, 2000)
	for _, archived := range []uint64{0, 500, 2000} { // the store is whole, has a part of the segments, or has none of them
		s.archived = archived
		j, err := Join(s, b, a)
		require.NoError(t, err)
		for _, limit := range []int{3, 700, 5000} {
			list, err := readAll(t, j, 0, limit)
			require.NoError(t, err)
			require.Equal(t, s.entries, list)
		}
		list, err := readAll(t, j, 1999, 7)
		require.NoError(t, err)
		require.Equal(t, s.entries[1999:], list)
		list, err = j.Read(t.Context(), 0, 0)
		require.NoError(t, err)
		require.Empty(t, list)
	}
}

func TestJoinNamesWhatIsMissing(t *testing.T) {
	s := newStore(t, 400)
	a, c := s.segment(t, 1, 100), s.segment(t, 201, 300)
	s.archived = 350
	j, err := Join(s, a, c)
	require.NoError(t, err)
	list, err := readAll(t, j, 0, 60)
	require.Equal(t, s.entries[:100], list)
	require.EqualError(t, err, "entries 101 to 200 are archived and in no segment that was given: add the segments that have them")
	_, err = readAll(t, j, 250, 60)
	require.EqualError(t, err, "entries 301 to 350 are archived and in no segment that was given: add the segments that have them")
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
	require.EqualValues(t, 301, missing.DamagedAt())
	list, err = readAll(t, j, 350, 60)
	require.NoError(t, err)
	require.Equal(t, s.entries[350:], list)
	s.archived = 0
	list, err = readAll(t, j, 0, 60)
	require.NoError(t, err, "the store has what the segments have not")
	require.Equal(t, s.entries, list)
}

func TestJoinRefuses(t *testing.T) {
	s, other := newStore(t, 300), newStore(t, 300)
	a := s.segment(t, 1, 100)
	_, err := Join(s, a, s.segment(t, 100, 200))
	require.ErrorContains(t, err, "both have entry 100")
	h := other.header(t, 101, 200)
	h.Store = "00000000000000000000000000000000"
	_, err = Join(s, a, opened(t, other.write(t, h)))
	require.ErrorContains(t, err, "of different stores")
	h = s.header(t, 101, 200)
	h.Previous = &tlog.Hash{1}
	_, err = Join(s, a, opened(t, s.write(t, h)))
	require.ErrorContains(t, err, "at entry 101: it continues another segment")
	digest := a.Digest()
	h.Previous = &digest
	_, err = Join(s, a, opened(t, s.write(t, h)))
	require.NoError(t, err)
}

// TestJoinIsHeldToTheStore: a segment of another store, or of more than the store has, is named with
// the first entry that shows it.
func TestJoinIsHeldToTheStore(t *testing.T) {
	s := newStore(t, 300)
	other := newStore(t, 300)
	other.entries[41] = other.entries[40]
	other.entries[41].Seq = 42
	j, err := Join(s, other.segment(t, 1, 200))
	require.NoError(t, err)
	list, err := readAll(t, j, 0, 100)
	require.Equal(t, s.entries[:41], list)
	require.ErrorContains(t, err, "at entry 42: the store has another entry there")

	f := s.segment(t, 1, 300)
	s.entries = s.entries[:250]
	j, err = Join(s, f)
	require.NoError(t, err)
	list, err = readAll(t, j, 0, 100)
	require.Equal(t, s.entries, list)
	require.ErrorContains(t, err, "at entry 251: the store has no such entry")

	s.entries = s.entries[:100]
	late := newStore(t, 300).segment(t, 201, 300)
	j, err = Join(s, late)
	require.NoError(t, err)
	_, err = readAll(t, j, 0, 100)
	require.ErrorContains(t, err, "the store ends at entry 100, and a segment begins at entry 201")
}
