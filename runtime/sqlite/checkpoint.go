package sqlite

import (
	"context"
	"database/sql"
	"fmt"
)

// A Checkpoint is a signed statement about the first entries of the journal.
type Checkpoint struct {
	Size uint64 // how many entries
	Note []byte
}

// SaveCheckpoint stores a checkpoint. It replaces one of the same size.
func (s *Store) SaveCheckpoint(ctx context.Context, size uint64, note []byte) error {
	err := s.change(ctx, func(w *writer) error {
		_, err := w.c.exec("INSERT INTO checkpoint VALUES (?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note", int64(size), note)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the checkpoint of %d entries in %q: %w", size, s.path, err)
	}
	return nil
}

// Checkpoints returns all checkpoints, the smallest first.
func (r *reader) Checkpoints(ctx context.Context) (list []Checkpoint, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var c Checkpoint
		err := rows.Scan(&c.Size, &c.Note)
		list = append(list, c)
		return err
	}, "SELECT size, note FROM checkpoint ORDER BY size")
	return list, err
}
