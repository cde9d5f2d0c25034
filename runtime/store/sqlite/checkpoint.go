package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// SaveCheckpoint stores a checkpoint, and the head of the store in its keys file.
// It replaces one of the same size. The chain of authenticators can begin at it.
func (s *Store) SaveCheckpoint(ctx context.Context, size uint64, note []byte) error {
	err := s.change(ctx, func(w *writer) error {
		tail, err := w.tailAt(size)
		if err != nil {
			return err
		}
		m := w.chain.Checkpoint(size, tail, note)
		_, err = w.c.exec("INSERT INTO checkpoint VALUES (?, ?, ?, ?) ON CONFLICT (size) DO UPDATE SET note = excluded.note, tail = excluded.tail, mac = excluded.mac",
			int64(size), note, tail[:], m[:])
		return err
	})
	if err == nil {
		err = s.writeHead()
	}
	if err != nil {
		return fmt.Errorf("store the checkpoint of %d entries in %q: %w", size, s.path, err)
	}
	return nil
}

// tailAt returns the authenticator of an entry, inside a transaction.
func (w *writer) tailAt(seq uint64) (m chain.MAC, err error) {
	switch {
	case seq == w.head:
		return w.tail, nil
	case seq == 0:
		return w.chain.First(), nil
	case seq <= w.archived:
		return m, refusal{fmt.Errorf("the entries up to %d are archived", w.archived)}
	case seq > w.head:
		return m, refusal{fmt.Errorf("the store has %d entries", w.head)}
	}
	row, err := w.c.row("SELECT mac FROM entry WHERE seq = ?", int64(seq))
	if err != nil || len(row) == 0 {
		return m, errors.Join(err, refusal{fmt.Errorf("entry %d is not there", seq)})
	}
	stored, _ := row[0].([]byte)
	column, ok := chain.ParseColumn(stored)
	if !ok {
		return m, refusal{chain.ErrMAC}
	}
	return column.MAC, nil
}

// Checkpoints returns all checkpoints, the smallest first. The error is [ErrForged]
// when an owner of the store did not write one of them.
func (r *reader) Checkpoints(ctx context.Context) ([]journal.SignedCheckpoint, error) {
	return r.checkpoints(ctx, "SELECT size, note, tail, mac FROM checkpoint ORDER BY size")
}

// RecentCheckpoints returns the checkpoints of at most size entries, the largest first, and no more than
// most. It reads no others. The error is that of Checkpoints.
func (r *reader) RecentCheckpoints(ctx context.Context, size uint64, most int) ([]journal.SignedCheckpoint, error) {
	return r.checkpoints(ctx, "SELECT size, note, tail, mac FROM checkpoint WHERE size <= ? ORDER BY size DESC LIMIT ?",
		int64(min(size, math.MaxInt64)), max(most, 0))
}

// checkpoints returns the checkpoints of a query.
func (r *reader) checkpoints(ctx context.Context, query string, args ...any) (list []journal.SignedCheckpoint, err error) {
	var c *chain.Chain
	if r.secret != nil {
		c = chain.New(r.secret)
	}
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var p journal.SignedCheckpoint
		var tail, stored []byte
		err := rows.Scan(&p.Size, &p.Note, &tail, &stored)
		if err == nil && c != nil && !c.Holds(p.Size, p.Note, tail, stored) {
			return fmt.Errorf("%w: the checkpoint of %d entries is not authentic", ErrForged, p.Size)
		}
		list = append(list, p)
		return err
	}, query, args...)
	return list, err
}
