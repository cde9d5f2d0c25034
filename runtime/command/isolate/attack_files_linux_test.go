package isolate_test

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

func private(name string) string { return filepath.Join(os.Getenv("HOME"), name) }

// attacksOnFiles are about what a process reads, writes and changes.
var attacksOnFiles = []attack{
	{name: "control: write in the private folder", do: func(target) error { return os.WriteFile(private("x"), []byte("x"), 0o600) }},
	{name: "control: read the workspace", do: func(e target) error { _, err := os.ReadFile(filepath.Join(e.Workspace, "readme")); return err }},
	{name: "read a file outside", do: func(e target) error { _, err := os.ReadFile(e.Secret); return err }},
	{name: "read /etc/shadow", do: func(target) error { _, err := os.ReadFile("/etc/shadow"); return err }},
	{name: "read the rest of /etc", do: func(target) error { _, err := os.ReadDir("/etc"); return err }},
	{name: "list a folder outside", do: func(e target) error { _, err := os.ReadDir(e.Outside); return err }},
	{name: "write a file outside", do: func(e target) error { return os.WriteFile(filepath.Join(e.Outside, "x"), nil, 0o600) }},
	{name: "write in the workspace", do: func(e target) error { return os.WriteFile(filepath.Join(e.Workspace, "x"), nil, 0o600) }},
	{name: "truncate a file outside", do: func(e target) error { return os.Truncate(filepath.Join(e.Outside, "victim"), 0) }},
	{name: "remove a file outside", do: func(e target) error { return os.Remove(filepath.Join(e.Outside, "gone")) }},
	{name: "make a folder outside", do: func(e target) error { return os.Mkdir(filepath.Join(e.Outside, "made"), 0o700) }},
	{name: "rename into a folder outside", do: func(e target) error {
		_ = os.WriteFile(private("mine"), nil, 0o600)
		if err := os.Rename(private("mine"), filepath.Join(e.Outside, "mine")); err != unix.EXDEV && (err == nil || !isLink(err, unix.EXDEV)) {
			return err
		}
		return unix.EXDEV
	}},
	{name: "read through an own symbolic link", do: func(e target) error {
		if err := os.Symlink(e.Secret, private("link")); err != nil {
			return err
		}
		_, err := os.ReadFile(private("link"))
		return err
	}},
	{name: "read through an own hard link", do: func(e target) error {
		if err := os.Link(e.Secret, private("hard")); err != nil {
			return err
		}
		_, err := os.ReadFile(private("hard"))
		return err
	}},
	{name: "change the mode of a file outside", do: func(e target) error { return os.Chmod(filepath.Join(e.Outside, "victim"), 0o666) }},
	{name: "change the mode of a file of the workspace", do: func(e target) error { return os.Chmod(filepath.Join(e.Workspace, "readme"), 0o666) }},
	{name: "change the times of a file outside", do: func(e target) error {
		return os.Chtimes(filepath.Join(e.Outside, "victim"), time.Unix(1, 0), time.Unix(1, 0))
	}},
	{name: "set an attribute of a file outside", do: func(e target) error {
		return unix.Setxattr(filepath.Join(e.Outside, "victim"), "user.x", []byte("x"), 0)
	}},
	{name: "write to the /dev/shm of the host", do: func(e target) error {
		defer os.Remove("/dev/shm/" + e.Name)
		return os.WriteFile("/dev/shm/"+e.Name, nil, 0o600)
	}},
	{name: "a descriptor that was left open", do: func(target) error {
		for fd := 3; fd < 256; fd++ { // the runtime of Go opens some that are no file
			var st unix.Stat_t
			var b [6]byte
			if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
				if n, _ := unix.Pread(fd, b[:], 0); string(b[:n]) == "secret" {
					return nil
				}
			}
		}
		return unix.EBADF
	}},
	{name: "open a file by its handle", do: func(e target) error {
		h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, e.Secret, 0)
		if err != nil {
			return err
		}
		root, err := unix.Open(os.Getenv("HOME"), unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		fd, err := unix.OpenByHandleAt(root, h, unix.O_RDONLY)
		if err == unix.ESTALE { // the call is not refused: the folder is of another file system
			return nil
		}
		_ = unix.Close(fd)
		return err
	}},
}

func isLink(err error, want error) bool {
	l, ok := err.(*os.LinkError)
	return ok && l.Err == want
}
