package isolate

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// minLandlock is the first version that refuses truncation of files.
const minLandlock = 3

// landlockVersion returns the version of Landlock, 0 when the kernel has none.
func landlockVersion() int {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

const (
	readAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	allAccess  = 1<<15 - 1 // of version 3

	// fileAccess is what means something for a file that is no directory.
	fileAccess = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlock confines the calling thread, and what it executes, to the files of the box. There
// is no best effort: what the kernel does not have is an error.
func landlock(b *box) error {
	version := landlockVersion()
	if version < minLandlock {
		return fmt.Errorf("landlock: version %d, at least %d is needed", version, minLandlock)
	}
	attr := struct{ files, net, scoped uint64 }{files: allAccess}
	size := uintptr(8)
	if version >= 4 {
		size = 16
		if !b.Loopback {
			attr.net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
	}
	if version >= 5 {
		attr.files |= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if version >= 6 {
		size, attr.scoped = 24, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET|unix.LANDLOCK_SCOPE_SIGNAL
	}
	rules, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	defer unix.Close(int(rules))
	for _, group := range []struct {
		paths  []string
		access uint64
	}{{b.Read, readAccess}, {b.Write, attr.files}, {[]string{b.Private}, attr.files}, {b.Devices, attr.files}} {
		for _, path := range group.paths {
			if err := allow(int(rules), path, group.access); err != nil {
				return err
			}
		}
	}
	if err := allowOpen(int(rules), programFD, "the program", readAccess); err != nil {
		return err
	}
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, rules, 0, 0); e != 0 {
		return fmt.Errorf("landlock: %w", e)
	}
	return nil
}

// allow adds a hierarchy to a set of rules. One that does not exist is left out.
func allow(rules int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == unix.ENOENT {
		return nil
	}
	if err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	defer unix.Close(fd)
	return allowOpen(rules, fd, path, access)
}

func allowOpen(rules, fd int, path string, access uint64) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("landlock: %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		access &= fileAccess
	}
	var rule [12]byte // the kernel's struct is packed
	*(*uint64)(unsafe.Pointer(&rule[0])) = access
	*(*int32)(unsafe.Pointer(&rule[8])) = int32(fd)
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&rule[0])), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("landlock: %s: %w", path, e)
	}
	return nil
}
