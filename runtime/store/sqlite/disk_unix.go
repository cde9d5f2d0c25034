//go:build unix

package sqlite

import (
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// An identity tells a file from every other file of the machine.
type identity struct{ device, inode uint64 }

func (id identity) equal(other identity) bool { return id == other }

// identityOf returns the identity of the file of a name, without the allocations
// of os.Stat: it is called at every commit.
func identityOf(name string) (identity, error) {
	var st unix.Stat_t
	for {
		switch err := unix.Stat(name, &st); err {
		case nil:
			return identity{uint64(st.Dev), st.Ino}, nil
		case unix.EINTR:
		default:
			return identity{}, &fs.PathError{Op: "stat", Path: name, Err: err}
		}
	}
}

// inheritMode gives a new file the mode, owner and group of the one that it will
// replace. Where the group cannot be kept its permissions are not either: they
// would be those of another group.
func inheritMode(f *os.File, was fs.FileInfo) error {
	mode := was.Mode().Perm()
	if st, ok := was.Sys().(*syscall.Stat_t); ok && f.Chown(int(st.Uid), int(st.Gid)) != nil && f.Chown(-1, int(st.Gid)) != nil {
		mode &= 0o700
	}
	return f.Chmod(mode)
}
