package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// imagesPerSeed is how many crash images TestCrashImages takes of what it does
// under one seed, lifetime how many seeds one store lives for.
const (
	imagesPerSeed = 4
	lifetime      = 6
)

// TestCrashImages takes images of what a crash would leave, just before a random
// write or sync of each append, and looks at them with a reader that stays open.
// It opens no store for each of them, and so can look at many times as many as
// TestCrash, which tries what an image cannot: faults, and going on after a crash.
func TestCrashImages(t *testing.T) {
	roomy(t)
	made, n := image(t), tries(t, 600, 20_000)
	const workers = 2
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			if err := lives(made, w, workers, n, t.Failed); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func lives(made map[string][]byte, first, step, seeds int, stop func() bool) (err error) {
	disk, err := simdisk.New(0)
	if err != nil {
		return err
	}
	looked, err := simdisk.New(0)
	if err != nil {
		return err
	}
	looked.Reset(0, made)
	r, err := sqlite.OpenReader("/store", sqlite.WithDisk(looked), sqlite.WithKeys("/store.keys"))
	if err != nil {
		return err
	}
	for life := first; life*lifetime < seeds && !stop(); life += step {
		disk.Reset(uint64(life), made)
		p := &pictures{disk: disk, looked: looked, r: r, rng: rand.New(rand.NewPCG(uint64(life), 2))}
		if err := p.live(); err != nil {
			return fmt.Errorf("seeds %d to %d: %w", life*lifetime, (life+1)*lifetime-1, err)
		}
	}
	return errors.Join(r.Close(), disk.Close(), looked.Close())
}

// pictures is the life of one store, and where the images of it are looked at.
type pictures struct {
	disk, looked *simdisk.Disk
	r            *sqlite.Reader
	rng          *rand.Rand
	all          []journal.Entry
	head         func() // writes the head; nil: it is not due
}

func (p *pictures) live() error {
	s, err := sqlite.Open("/store", sqlite.WithDisk(p.disk), sqlite.WithAfterFunc(func(_ time.Duration, f func()) func() bool {
		p.head = f
		return func() bool { return true }
	}))
	if err != nil {
		return err
	}
	for range lifetime * imagesPerSeed {
		if err := p.one(s); err != nil {
			return errors.Join(err, s.Close())
		}
	}
	return s.Close()
}

// one appends a batch and looks at an image of it.
func (p *pictures) one(s *sqlite.Store) error {
	batch := make([]journal.Entry, 1+p.rng.IntN(4))
	for i := range batch {
		batch[i] = entry(uint64(len(p.all)+i+1), p.rng.IntN(200))
		if p.rng.IntN(16) == 0 {
			batch[i].Private = []byte("p") // which makes two statements of it
		}
	}
	p.disk.Snap(1 + p.rng.IntN(8))
	if err := s.Append(context.Background(), batch); err != nil {
		return err
	}
	before := len(p.all)
	p.all = append(p.all, batch...)
	if p.head != nil && p.rng.IntN(4) == 0 { // before or after the image
		p.head()
		p.head = nil
	}
	img, early := p.disk.Image()
	p.looked.Load(img)
	acked := len(p.all)
	if early {
		acked = before
	}
	return p.look(acked)
}

// look requires that the last entries that were acknowledged are there, and of the
// batch after them all or nothing.
func (p *pictures) look(acked int) error {
	const last = 8
	if p.rng.IntN(4) == 0 {
		if _, err := p.r.Authenticate(context.Background()); err != nil {
			return err
		}
	}
	after := max(0, acked-last)
	list, err := p.r.Read(context.Background(), uint64(after), len(p.all))
	if err != nil {
		return err
	}
	if n := after + len(list); n != acked && n != len(p.all) {
		return fmt.Errorf("%d entries, where %d were acknowledged and the next batch ends at %d", n, acked, len(p.all))
	}
	for i := range list {
		if !reflect.DeepEqual(list[i], p.all[after+i]) {
			return fmt.Errorf("entry %d is %v, not %v", after+i+1, list[i], p.all[after+i])
		}
	}
	return nil
}
