package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

const crashes = 4 // per seed

// tries returns how many seeds are tried: under the race detector, where a seed takes
// fifty times as long, at most 100 with AMBIT_BATTERY=ci.
func tries(t *testing.T, few, full int) int {
	if battery.Race {
		few, full = min(few, 20), min(full, 1000)
	}
	return battery.Count(t, few, full)
}

// roomy lets the batteries make more garbage before it is collected: they make
// little else.
func roomy(t *testing.T) {
	before := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

// TestCrash crashes a store on a disk that loses what it may lose, four times per
// seed, and holds it to this: what was acknowledged is there, no batch is there
// by half, and after a write that failed nothing more is acknowledged.
func TestCrash(t *testing.T) {
	roomy(t)
	made, n := image(t), tries(t, 32, 1250)
	var wg sync.WaitGroup
	const workers = 2
	for w := range workers {
		wg.Go(func() {
			disk, err := simdisk.New(0)
			if err != nil {
				t.Error(err)
				return
			}
			for seed := w; seed < n && !t.Failed(); seed += workers {
				b := &crashTest{disk: disk, rng: rand.New(rand.NewPCG(uint64(seed), 1)), state: map[string]string{}}
				if seed%8 == 0 {
					disk.Reset(uint64(seed), nil)
				} else {
					disk.Reset(uint64(seed), made)
				}
				if err := b.run(); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}
			if err := disk.Close(); err != nil && !t.Failed() {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// image is the disk after a store was made and closed.
func image(t *testing.T) map[string][]byte {
	disk, err := simdisk.New(0)
	require.NoError(t, err)
	s, err := sqlite.Open("/store", sqlite.WithDisk(disk))
	require.NoError(t, err)
	require.NoError(t, s.Close())
	files := disk.Files()
	require.NoError(t, disk.Close())
	return files
}

// A crashTest is what happens under one seed, and what is known of it.
type crashTest struct {
	disk  *simdisk.Disk
	rng   *rand.Rand
	acked []journal.Entry   // they have to be there
	maybe []journal.Entry   // those of the append that failed last: all of them, or none
	state map[string]string // as acknowledged
	other string            // of the key "k", when a write of it failed
	epoch uint64
	head  func() // writes the head; nil: it is not due
}

func (b *crashTest) run() error {
	for range crashes {
		if err := b.life(); err != nil {
			return err
		}
	}
	b.disk.Crash()
	s, err := b.open()
	if err != nil {
		return err
	}
	return errors.Join(b.check(s), s.Close())
}

// life opens the store, looks at it, uses it until something fails, or for a
// while, and crashes.
func (b *crashTest) life() error {
	b.disk.Crash()
	if b.rng.IntN(4) == 0 { // opening is disturbed too
		b.inject(40)
		if s, err := sqlite.Open("/store", sqlite.WithDisk(b.disk)); err == nil {
			_ = s.Close()
		}
		b.disk.Crash()
	}
	s, err := b.open()
	if err != nil {
		return err
	}
	err = b.check(s)
	if err == nil {
		b.inject(24)
		err = b.use(s)
	}
	if b.rng.IntN(3) == 0 {
		b.disk.Crash() // before it is closed, so that closing saves nothing
	}
	_ = s.Close()
	return err
}

func (b *crashTest) inject(within int) {
	faults := []simdisk.Fault{simdisk.NoFault, simdisk.PowerCut, simdisk.PowerCut, simdisk.PowerCut, simdisk.SyncFail, simdisk.WriteFail, simdisk.Full, simdisk.ReadFail}
	b.disk.Inject(faults[b.rng.IntN(len(faults))], 1+b.rng.IntN(within))
}

// open opens the store, which has to be possible, with a new epoch.
func (b *crashTest) open() (*sqlite.Store, error) {
	s, err := sqlite.Open("/store", sqlite.WithDisk(b.disk), sqlite.WithAfterFunc(func(_ time.Duration, f func()) func() bool {
		b.head = f
		return func() bool { b.head = nil; return true }
	}))
	if err != nil {
		return nil, err
	}
	if s.Epoch() <= b.epoch {
		return nil, errors.Join(fmt.Errorf("epoch %d after %d", s.Epoch(), b.epoch), s.Close())
	}
	b.epoch = s.Epoch()
	return s, nil
}

// check looks whether what was acknowledged is there, and takes what is there for
// what is known from now on.
func (b *crashTest) check(s *sqlite.Store) error {
	ctx := context.Background()
	list, err := s.Read(ctx, 0, 1<<20)
	if err != nil {
		return err
	}
	want := b.acked
	if len(list) > len(want) {
		want = append(want, b.maybe...)
	}
	if len(list) != len(want) {
		return fmt.Errorf("%d entries of %d that were acknowledged and %d that may be there", len(list), len(b.acked), len(b.maybe))
	}
	for i := range list {
		if !reflect.DeepEqual(list[i], want[i]) {
			return fmt.Errorf("entry %d is %v, not %v", i+1, list[i], want[i])
		}
	}
	value, err := s.Get(ctx, "k")
	if err != nil {
		return err
	}
	if got := string(value); got != b.state["k"] && (b.other == "" || got != b.other) {
		return fmt.Errorf("the value is %q, not %q or %q", got, b.state["k"], b.other)
	}
	b.acked, b.maybe, b.state["k"], b.other = list, nil, string(value), ""
	return b.unfinished(s)
}

// unfinished compares the index of the calls with the entries.
func (b *crashTest) unfinished(s *sqlite.Store) error {
	var want []journal.CallKey
	for _, e := range b.acked {
		key := journal.CallKey{Session: e.Session, Call: e.Call}
		if e.Mark == journal.MarkOpened || e.Mark == journal.MarkEnded {
			want = slices.DeleteFunc(want, func(k journal.CallKey) bool { return k == key })
		}
		if e.Mark == journal.MarkOpened {
			want = append(want, key)
		}
	}
	got, err := s.Unfinished(context.Background())
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("%v are unfinished, not %v", got, want)
	}
	return err
}

// use appends and writes until something fails.
func (b *crashTest) use(s *sqlite.Store) error {
	ctx := context.Background()
	for range b.rng.IntN(8) {
		if b.head != nil && b.rng.IntN(3) == 0 {
			b.head()
			b.head = nil
		}
		if b.rng.IntN(4) == 0 {
			value := fmt.Sprint(b.rng.Uint64())
			if err := s.Apply(ctx, []sqlite.Write{{Key: "k", Value: []byte(value)}}); err != nil {
				b.other = value
				return b.final(s, err)
			}
			b.state["k"] = value
			continue
		}
		batch := b.batch()
		if err := s.Append(ctx, batch); err != nil {
			b.maybe = batch
			return b.final(s, err)
		}
		b.acked = append(b.acked, batch...)
	}
	return nil
}

// final requires that after a failed write nothing is acknowledged any more, not
// even the same once more. On a disk that was full nothing of the change is there,
// and when there is room again it can be made.
func (b *crashTest) final(s *sqlite.Store, cause error) error {
	next := entry(uint64(len(b.acked)+1), 1)
	if b.maybe != nil {
		next = b.maybe[0]
	}
	if errors.Is(cause, journal.ErrUnavailable) {
		b.maybe, b.other = nil, ""
		if b.disk.Dead() || b.rng.IntN(2) == 0 {
			return nil
		}
		b.disk.Room()
		if err := s.Append(context.Background(), []journal.Entry{next}); err != nil {
			return fmt.Errorf("after the error %q the disk has room, and an append gives %v", cause, err)
		}
		b.acked = append(b.acked, next)
		return nil
	}
	if err := s.Append(context.Background(), []journal.Entry{next}); !errors.Is(err, journal.ErrLost) {
		return fmt.Errorf("after the error %q an append gives %v", cause, err)
	}
	return nil
}

func (b *crashTest) batch() []journal.Entry {
	n := 1 + b.rng.IntN(5)
	if b.rng.IntN(16) == 0 {
		n = 40
	}
	list := make([]journal.Entry, n)
	for i := range list {
		size := b.rng.IntN(600)
		if b.rng.IntN(32) == 0 {
			size *= 40
		}
		list[i] = entry(uint64(len(b.acked)+i+1), size)
		list[i].Call = fmt.Sprint(b.rng.IntN(8))
		list[i].Mark = journal.Mark(b.rng.IntN(4))
		if b.rng.IntN(8) == 0 {
			list[i].Private = make([]byte, 1+size)
		}
	}
	return list
}

func entry(seq uint64, size int) journal.Entry {
	leaf := make([]byte, 8+size)
	for i := range leaf {
		leaf[i] = byte(seq*31 + uint64(i))
	}
	return journal.Entry{Seq: seq, Kind: "k", Session: "s", Leaf: leaf}
}
