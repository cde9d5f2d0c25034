package simfs

import (
	"errors"
	"io"
	"io/fs"
	"syscall"
)

// file is an open file. It is read from its begin and written at its end.
type file struct {
	disk *Disk
	boot int
	node *inode
	name string
	read int
}

func (f *file) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// Read reads on.
func (f *file) Read(p []byte) (int, error) {
	s := f.disk
	s.mu.Lock()
	defer s.mu.Unlock()
	switch err := s.powered(f.boot); {
	case err != nil:
		return 0, f.fail("read", err)
	case f.node.mode.IsDir():
		return 0, f.fail("read", syscall.EISDIR)
	case s.one(s.faults.Read):
		return 0, f.fail("read", syscall.EIO)
	case f.read >= len(f.node.data):
		return 0, io.EOF
	}
	n := copy(p, f.node.data[f.read:])
	f.read += n
	return n, nil
}

// ReadAt reads what is at an offset, with the faults of Read.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	at := file{disk: f.disk, boot: f.boot, node: f.node, name: f.name, read: int(off)}
	n, err := io.ReadFull(&at, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// Write appends. When it fails, a part may have been written.
func (f *file) Write(p []byte) (int, error) {
	defer f.disk.enter()()
	s := f.disk
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.powered(f.boot); err != nil {
		return 0, f.fail("write", err)
	}
	_, err := s.begin(f.boot)
	n := len(p)
	if err != nil {
		n = s.r.IntN(n + 1)
	}
	f.node.data = append(f.node.data, p[:n]...)
	f.node.mtime = s.now()
	s.touched(f.node)
	if err != nil {
		return n, f.fail("write", err)
	}
	return n, nil
}

// Sync makes what was written durable.
func (f *file) Sync() error {
	defer f.disk.enter()()
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	return f.disk.sync(f.boot, f.node, f.name)
}

// Chmod sets the mode.
func (f *file) Chmod(mode fs.FileMode) error {
	defer f.disk.enter()()
	s := f.disk
	s.mu.Lock()
	defer s.mu.Unlock()
	done, err := s.begin(f.boot)
	if done {
		f.node.mode = f.node.mode.Type() | mode.Perm()
		s.touched(f.node)
	}
	if err != nil {
		return f.fail("chmod", err)
	}
	return nil
}

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) {
	s := f.disk
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.powered(f.boot); err != nil {
		return nil, f.fail("stat", err)
	}
	return f.node.info(f.name), nil
}

// Close releases the file.
func (*file) Close() error { return nil }
