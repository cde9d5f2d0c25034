package oslock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Lock takes the lock on a file, unless another process, or another Open of this
// one, holds it. The system releases it when the process ends. The locked byte is
// beyond the text, so that other processes can read who holds the lock.
func Lock(f *os.File) (held bool, err error) {
	return try(f, windows.LOCKFILE_EXCLUSIVE_LOCK)
}

// LockShared is Lock for a lock that several processes can hold at once.
func LockShared(f *os.File) (held bool, err error) { return try(f, 0) }

// Unlock releases the lock on a file.
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
