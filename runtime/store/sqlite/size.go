package sqlite

import (
	"context"
	"database/sql"
)

// A Size is how large a store is. The file has Used and Free: what is appended takes the free room first, and the file does not shrink.
type Size struct {
	Used int64 // bytes that hold something
	Free int64 // bytes that archived entries have left, and others that are not used
}

// Size returns how large the store is, without what its write-ahead log has twice.
func (r *reader) Size(ctx context.Context) (size Size, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var page, pages, free int64
		err := rows.Scan(&page, &pages, &free)
		size = Size{Used: page * (pages - free), Free: page * free}
		return err
	}, "SELECT page_size, page_count, freelist_count FROM pragma_page_size, pragma_page_count, pragma_freelist_count")
	return size, err
}
