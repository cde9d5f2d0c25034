package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"
)

// ErrLink says that a name that has to be a directory itself is a link to one.
var ErrLink = errors.New("it is a symbolic link, which is not followed here")

// dir is a real directory.
type dir struct{ root *os.Root }

// Open opens a directory of this machine. It has to exist.
func Open(name string) (Dir, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return dir{root}, nil
}

func (d dir) Open(name string, flag int, perm fs.FileMode) (File, error) {
	if flag == os.O_RDONLY {
		flag |= syscall.O_NONBLOCK // a pipe in the place of a file must not block the caller
	}
	f, err := d.root.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d dir) Lstat(name string) (fs.FileInfo, error)    { return d.root.Lstat(name) }
func (d dir) Rename(from, to string) error              { return d.root.Rename(from, to) }
func (d dir) Remove(name string) error                  { return d.root.Remove(name) }
func (d dir) Mkdir(name string, perm fs.FileMode) error { return d.root.Mkdir(name, perm) }
func (d dir) Stat() (fs.FileInfo, error)                { return d.root.Stat(".") }
func (d dir) Close() error                              { return d.root.Close() }

func (d dir) Sub(name string) (Dir, error) {
	there, err := d.root.Lstat(name)
	switch {
	case err != nil:
		return nil, err
	case there.Mode()&fs.ModeSymlink != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrLink} // where it leads does not matter
	case !there.IsDir(): // OpenRoot waits for a writer of a pipe, and its error for a file is none of package syscall
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	// The directory is open already: a link that takes its place now changes
	// nothing any more, and one that was there before is another file than it.
	if there, err = d.root.Lstat(name); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	opened, err := root.Stat(".")
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	if !os.SameFile(there, opened) {
		return nil, errors.Join(&fs.PathError{Op: "open", Path: name, Err: ErrLink}, root.Close())
	}
	return dir{root}, nil
}

func (d dir) List() ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

func (d dir) Sync(name string) error {
	f, err := d.root.Open(path.Clean(name))
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}
