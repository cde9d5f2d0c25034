package disk

import (
	"errors"
	"os"
	"sync"
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

// All makes a list durable. Those of a real disk are handed to it at the same
// time, so that it can write them together; those of another one in their order,
// so that a simulation does the same twice.
func All(list ...Syncer) error {
	if len(list) == 0 || !real(list[0]) {
		var errs []error
		for _, s := range list {
			errs = append(errs, s.Sync())
		}
		return errors.Join(errs...)
	}
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	for i, s := range list[1:] {
		wg.Go(func() { errs[i+1] = s.Sync() })
	}
	errs[0] = list[0].Sync()
	wg.Wait()
	return errors.Join(errs...)
}

// real says whether s is on a real disk.
func real(s Syncer) bool {
	switch s := s.(type) {
	case *os.File:
		return true
	case SyncDir:
		_, ok := s.Dir.(dir)
		return ok
	}
	return false
}
