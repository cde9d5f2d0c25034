package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// An archiving crashes a store that is archived, again and again.
type archiving struct {
	disk     *simdisk.Disk
	rng      *rand.Rand
	last     uint64 // that was acknowledged
	archived uint64 // likewise
	tried    uint64 // by the archive that failed last; 0: there is none
}

// TestArchivePower cuts the power, and fails writes and syncs, while entries are appended and archived. Each start finds the lower
// end before the archive that was cut off or after it; all entries above it are there, and none below.
func TestArchivePower(t *testing.T) {
	roomy(t)
	made := image(t)
	disk, err := simdisk.New(0)
	require.NoError(t, err)
	moved, lost := 0, 0
	for seed := range tries(t, 24, 600) {
		disk.Reset(uint64(seed), made)
		a := &archiving{disk: disk, rng: rand.New(rand.NewPCG(uint64(seed), 2))}
		for range 6 {
			disk.Crash()
			s, err := sqlite.Open("/store", sqlite.WithDisk(disk), sqlite.WithAfterFunc(func(time.Duration, func()) func() bool { return func() bool { return true } }))
			require.NoError(t, err, "seed %d", seed)
			tried, before := a.tried, a.archived
			require.NoError(t, a.check(s), "seed %d", seed)
			if tried > 0 && a.archived > before {
				moved++
			} else if tried > 0 {
				lost++
			}
			faults := []simdisk.Fault{simdisk.NoFault, simdisk.PowerCut, simdisk.PowerCut, simdisk.PowerCut, simdisk.SyncFail, simdisk.WriteFail}
			disk.Inject(faults[a.rng.IntN(len(faults))], 1+a.rng.IntN(30))
			a.use(s)
			disk.Crash()
			_ = s.Close()
		}
	}
	require.NoError(t, disk.Close())
	require.NotZero(t, moved, "no archive was cut off after it had happened")
	require.NotZero(t, lost, "no archive was cut off before it had happened")
}

// use appends and archives until something fails.
func (a *archiving) use(s *sqlite.Store) {
	ctx := context.Background()
	for range 1 + a.rng.IntN(5) {
		var list []journal.Entry
		for range 1 + a.rng.IntN(30) {
			a.last++
			e := entry(a.last, a.rng.IntN(900))
			e.Session = fmt.Sprint("s", a.rng.IntN(3))
			list = append(list, e)
		}
		if err := s.Append(ctx, list); err != nil {
			a.last -= uint64(len(list))
			return
		}
		size := a.archived + 1 + a.rng.Uint64N(a.last-a.archived)
		if size == a.last {
			continue
		}
		if s.SaveCheckpoint(ctx, size, []byte("note")) != nil {
			return
		}
		if s.Archive(ctx, journal.Segment{First: a.archived + 1, Last: size, File: fmt.Sprint(size)}) != nil {
			a.tried = size
			return
		}
		a.archived = size
	}
}

// check holds the store to what is known of it. A failed Append leaves all of its entries or none.
func (a *archiving) check(s *sqlite.Store) error {
	ctx := context.Background()
	segments, err := s.Segments(ctx)
	if err != nil {
		return err
	}
	var at uint64
	if len(segments) > 0 {
		at = segments[len(segments)-1].Last
	}
	if at != a.archived && at != a.tried {
		return fmt.Errorf("the lower end is %d, not %d or %d", at, a.archived, a.tried)
	}
	a.archived, a.tried = at, 0
	if at > 0 {
		var gone *journal.ArchivedError
		if _, err := s.Read(ctx, a.rng.Uint64N(at), 9); !errors.As(err, &gone) || gone.Last != at {
			return fmt.Errorf("an archived entry is read: %w", err)
		}
	}
	if err := s.Check(ctx); err != nil {
		return err
	}
	list, err := s.Read(ctx, at, 1<<20)
	if err != nil {
		return err
	}
	last := at + uint64(len(list))
	if last < a.last {
		return fmt.Errorf("entries up to %d of %d", last, a.last)
	}
	a.last = last
	for i := range 3 {
		session := fmt.Sprint("s", i)
		var want []uint64
		for j := range list {
			if list[j].Session == session {
				want = append(want, list[j].Seq)
			}
		}
		got, err := readBack(ctx, s, session)
		if err != nil && !errors.As(err, new(*journal.ArchivedError)) {
			return err
		}
		if slices.Reverse(got); !slices.Equal(got, want) {
			return fmt.Errorf("session %s has %v, not %v", session, got, want)
		}
	}
	return s.Sweep(ctx)
}
