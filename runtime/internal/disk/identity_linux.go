package disk

import (
	"io/fs"
	"syscall"
)

// IdentityOf returns the identity of what info describes, the zero one when the
// system has none.
func IdentityOf(info fs.FileInfo) Identity {
	switch s := info.Sys().(type) {
	case *syscall.Stat_t:
		return Identity{Inode: s.Ino, Changed: s.Ctim.Nano()}
	case Identity:
		return s
	}
	return Identity{}
}
