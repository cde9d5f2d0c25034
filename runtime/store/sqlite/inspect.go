package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

const (
	headSize  = 100  // of the head of a database file
	firstPage = 4096 // what a file has at most that was not made to its end
)

// identify looks at a file before SQLite does, which would make a store of any
// empty database. It is fresh when there is nothing in it yet.
func identify(path string, disk Disk) (fresh bool, err error) {
	head, err := disk.Read(path, 0, firstPage+1)
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && len(head) == 0:
		return true, nil
	case err != nil:
		return false, fmt.Errorf("open the store %q: %w", path, err)
	}
	// A rollback journal is there only while the file is being made.
	if journal, err := disk.Read(path+"-journal", 0, 1); err == nil && len(journal) != 0 && len(head) <= firstPage {
		return true, nil
	}
	if len(head) < headSize || !strings.HasPrefix(string(head), "SQLite format 3\x00") {
		return false, fmt.Errorf("open the store %q: %w: it does not begin like a database; name another file, or move this one away", path, ErrNotStore)
	}
	if id := binary.BigEndian.Uint32(head[68:]); id != applicationID {
		return false, fmt.Errorf("open the store %q: %w: it is the database of another program (%#x); name another file", path, ErrNotStore, id)
	}
	return false, nil
}

// inspect refuses a store that this program cannot go on with. It only reads.
func (r *reader) inspect(ctx context.Context) error {
	version, err := versionOf(ctx, r.db)
	if err == nil && version != 0 {
		err = r.sound(ctx)
	}
	if err == nil {
		err = r.logged(ctx)
	}
	var corrupt *CorruptError
	if err = r.explain(ctx, err); err == nil || errors.As(err, &corrupt) {
		return err
	}
	return fmt.Errorf("open the store %q: %w", r.path, err)
}

// checkUpTo is how large a file may be, in bytes, to be checked when it is opened,
// which takes about four milliseconds per megabyte. Tests change it.
var checkUpTo = int64(16 << 20)

// sound checks a store that is small. In a larger one, also after a crash, damage is
// found where it is read: a start must not take longer with every entry there ever was.
func (r *reader) sound(ctx context.Context) error {
	var check bool
	err := r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&check) },
		"SELECT page_count * page_size <= ? FROM pragma_page_count, pragma_page_size", checkUpTo)
	if err != nil || !check {
		return err
	}
	return r.verify(ctx, "PRAGMA quick_check(8)")
}
