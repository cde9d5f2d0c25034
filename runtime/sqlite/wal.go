package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ambit-tools/ambit/runtime/sqlite/internal/wal"
)

// logMost is how much of a log is looked at.
const logMost = 1 << 30

// logged refuses a store whose write-ahead log is damaged. SQLite ends such a log
// before the damage without a word, as one that a crash has torn, and would write
// over what is behind it: transactions that were acknowledged.
func (r *reader) logged(ctx context.Context) error {
	log, err := r.disk.Read(r.path+"-wal", 0, logMost)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the write-ahead log: %w", err)
	}
	at, damaged, err := wal.Damage(log, func(n uint32) ([]byte, error) { return r.disk.Read(r.path, (int64(n)-1)*wal.PageSize, wal.PageSize) })
	if err != nil || !damaged {
		return err
	}
	err = r.diagnose(ctx, fmt.Errorf("its write-ahead log is not whole at byte %d, and goes on behind that", at))
	var corrupt *CorruptError
	if errors.As(err, &corrupt) && corrupt.Damaged == 0 {
		corrupt.Damaged = corrupt.Readable + 1 // what is behind the damage comes next
	}
	return err
}

// orphaned refuses a log without its database, which SQLite would remove.
func orphaned(path string, disk Disk) error {
	if head, err := disk.Read(path+"-journal", 0, 1); err == nil && len(head) != 0 {
		return nil // the file was being made, and is not on the disk yet
	}
	log, err := disk.Read(path+"-wal", 0, wal.HeaderSize+1)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(log) <= wal.HeaderSize {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the store %q: %w", path, err)
	}
	return &CorruptError{Path: path, Damaged: 1, Cause: errors.New("its file is empty or gone, and its write-ahead log is not")}
}
