package disk

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// begin has a real disk begin to write what a file has, where the system can do
// that, and does not wait for it. Files that are synced together are then written
// together: else each would get its blocks when its own sync comes, most often too
// late for the change of the file system that the one before it waits for.
//
// It makes nothing durable. What the disk refuses is the error of the sync to come.
func begin(f File) File {
	real, ok := f.(*os.File)
	if !ok {
		return f
	}
	err := startWriting(real)
	if err == nil || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EINVAL) {
		return f // it was begun, or cannot be asked for here
	}
	return refused{f, err}
}

// refused is a file of which something was not written: it cannot be synced.
type refused struct {
	File
	err error
}

// Sync fails.
func (r refused) Sync() error { return r.err }
