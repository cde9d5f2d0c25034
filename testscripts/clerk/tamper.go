package clerk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// tamper changes an entry of a store, as who knows SQLite can: in the leaf another
// tool was called.
func tamper(ctx context.Context, path string, seq int64) (err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "DROP TRIGGER entry_is_not_changed"); err != nil {
		return err
	}
	done, err := db.ExecContext(ctx, "UPDATE entry SET leaf = CAST(replace(CAST(leaf AS TEXT), 'note_write', 'note_wrote') AS BLOB), tool = 'note_wrote' WHERE seq = ?", seq)
	if err != nil {
		return err
	}
	if n, err := done.RowsAffected(); n != 1 || err != nil {
		return errors.Join(err, fmt.Errorf("there is no entry %d", seq))
	}
	return nil
}

// cut removes bytes from the end of a file.
func cut(path string, bytes int64) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()-bytes)
}

// forge appends a copy of the last entry to a store.
func forge(ctx context.Context, path string) (err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, "INSERT INTO entry SELECT seq + 1, at, kind, session, run, call, tool, mark, leaf, mac FROM entry ORDER BY seq DESC LIMIT 1")
	return err
}
