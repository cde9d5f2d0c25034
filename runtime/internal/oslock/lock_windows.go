package oslock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes the lock on a file, unless another process, or another Open of this
// one, holds it. It goes when the process does. The byte that is locked lies
// behind the text, so that others can read who holds it.
func Lock(f *os.File) (held bool, err error) {
	return try(f, windows.LOCKFILE_EXCLUSIVE_LOCK)
}

// LockShared is Lock for those who do not mind each other.
func LockShared(f *os.File) (held bool, err error) { return try(f, 0) }

// Unlock gives the lock on a file back.
func Unlock(f *os.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &windows.Overlapped{Offset: 1 << 20})
}

func try(f *os.File, how uint32) (held bool, err error) {
	err = windows.LockFileEx(windows.Handle(f.Fd()), how|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{Offset: 1 << 20})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// SyncDir does nothing: the names in a directory are written with its files.
func SyncDir(string) error { return nil }
