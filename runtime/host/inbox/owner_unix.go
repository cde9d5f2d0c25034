//go:build unix

package inbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// superuser returns the name of the user that may do everything.
func superuser() string { return userName(0) }

// currentUser returns the name of the user of this process.
func currentUser() (string, error) { return userName(uint32(os.Geteuid())), nil }

// userName returns the name of a user, or uid: and the number of one that has none.
func userName(uid uint32) string {
	id := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(id); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid:" + id
}

// checkOwner refuses a file that does not belong to the user of a name.
func checkOwner(info fs.FileInfo, name string) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("it is not known to whom its file belongs")
	}
	if owner := userName(stat.Uid); owner != name {
		return fmt.Errorf("it is in the name of %q and its file belongs to %q", name, owner)
	}
	return nil
}

// openCommand opens a file to read it. It does not wait, and follows no link.
func openCommand(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENXIO) { // a link, a socket
		return nil, errNoFile
	}
	return f, err
}

// checkMode refuses a directory into which all users may write.
func checkMode(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o002 != 0 {
		return fmt.Errorf("everybody may write to it (mode %04o): run chmod 700 on it", mode)
	}
	return nil
}
