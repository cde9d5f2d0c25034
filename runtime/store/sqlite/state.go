package sqlite

import (
	"context"
	"crypto/hmac"
	"database/sql"
	"database/sql/driver"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
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
// The error is [ErrForged] when an owner of the store did not write it.
func (r *reader) Get(ctx context.Context, key string) (value []byte, err error) {
	var stored []byte
	err = r.rows(ctx, func(rows *sql.Rows) error {
		err := rows.Scan(&value, &stored)
		if value == nil {
			value = []byte{}
		}
		return err
	}, "SELECT value, mac FROM state WHERE key = ?", key)
	if err == nil && value != nil && r.secret != nil {
		if want := chain.New(r.secret).State(key, value); !hmac.Equal(want[:], stored) {
			return nil, fmt.Errorf("read %q: %w: the value of %q in its state is not authentic", r.path, ErrForged, key)
		}
	}
	return value, err
}

// Apply makes all the writes, in their order, or none of them.
func (s *Store) Apply(ctx context.Context, writes []Write) error {
	err := s.change(ctx, func(w *writer) error {
		for _, one := range writes {
			query, args := "DELETE FROM state WHERE key = ?", []driver.Value{one.Key}
			if one.Value != nil {
				query = "INSERT INTO state VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, mac = excluded.mac"
				m := w.chain.State(one.Key, one.Value)
				args = append(args, one.Value, m[:])
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
