package sqlite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ambit-tools/ambit/runtime/internal/oslock"
	"github.com/ambit-tools/ambit/runtime/internal/ownfile"
)

// A Disk is where a store is. The one of the operating system is used unless
// [WithDisk] says otherwise, which tests do that simulate a disk that fails.
type Disk interface {
	// VFS names the virtual file system, registered with SQLite, that the database is in;
	// empty: that of the operating system.
	VFS() string

	// Lock takes the lock on the file of a name, which is made when it is not there, and
	// writes note to it. When another process has it unlock is nil, and holder what that wrote.
	Lock(name string, note []byte) (unlock func() error, holder []byte, err error)

	// Read returns at most limit bytes of a file, from an offset, which may be behind its end.
	Read(name string, from, limit int64) ([]byte, error)

	// Write replaces a file, which keeps its mode, owner and group, or makes it, for its
	// owner alone to read. A crash leaves the old content or the new one; when Write
	// returns it is the new one.
	Write(name string, data []byte) error

	// Watch returns a function that fails when the file of a name is not the one any
	// more that it is now: it was moved, removed or replaced. It is called often.
	Watch(name string) (same func() error, err error)
}

// osDisk is the disk of the operating system.
type osDisk struct{}

func (osDisk) VFS() string { return "" }

func (osDisk) Lock(name string, note []byte) (unlock func() error, holder []byte, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, err
	}
	held, err := oslock.Lock(f)
	switch {
	case err != nil:
	case held:
		holder, err = io.ReadAll(io.LimitReader(f, 4096))
	default:
		if err = f.Truncate(0); err == nil {
			_, err = f.WriteAt(note, 0)
		}
		if err == nil {
			// The file stays: who removes it lets two processes have the locks of two files of one name.
			return f.Close, nil, nil
		}
	}
	return nil, holder, errors.Join(err, f.Close())
}

func (osDisk) Read(name string, from, limit int64) ([]byte, error) {
	f, err := ownfile.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, from, limit))
	return data, errors.Join(err, f.Close())
}

func (osDisk) Write(name string, data []byte) (err error) {
	// One name, so that a process that is killed here leaves one file at most. Only the
	// owner of the store writes; a file that is there is not written through.
	temp := name + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if left := os.Remove(temp); !errors.Is(left, fs.ErrNotExist) {
				err = errors.Join(err, left)
			}
		}
	}()
	if was, missing := os.Stat(name); missing == nil {
		err = inheritMode(f, was)
	} else {
		err = ownfile.Close(f)
	}
	if err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(temp, name); err != nil {
		return err
	}
	return oslock.SyncDir(filepath.Dir(name))
}

func (osDisk) Watch(name string) (same func() error, err error) {
	was, err := identityOf(name)
	if err != nil {
		return nil, err
	}
	return func() error {
		switch is, err := identityOf(name); {
		case err != nil:
			return err
		case !is.equal(was):
			return fmt.Errorf("another file has the name %q", name)
		}
		return nil
	}, nil
}
