package pages

import (
	"strconv"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/ambit-tools/ambit/runtime/sqlite/internal/chain"
)

// busyTimeout is how long a connection waits for a lock, in milliseconds, as those of
// the driver do.
const busyTimeout = 5000

// A conn is a connection that reads whole pages of entries. It calls SQLite
// without database/sql and without the driver, which together cost several times
// what SQLite does for a row: a verification reads every entry there is. It is
// used by one goroutine at a time, which is why SQLite's own locks are off.
type conn struct {
	tls              *libc.TLS
	db               uintptr
	entries, private uintptr // the statements
	mac, segment     uintptr // likewise; 0: not needed yet
	archived         uintptr // likewise
	texts            texts
	chain            *chain.Chain // nil: not needed yet
	column           chain.Column // the column mac of the last entry that was read
}

// There is no limit in them: SQLite would compile a statement with a variable limit
// anew for each value.
const (
	entriesAfter = "SELECT seq, at, kind, session, run, call, tool, mark, leaf, mac FROM entry WHERE seq > ? ORDER BY seq"
	macOf        = "SELECT mac FROM entry WHERE seq = ?"
	segmentOf    = "SELECT data, mac FROM segment WHERE last = ?"
	archivedTo   = "SELECT last FROM segment WHERE last > ? ORDER BY last DESC LIMIT 1"
	privateAfter = "SELECT seq, data FROM private WHERE seq > ? ORDER BY seq"
)

// openConn opens a connection to the database that source names for SQLite.
func openConn(source string) (*conn, error) {
	s := &conn{tls: libc.NewTLS()}
	if err := s.open(source); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *conn) open(source string) (err error) {
	s.db, err = s.made(func(out uintptr) (int32, error) {
		name, err := libc.CString(source)
		if err != nil {
			return 0, err
		}
		defer libc.Xfree(s.tls, name)
		const flags = sqlite3.SQLITE_OPEN_READONLY | sqlite3.SQLITE_OPEN_URI | sqlite3.SQLITE_OPEN_NOMUTEX | sqlite3.SQLITE_OPEN_EXRESCODE
		return sqlite3.Xsqlite3_open_v2(s.tls, name, out, flags, 0), nil
	})
	if err != nil {
		return err
	}
	sqlite3.Xsqlite3_busy_timeout(s.tls, s.db, busyTimeout)
	if s.entries, err = s.prepare(entriesAfter); err != nil {
		return err
	}
	s.private, err = s.prepare(privateAfter)
	return err
}

// close releases everything. What it closes has written nothing, so that there is no
// error to report.
func (s *conn) close() {
	for _, stmt := range []uintptr{s.entries, s.private, s.mac, s.segment, s.archived} {
		sqlite3.Xsqlite3_finalize(s.tls, stmt)
	}
	sqlite3.Xsqlite3_close_v2(s.tls, s.db)
	s.tls.Close()
}

// made returns the pointer that a function of SQLite stores where it is told to.
func (s *conn) made(call func(out uintptr) (int32, error)) (uintptr, error) {
	const size = 8 // of the largest pointer
	out := s.tls.Alloc(size)
	defer s.tls.Free(size)
	clear(libc.GoBytes(out, size))
	rc, err := call(out)
	p := libc.AtomicLoadNUintptr(out, 0)
	if err == nil && rc != sqlite3.SQLITE_OK {
		err = s.fault(rc)
	}
	return p, err
}

func (s *conn) prepare(query string) (uintptr, error) {
	return s.made(func(out uintptr) (int32, error) {
		text, err := libc.CString(query)
		if err != nil {
			return 0, err
		}
		defer libc.Xfree(s.tls, text)
		return sqlite3.Xsqlite3_prepare_v3(s.tls, s.db, text, -1, sqlite3.SQLITE_PREPARE_PERSISTENT, out, 0), nil
	})
}

// A Fault is an error of SQLite that did not come through the driver.
type Fault struct {
	Code int
	text string
}

// Error says what the driver would.
func (f *Fault) Error() string { return f.text }

func (s *conn) fault(rc int32) error {
	text := libc.GoString(sqlite3.Xsqlite3_errstr(s.tls, rc))
	if s.db != 0 {
		if more := libc.GoString(sqlite3.Xsqlite3_errmsg(s.tls, s.db)); more != text {
			text += ": " + more
		}
	}
	return &Fault{int(rc), text + " (" + strconv.Itoa(int(rc)) + ")"}
}

// next goes to the next row of a statement, if there is one.
func (s *conn) next(stmt uintptr) (bool, error) {
	switch rc := sqlite3.Xsqlite3_step(s.tls, stmt); rc {
	case sqlite3.SQLITE_ROW:
		return true, nil
	case sqlite3.SQLITE_DONE:
		return false, nil
	default:
		return false, s.fault(rc)
	}
}

// start begins a statement.
func (s *conn) start(stmt uintptr, after uint64) (bool, error) {
	if rc := sqlite3.Xsqlite3_bind_int64(s.tls, stmt, 1, int64(after)); rc != sqlite3.SQLITE_OK {
		return false, s.fault(rc)
	}
	return s.next(stmt)
}
