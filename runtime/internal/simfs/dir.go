package simfs

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// dir is an open directory.
type dir struct {
	disk *Disk
	boot int
	node *inode
}

// find returns the directory that a name is in, its last element, and what it
// stands for, nil when there is nothing. d.disk.mu is held.
func (d *dir) find(op, name string) (parent *inode, base string, n *inode, err error) {
	if err := d.disk.powered(d.boot); err != nil {
		return nil, "", nil, &fs.PathError{Op: op, Path: name, Err: err}
	}
	parent, base, n = d.node, ".", d.node
	if name == "." {
		return parent, base, n, nil
	}
	for element := range strings.SplitSeq(path.Clean(name), "/") {
		if n == nil {
			return nil, "", nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		if !n.mode.IsDir() {
			return nil, "", nil, &fs.PathError{Op: op, Path: name, Err: syscall.ENOTDIR}
		}
		parent, base, n = n, element, n.names[element]
	}
	return parent, base, n, nil
}

// existing is find for what has to be there.
func (d *dir) existing(op, name string) (parent *inode, base string, n *inode, err error) {
	if parent, base, n, err = d.find(op, name); err == nil && n == nil {
		err = &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return parent, base, n, err
}

// Open opens a file, or a directory for its mode.
func (d *dir) Open(name string, flag int, perm fs.FileMode) (disk.File, error) {
	defer d.disk.enter()()
	s := d.disk
	s.mu.Lock()
	defer s.mu.Unlock()
	parent, base, n, err := d.find("open", name)
	switch {
	case err != nil:
		return nil, err
	case n == nil && flag&os.O_CREATE == 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	case n != nil && flag&os.O_EXCL != 0:
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrExist}
	case n == nil:
		done, err := s.begin(d.boot)
		if done {
			n = s.inode(perm.Perm())
			s.touched(n)
			s.change(change{to: parent, name: base, node: n})
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	case flag&os.O_TRUNC != 0:
		if _, err := s.begin(d.boot); err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		n.data, n.mtime = nil, s.now()
		s.touched(n)
	}
	return &file{disk: s, boot: d.boot, node: n, name: base}, nil
}

// Lstat describes what a name stands for.
func (d *dir) Lstat(name string) (fs.FileInfo, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	_, base, n, err := d.existing("lstat", name)
	if err != nil {
		return nil, err
	}
	return n.info(base), nil
}

// Rename gives a file another name.
func (d *dir) Rename(from, to string) error {
	defer d.disk.enter()()
	d.disk.tell("rename", to)
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	source, old, n, err := d.existing("rename", from)
	if err != nil {
		return err
	}
	target, base, there, err := d.find("rename", to)
	switch {
	case err != nil:
		return err
	case there == n:
		return nil
	case there != nil && there.mode.IsDir() != n.mode.IsDir():
		return &fs.PathError{Op: "rename", Path: to, Err: syscall.EISDIR}
	case there != nil && len(there.names) > 0:
		return &fs.PathError{Op: "rename", Path: to, Err: syscall.ENOTEMPTY}
	}
	return d.alter("rename", to, change{from: source, old: old, to: target, name: base, node: n})
}

// Remove removes a file or an empty directory.
func (d *dir) Remove(name string) error {
	defer d.disk.enter()()
	d.disk.tell("remove", name)
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	parent, base, n, err := d.existing("remove", name)
	switch {
	case err != nil:
		return err
	case len(n.names) > 0:
		return &fs.PathError{Op: "remove", Path: name, Err: syscall.ENOTEMPTY}
	}
	return d.alter("remove", name, change{from: parent, old: base, node: n})
}

// Mkdir makes a directory.
func (d *dir) Mkdir(name string, perm fs.FileMode) error {
	defer d.disk.enter()()
	d.disk.tell("mkdir", name)
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	parent, base, n, err := d.find("mkdir", name)
	switch {
	case err != nil:
		return err
	case n != nil:
		return &fs.PathError{Op: "mkdir", Path: name, Err: fs.ErrExist}
	}
	return d.alter("mkdir", name, change{to: parent, name: base, node: d.disk.inode(fs.ModeDir | perm.Perm())})
}

// alter carries out a change of names, if nothing fails. d.disk.mu is held.
func (d *dir) alter(op, name string, c change) error {
	done, err := d.disk.begin(d.boot)
	if done {
		d.disk.change(c)
	}
	if err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// Sub opens a directory.
func (d *dir) Sub(name string) (disk.Dir, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	_, _, n, err := d.existing("open", name)
	switch {
	case err != nil:
		return nil, err
	case !n.mode.IsDir():
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOTDIR}
	}
	return &dir{disk: d.disk, boot: d.boot, node: n}, nil
}

// List returns the names in the directory.
func (d *dir) List() ([]string, error) {
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	if err := d.disk.powered(d.boot); err != nil {
		return nil, &fs.PathError{Op: "read", Path: ".", Err: err}
	}
	names := make([]string, 0, len(d.node.names))
	for name := range d.node.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// Stat describes the directory.
func (d *dir) Stat() (fs.FileInfo, error) { return d.Lstat(".") }

// Sync makes durable which names are in a directory.
func (d *dir) Sync(name string) error {
	defer d.disk.enter()()
	d.disk.mu.Lock()
	defer d.disk.mu.Unlock()
	_, _, n, err := d.existing("sync", name)
	if err != nil {
		return err
	}
	return d.disk.sync(d.boot, n, name)
}

// Close releases the directory.
func (*dir) Close() error { return nil }
