package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

var (
	// ErrVersion says that a store has a version that this program does not support.
	ErrVersion = errors.New("the version of the store is unknown")
	// ErrNotStore says that a file is something other than a store.
	ErrNotStore = errors.New("the file is not a store")
)

// firstVersion is the first version that this program supports. Version 1 had no authenticators; in versions 2 to
// 4 no tree of the sessions proves where each of them ends; version 5 has no index of requests for consent and
// no archive, and version 6 no index of the ids of calls.
const firstVersion = 7

// whyFormer says why a store of an earlier version is refused, and what to do.
const whyFormer = "a store of an earlier version has no index of the ids of its calls, and before version 5 nothing proves where each session ends, " +
	"so it cannot be continued; keep it with the program that wrote it, and begin a new one under another name"

// applicationID is in the head of the file: "Ambt".
const applicationID = 0x416d6274

//go:embed migrations/*.sql
var migrations embed.FS

// A step brings a store to a version. Steps are only ever added.
type step struct {
	version int64
	name    string
	text    string
}

// steps returns all steps in their order.
func steps() ([]step, error) {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted
	if err != nil {
		return nil, err
	}
	list := make([]step, len(files))
	for i, file := range files {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return nil, err
		}
		name := path.Base(file)
		number, _, _ := strings.Cut(name, "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if want := int64(i + firstVersion); err != nil || version != want {
			return nil, fmt.Errorf("the migration %q is not number %d", name, want)
		}
		list[i] = step{version, name, string(text)}
	}
	return list, nil
}

// versionOf returns the version of the store, 0 when it is empty, and refuses one
// that this program does not support.
func versionOf(ctx context.Context, q interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (int64, error) {
	var tables int
	if err := q.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil || tables == 0 {
		return 0, err
	}
	var version int64
	if err := q.QueryRowContext(ctx, "SELECT coalesce(max(version), 0) FROM migration").Scan(&version); err != nil {
		if damaged(err) {
			return 0, err
		}
		return 0, fmt.Errorf("%w: it has tables and no version (%w)", ErrNotStore, err)
	}
	return version, known(version)
}

// known refuses a version that this program does not support.
func known(version int64) error {
	list, err := steps()
	if err != nil {
		return err
	}
	switch newest := list[len(list)-1].version; {
	case version < firstVersion:
		return fmt.Errorf("%w: it has version %d and this program knows %s: %s", ErrVersion, version, versions(newest), whyFormer)
	case version > newest:
		return fmt.Errorf("%w: it has version %d and this program knows %s; use a program that is at least as new as the one that wrote it",
			ErrVersion, version, versions(newest))
	}
	return nil
}

// versions says which versions this program supports.
func versions(newest int64) string {
	if newest == firstVersion {
		return strconv.Itoa(firstVersion)
	}
	return fmt.Sprintf("%d to %d", firstVersion, newest)
}

// migrate makes an empty file a store, and brings a store to the newest version.
func migrate(c *conn, now time.Time, id [chain.IDSize]byte) error {
	list, err := steps()
	if err != nil {
		return err
	}
	version, err := prepareFile(c)
	if err != nil {
		return err
	}
	for _, s := range list {
		if s.version <= version {
			continue
		}
		text := fmt.Sprintf("BEGIN IMMEDIATE;\n%s;\nINSERT INTO migration VALUES (%d, '%s', %d);\nUPDATE owner SET store = x'%x';\nCOMMIT;",
			s.text, s.version, s.name, now.UnixNano(), id)
		if err := c.script(text); err != nil {
			return fmt.Errorf("migrate to version %d: %w", s.version, errors.Join(err, c.script("ROLLBACK")))
		}
	}
	return nil
}

// prepareFile sees to what cannot be done in a transaction, and returns the version.
func prepareFile(c *conn) (version int64, err error) {
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return 0, err
	}
	if tables != 0 {
		if version, err = c.number("SELECT coalesce(max(version), 0) FROM migration"); err != nil {
			return 0, err
		}
		if err := known(version); err != nil {
			return 0, err
		}
	} else if _, err := c.row(fmt.Sprintf("PRAGMA application_id = %d", applicationID)); err != nil {
		return 0, err
	}
	mode, err := c.row("PRAGMA journal_mode = WAL")
	if err == nil && (len(mode) != 1 || mode[0] != "wal") {
		err = fmt.Errorf("the file system has no shared memory, which a write-ahead log needs: the journal mode is %v", mode)
	}
	return version, err
}
