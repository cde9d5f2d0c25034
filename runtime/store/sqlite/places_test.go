package sqlite

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// TestCallsOfAnID compares the calls of an id, or of a beginning of it, in no session with those of all entries, over
// several parts of the index, before and after an archive.
func TestCallsOfAnID(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s, err := Open(filepath.Join(t.TempDir(), "store"))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var all []journal.Entry
	for len(all) < 3*partOf+rng.IntN(1000) {
		begin := len(all)
		for range 1 + rng.IntN(2000) {
			all = append(all, journal.Entry{
				Seq: uint64(len(all) + 1), At: time.Unix(int64(len(all)), 0), Kind: "tool.validated", Session: fmt.Sprint("s", len(all)),
				Call: fmt.Sprint("c", rng.IntN(200)), Tool: fmt.Sprint("t", rng.IntN(2)), Mark: journal.MarkOpened, Leaf: []byte("{}"),
			})
			e := &all[len(all)-1]
			if e.Mark = journal.MarkEnded; rng.IntN(500) == 0 {
				e.Call = "rare"
			}
		}
		require.NoError(t, s.Append(t.Context(), all[begin:]))
	}
	low := uint64(0)
	compare := func(f CallFilter) {
		var want, got []uint64
		for i := len(all) - 1; i >= 0 && uint64(i) >= low; i-- {
			e := &all[i]
			if is := e.Call == f.Call || f.Prefix && strings.HasPrefix(e.Call, f.Call); is && (f.Tool == "" || e.Tool == f.Tool) && (f.Before == 0 || e.Seq < f.Before) {
				want = append(want, e.Seq)
			}
		}
		rows, err := s.Calls(t.Context(), f)
		require.NoError(t, err)
		for i := range rows {
			got = append(got, rows[i].First)
		}
		require.Equal(t, want[:min(len(want), f.Limit)], got, "%+v", f)
	}
	each := func() {
		for _, f := range []CallFilter{{Call: "rare"}, {Call: "c7"}, {Call: "c"}, {Call: "c1"}, {Call: "no"}} {
			for _, f.Limit = range []int{1, 50, 100_000} {
				for _, f.Prefix = range []bool{false, true} {
					for _, f.Tool = range []string{"", "t1"} {
						compare(f)
					}
					f.Before, f.Tool = uint64(1+rng.IntN(len(all))), ""
					compare(f)
					f.Before = 0
				}
			}
		}
	}
	each()
	low = uint64(partOf + rng.IntN(partOf))
	require.NoError(t, s.SaveCheckpoint(t.Context(), low, []byte("note")))
	require.NoError(t, s.Archive(t.Context(), journal.Segment{First: 1, Last: low}))
	each()
}
