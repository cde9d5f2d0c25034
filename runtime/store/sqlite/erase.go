package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// Erase removes what is private of one entry; its leaf stays. When it returns nil the
// bytes are in none of the files of the store any more.
func (s *Store) Erase(ctx context.Context, seq uint64) error {
	return s.erase(ctx, fmt.Sprintf("entry %d", seq), "DELETE FROM private WHERE seq = ?", int64(seq))
}

// EraseSession removes what is private of all entries of a session.
func (s *Store) EraseSession(ctx context.Context, session string) error {
	return s.erase(ctx, fmt.Sprintf("session %q", session), "DELETE FROM private WHERE session = ?", session)
}

func (s *Store) erase(ctx context.Context, what, query string, arg driver.Value) error {
	err := s.change(ctx, func(w *writer) error {
		_, err := w.c.exec(query, arg)
		return err
	})
	if err == nil {
		err = s.w.empty()
	}
	if err != nil {
		return fmt.Errorf("erase what is private of %s from %q: %w", what, s.path, err)
	}
	return nil
}

// empty moves all of the write-ahead log into the file, and cuts it.
func (w *writer) empty() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.usable(); err != nil {
		return err
	}
	row, err := w.c.row("PRAGMA wal_checkpoint(TRUNCATE)")
	if full(err) {
		return fmt.Errorf("it is gone from the file, and still in the write-ahead log: %w: %w; call this again later", journal.ErrUnavailable, err)
	}
	if err != nil && !harmless(err) && !locked(err) {
		return w.poison(err)
	}
	if err != nil || len(row) != 3 || row[0] != int64(0) {
		return fmt.Errorf("it is gone from the file, and still in the write-ahead log, because somebody reads the store; call this again later (%w)", errBusy)
	}
	w.c.written(true)
	return nil
}
