package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
)

// ID returns the id of the store, 32 hexadecimal digits, which its segments have in their headers. The keys file
// has it too; it is no secret.
func (r *reader) ID(ctx context.Context) (id string, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var raw []byte
		err := rows.Scan(&raw)
		id = hex.EncodeToString(raw)
		return err
	}, "SELECT store FROM owner")
	return id, err
}
