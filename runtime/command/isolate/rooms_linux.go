package isolate

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// rooms makes the namespaces of init what the box says: everything is read-only but the private
// folder, which is a file system of its own, and the caches.
func rooms(b *box) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	for _, dir := range b.Write {
		if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("cache %s: %w", dir, err)
		}
	}
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &readOnly); err != nil {
		return fmt.Errorf("read-only mounts: %w", err)
	}
	for _, dir := range b.Write {
		if err := unix.MountSetattr(unix.AT_FDCWD, dir, 0, &unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}); err != nil {
			return fmt.Errorf("cache %s: %w", dir, err)
		}
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV
	if err := unix.Mount("tmpfs", b.Private, "tmpfs", flags, fmt.Sprintf("size=%d,mode=700", b.Scratch)); err != nil {
		return fmt.Errorf("private folder: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", flags|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("proc: %w", err)
	}
	if b.Loopback {
		return loopback()
	}
	return nil
}

// loopback brings up the network device of the box.
func loopback() error {
	sock, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(sock)
	device, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	device.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(sock, unix.SIOCSIFFLAGS, device); err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	return nil
}
