package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Write gives a key a value, or takes it away: a nil Value.
type Write = journal.Write

// Keys returns the keys that begin with a prefix, in their order.
func (r *reader) Keys(ctx context.Context, prefix string) (keys []string, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var key string
		err := rows.Scan(&key)
		keys = append(keys, key)
		return err
	}, "SELECT key FROM state WHERE substr(key, 1, length(?1)) = ?1 AND key >= ?1 ORDER BY key", prefix)
	return keys, err
}

// Get returns the value of a key in the state of the store; nil when it has none.
func (r *reader) Get(ctx context.Context, key string) (value []byte, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		err := rows.Scan(&value)
		if value == nil {
			value = []byte{}
		}
		return err
	}, "SELECT value FROM state WHERE key = ?", key)
	return value, err
}

// Apply makes all the writes, in their order, or none of them.
func (s *Store) Apply(ctx context.Context, writes []Write) error {
	err := s.change(ctx, func(w *writer) error {
		for _, one := range writes {
			query, args := "DELETE FROM state WHERE key = ?", []driver.Value{one.Key}
			if one.Value != nil {
				query = "INSERT INTO state VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
				args = append(args, one.Value)
			}
			if _, err := w.c.exec(query, args...); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write %d values to %q: %w", len(writes), s.path, err)
	}
	return nil
}
