//go:build unix

package oslock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Lock takes the lock on a file, unless another process, or another Open of this
// one, holds it. The system releases it when the process ends, also after a crash.
func Lock(f *os.File) (held bool, err error) {
	return try(f, unix.LOCK_EX)
}

// LockShared is Lock for a lock that several processes can hold at once.
func LockShared(f *os.File) (held bool, err error) { return try(f, unix.LOCK_SH) }

// Unlock releases the lock on a file.
func Unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

func try(f *os.File, how int) (held bool, err error) {
	err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// SyncDir makes the names in a directory outlive a crash.
func SyncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
