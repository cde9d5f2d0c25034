package sqlite

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/ambit-tools/ambit/runtime/internal/oslock"
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

	// Write replaces a file, or makes it, for its owner alone to read. A crash leaves the
	// old content or the new one; when Write returns it is the new one.
	Write(name string, data []byte) error
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
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.NewSectionReader(f, from, limit))
	return data, errors.Join(err, f.Close())
}

func (osDisk) Write(name string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), name); err != nil {
		return err
	}
	return oslock.SyncDir(filepath.Dir(name))
}
