package sqlite

import (
	"database/sql"
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
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: q.Encode()}
	return u.String()
}

const immutable = "immutable"

// readers is how many queries of one store run at once.
const readers = 4

// pool opens connections that read.
func pool(path string, disk Disk, mode string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", source(path, disk, mode, readOnly))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	return db, nil
}
