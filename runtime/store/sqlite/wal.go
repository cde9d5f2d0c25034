package sqlite

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	at, damaged, err := logDamage(log, func(n uint32) ([]byte, error) { return r.disk.Read(r.path, (int64(n)-1)*pageSize, pageSize) })
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
	log, err := disk.Read(path+"-wal", 0, logHead+1)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(log) <= logHead {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the store %q: %w", path, err)
	}
	return &CorruptError{Path: path, Damaged: 1, Cause: errors.New("its file is empty or gone, and its write-ahead log is not")}
}

// The layout of a log is that of https://sqlite.org/fileformat2.html#walformat.

const (
	logHead   = 32   // bytes of a log before its first frame
	pageSize  = 4096 // bytes of a page of a store
	frameHead = 24   // bytes of a frame before its page
	frameSize = frameHead + pageSize
)

// logDamage returns where a log is damaged, when that is not what a crash leaves. A
// transaction is synced before the next one is begun: where a frame follows a commit
// all before it was on the disk. A frame goes on with the checksum of the one before,
// so that nothing that is left of earlier logs, or was rolled back, looks like that.
// In the last transactions damage cannot be told from a crash.
func logDamage(log []byte, page func(n uint32) ([]byte, error)) (at int, damaged bool, err error) {
	if len(log) < logHead {
		return 0, false, nil
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if log[3]&1 != 0 {
		order = binary.BigEndian
	}
	if follows(order, make([]byte, 8), log[:frameHead], nil, log[frameHead:logHead]) {
		at, damaged = gapIn(order, log)
		return at, damaged, nil
	}
	damaged, err = unsaved(order, log, page)
	return 0, damaged, err
}

// gapIn returns where the first frame is that is not whole and has a transaction
// behind it.
func gapIn(order binary.ByteOrder, log []byte) (at int, damaged bool) {
	var last []byte // nil: it is not whole, or no commit
	before := log[frameHead:logHead]
	for off := logHead; off+frameSize <= len(log); off += frameSize {
		f := log[off : off+frameSize]
		whole := bytes.Equal(f[8:16], log[16:24]) && follows(order, before, f[:8], f[frameHead:], f[16:frameHead])
		switch {
		case whole && at != 0 && last != nil && !repeats(f, last):
			return at, true
		case !whole && at == 0:
			at = off
		}
		if before, last = f[16:frameHead], nil; whole && binary.BigEndian.Uint32(f[4:]) != 0 {
			last = f
		}
	}
	return 0, false
}

// unsaved reports whether a log whose head is not whole has pages that the file has
// not. A crash may tear the head when it is written anew: the file has all by then.
func unsaved(order binary.ByteOrder, log []byte, page func(n uint32) ([]byte, error)) (bool, error) {
	pages, latest, size := map[uint32][]byte{}, map[uint32][]byte{}, uint32(0)
	var last []byte
	for off := logHead; off+frameSize <= len(log); off += frameSize {
		f := log[off : off+frameSize]
		if last != nil && (!bytes.Equal(f[8:16], last[8:16]) || !follows(order, last[16:frameHead], f[:8], f[frameHead:], f[16:frameHead])) {
			break
		}
		pages[binary.BigEndian.Uint32(f)], last = f[frameHead:], f
		if n := binary.BigEndian.Uint32(f[4:]); n != 0 {
			size = n
			maps.Copy(latest, pages)
			clear(pages)
		}
	}
	for n, want := range latest {
		if n == 0 || n > size {
			continue // no page, or one that a later transaction has cut off
		}
		if have, err := page(n); err != nil || !bytes.Equal(want, have) {
			return err == nil, err
		}
	}
	return false, nil
}

// repeats reports whether a frame is the one before it once more, as a transaction
// ends where sectors are not written by themselves.
func repeats(f, last []byte) bool {
	return bytes.Equal(f[:8], last[:8]) && bytes.Equal(f[frameHead:], last[frameHead:])
}

// follows reports whether sum is the checksum of two texts that goes on with another one.
func follows(order binary.ByteOrder, before, first, second, sum []byte) bool {
	a, b := binary.BigEndian.Uint32(before), binary.BigEndian.Uint32(before[4:])
	for _, text := range [][]byte{first, second} {
		for ; len(text) >= 8; text = text[8:] {
			a += order.Uint32(text) + b
			b += order.Uint32(text[4:]) + a
		}
	}
	return a == binary.BigEndian.Uint32(sum) && b == binary.BigEndian.Uint32(sum[4:])
}
