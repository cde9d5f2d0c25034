// Package disk is what the packages that keep files ask of a disk, so that a
// simulated one, package simfs, can take the place of the real one in tests.
package disk

import (
	"io"
	"io/fs"
)

// A Dir is an open directory. Its names are slash paths that begin there; a real
// one never leaves it, even through links inside it. The errors are those of
// package os. Its methods are safe for concurrent use.
type Dir interface {
	Entries
	Folders
	Handle
}

// Entries are the files of a Dir.
type Entries interface {
	// Open opens a file with the flags of package os.
	Open(name string, flag int, perm fs.FileMode) (File, error)

	// Lstat describes what a name stands for, a link not followed.
	Lstat(name string) (fs.FileInfo, error)

	// Rename gives a file another name, in the place of what had it.
	Rename(from, to string) error

	// Remove removes a file or an empty directory.
	Remove(name string) error
}

// Folders are the directories of a Dir.
type Folders interface {
	// Mkdir makes a directory.
	Mkdir(name string, perm fs.FileMode) error

	// Sub opens a directory with a single name; the error of a link is ErrLink.
	Sub(name string) (Dir, error)

	// List returns the names in the directory, in their order.
	List() ([]string, error)
}

// A Handle is the Dir itself.
type Handle interface {
	// Stat describes the directory.
	Stat() (fs.FileInfo, error)

	// Sync makes durable which names are in a directory: "." or one below.
	Sync(name string) error

	// Close releases the directory.
	Close() error
}

// A File is an open file, or a directory for its mode.
type File interface {
	io.ReadWriteCloser
	io.ReaderAt
	// Sync makes what was written durable. After an error nothing is known of what
	// was written, and trying again would say nothing about it either.
	Sync() error
	Chmod(mode fs.FileMode) error
	Stat() (fs.FileInfo, error)
}
