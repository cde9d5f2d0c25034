// Package ownfile is about files that prove who is who and what has happened: they are regular files, and no
// user but their owner and, where one is meant, a group may read or write them. On Windows, where modes say
// nothing of that, all are taken to be closed to others.
package ownfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	goruntime "runtime"
	"syscall"
)

// ErrNotRegular says that what a name leads to is no regular file.
var ErrNotRegular = errors.New("it is no regular file")

// ErrOpen says that users read or write a file who may not.
var ErrOpen = errors.New("all users may read or write it")

// others are the permissions of those who are neither the owner nor in the group.
const others = 0o006

// Open opens a regular file for reading. It waits for nothing, as the open of a pipe would.
func Open(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(name, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Regular refuses a name that leads to something else than a regular file. One that leads nowhere is none of these.
func Regular(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return ifThere(err)
	}
	return regular(name, info)
}

// Closed refuses files that others may read or write, and what is no regular file. Names that lead nowhere are skipped.
func Closed(names ...string) error {
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = regular(name, info)
		}
		if err == nil {
			err = closed(name, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Like gives a file, if there is one, the mode of another one.
func Like(name, other string) error {
	want, err := os.Stat(other)
	if err != nil {
		return ifThere(err)
	}
	is, err := os.Stat(name)
	if err != nil || is.Mode().Perm() == want.Mode().Perm() {
		return ifThere(err)
	}
	return os.Chmod(name, want.Mode().Perm())
}

func ifThere(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Close makes a file that was just made one that only its owner may read and write, whatever the umask is.
func Close(f *os.File) error { return f.Chmod(0o600) }

func closed(name string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&others != 0 && goruntime.GOOS != "windows" {
		return fmt.Errorf("%q: %w (mode %04o): run chmod o-rwx on it, and begin with another one if somebody has used it", name, ErrOpen, mode)
	}
	return nil
}

func regular(name string, info fs.FileInfo) error {
	if mode := info.Mode(); !mode.IsRegular() {
		return fmt.Errorf("%q: %w but a %s: name a file", name, ErrNotRegular, kind(mode))
	}
	return nil
}

// kind names what is no regular file.
func kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "directory"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
