package sqlite

import (
	"errors"
	"io/fs"
	"net/url"
	"path/filepath"
)

// durable are the settings of the connection that writes. Nothing is written
// before they are made: a transaction is on disk when it has been committed, and
// what is erased is overwritten. SQLite's own checkpoints are off, see
// writer.checkpoint. Plain fsync does not reach the disk on macOS.
var durable = []string{
	"busy_timeout(5000)",
	"synchronous(FULL)",
	"fullfsync(1)",
	"checkpoint_fullfsync(1)",
	"secure_delete(1)",
	"foreign_keys(1)",
	"wal_autocheckpoint(0)",
}

// readOnly are the settings of connections that read.
var readOnly = []string{"busy_timeout(5000)", "query_only(1)"}

// source names a database for SQLite.
func source(path string, disk Disk, mode string, pragmas []string) string {
	q := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}, "mode": {mode}}
	if vfs := disk.VFS(); vfs != "" {
		q.Set("vfs", vfs)
	}
	if mode == immutable {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	}
	name := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		name = "/" + name
	}
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: name}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

// resolve returns the one name of a file of the operating system, so that neither
// a change of the working directory nor a link leads to another lock.
func resolve(path string, disk Disk) (string, error) {
	if disk.VFS() != "" {
		return path, nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil // it is about to be made
	}
	return real, err
}

const immutable = "immutable"
