package crashtest

import (
	"errors"
	"flag"
	"maps"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

var only = flag.Int("seed", -1, "try this seed only, and say what happened")

// verbose keeps what was done.
var verbose = true

const (
	crashes = 4 // per seed
	workers = 2
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tries returns how many seeds are tried: under the race detector, where a seed takes
// many times as long, at most a hundredth of the seeds that AMBIT_BATTERY=ci asks for.
func tries(t *testing.T, few, full int) int {
	if battery.Race {
		few, full = min(few, 20), max(full/10, 200)
	}
	return battery.Count(t, few, full)
}

// each runs a battery for all seeds of it.
func each(t *testing.T, n int, one func(w *world, seed uint64) error, finish func(*world) error) {
	before := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	first := 0
	if *only >= 0 {
		first, n = *only, *only+1
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	tally := map[string]int{}
	var next, ops atomic.Int64
	next.Store(int64(first))
	start := time.Now()
	for range workers {
		wg.Go(func() {
			m, err := newMachine()
			var w *world
			if err == nil {
				w, err = newWorld(t.Context(), m)
			}
			for err == nil && !t.Failed() {
				seed := next.Add(1) - 1
				if seed >= int64(n) {
					break
				}
				if e := one(w, uint64(seed)); e != nil || *only >= 0 {
					t.Logf("seed %d:\n%s", seed, strings.Join(w.log, "\n"))
					if e != nil {
						t.Errorf("seed %d: %v", seed, e)
					}
				}
				ops.Add(int64(m.ops))
			}
			if err == nil {
				err = finish(w)
				mu.Lock()
				for what, n := range w.tally {
					tally[what] += n
				}
				mu.Unlock()
			}
			if err == nil {
				err = m.db.Close()
			}
			if err != nil && !t.Failed() {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	t.Logf("%d seeds of %d crashes, %d operations, in %v", n-first, crashes, ops.Load(), time.Since(start).Round(time.Millisecond))
	for _, what := range slices.Sorted(maps.Keys(tally)) {
		t.Logf("%6d %s", tally[what], what)
	}
	for _, what := range met {
		if n-first >= 2000 && tally[what] == 0 {
			t.Errorf("no crash has met %q: the battery has become blind for it", what)
		}
	}
}

// met is what crashes have to meet, in many worlds.
var met = []string{
	"crash of a recovery", "crash at rest", "cancelled", "resolved by a person", "undo in flight: ok ", "undo in flight: rejected already_undone",
	"process ended by a recovery", "process ended by another recovery", "archives", "outcomes in segments", "undo of an archived call", "ended sessions", "crash of an end",
	"forgotten calls", "ids that are refused to another call", "ids of forgotten calls that ran again", "deletions", "deletions that were cut off",
	"in flight: never made", "in flight: completed ", "in flight: failed interrupted", "in flight: unknown interrupted", "in flight: waits for consent",
}

// TestImages puts images of crashes under an open store.
// SEMANTICS 6.7.16
func TestImages(t *testing.T) {
	each(t, tries(t, 60, 20_000), func(w *world, seed uint64) error {
		w.mayForget = true
		if err := w.fresh(seed); err != nil {
			return err
		}
		for range crashes {
			if err := w.life(); err != nil {
				return err
			}
			w.m.restart()
		}
		return w.last()
	}, func(w *world) error {
		if w.store == nil {
			return nil
		}
		return w.store.Close()
	})
}

// last starts the program once more, and looks.
func (w *world) last() error {
	w.faulty, w.broken = false, false
	err := w.open()
	if err == nil {
		err = w.check()
	}
	return errors.Join(err, w.close())
}

// TestPower cuts the power, or lets the disks fail, and opens everything anew, which
// costs several times what a seed of TestImages does.
func TestPower(t *testing.T) {
	each(t, tries(t, 20, 1000), func(w *world, seed uint64) error {
		w.mayForget = true
		w.begin(seed)
		files, err := blank(seed)
		if err != nil {
			return err
		}
		w.m.db.Reset(seed, nil)
		w.m.reset(seed, files, true)
		for range crashes {
			if err := w.powered(w.life); err != nil {
				return err
			}
		}
		return w.powered(w.last)
	}, func(*world) error { return nil })
}

// powered does something with an open store, and lets the power go.
func (w *world) powered(f func() error) (err error) {
	if w.store, err = w.openStore(); err != nil {
		return err
	}
	err = f()
	w.m.crash()
	w.m.restart()
	_ = w.store.Close() // it is dead
	return err
}

// openStore opens the store, whose head is written by the clock of each life.
func (w *world) openStore() (*sqlite.Store, error) {
	return sqlite.Open("/store", sqlite.WithDisk(w.m.db), sqlite.WithAfterFunc(func(d time.Duration, f func()) func() bool {
		return w.clock.AfterFunc(d, f).Stop
	}))
}

// fresh puts a new store under the open one.
func (w *world) fresh(seed uint64) error {
	w.begin(seed)
	files, err := blank(seed)
	if err != nil {
		return err
	}
	if w.store == nil {
		w.m.db.Reset(seed, nil)
		if w.store, err = w.openStore(); err != nil {
			return err
		}
		for _, name := range []string{"inputs", "consent"} {
			if _, err = w.store.Key(w.ctx, name); err != nil {
				return err
			}
		}
		w.base = w.m.db.Files()
	}
	w.m.db.Load(w.base)
	w.m.reset(seed, files, false)
	return nil
}
