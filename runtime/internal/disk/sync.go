package disk

import (
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
)

// SyncDir is a directory whose names are to be made durable by All.
type SyncDir struct {
	Dir  Dir
	Name string
}

// Sync makes the names of the directory durable.
func (s SyncDir) Sync() error { return s.Dir.Sync(s.Name) }

// A Syncer is a file or a directory whose content is to be durable.
type Syncer interface{ Sync() error }

// Beside is work for a processor that All does while the disk writes, before or
// after its neighbors in the list are synced.
type Beside func()

// Sync does the work.
func (b Beside) Sync() error {
	b()
	return nil
}

// All makes a list durable. It syncs files of a real disk at the same time, so that
// the disk can write them together, in this order where there are not enough
// processors. It syncs those of a simulated disk one after the other, so that a
// simulation is reproducible.
func All(list ...Syncer) error {
	errs := make([]error, len(list))
	var next atomic.Int64
	one := func() {
		i := next.Add(1) - 1
		errs[i] = list[i].Sync()
	}
	if !slices.ContainsFunc(list, real) {
		for range list {
			one()
		}
		return errors.Join(errs...)
	}
	var wg sync.WaitGroup
	for range list[1:] {
		wg.Go(one)
	}
	one()
	wg.Wait()
	return errors.Join(errs...)
}

// real says whether s is on a real disk.
func real(s Syncer) bool {
	switch s := s.(type) {
	case *os.File, refused:
		return true
	case SyncDir:
		_, ok := s.Dir.(dir)
		return ok
	}
	return false
}
