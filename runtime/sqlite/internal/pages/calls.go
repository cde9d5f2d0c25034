package pages

import (
	"context"

	sqlite3 "modernc.org/sqlite/lib"
)

const callRows = "SELECT first, session, call, entries FROM call"

// Calls calls f with each row of the index of calls, in one state of the store, until f returns an error. The texts are those of
// SQLite, and hold until f returns.
func (s *Pool) Calls(ctx context.Context, f func(first uint64, session, call, entries []byte) error) error {
	return s.with(ctx, func(c *conn) error {
		stmt, err := c.prepare(callRows)
		if err != nil {
			return err
		}
		defer sqlite3.Xsqlite3_finalize(c.tls, stmt)
		for n := 0; ; n++ {
			more, err := c.next(stmt)
			if err == nil && n%rowsPerLook == 0 {
				err = ctx.Err()
			}
			if err != nil || !more {
				return err
			}
			first, _, err := c.number(stmt, 0)
			if err != nil {
				return err
			}
			var texts [3][]byte
			for i := range texts {
				if texts[i], err = c.bytes(stmt, int32(i)+1, sqlite3.SQLITE_TEXT); err != nil {
					return err
				}
			}
			if err := f(uint64(first), texts[0], texts[1], texts[2]); err != nil {
				return err
			}
		}
	})
}
