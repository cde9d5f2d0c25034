package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Reader reads a journal. A [journal.Journal] is one.
type Reader interface {
	Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error)
}

// An Info says what was written.
type Info struct {
	Bytes  int64     // of the file
	Digest tlog.Hash // of its header and its index, which have the digests of the frames
}

// WriteFile writes the entries of a header to a file, which gets its name when all of it is on the disk and
// was read back and proved: its entries lead to the root of the header. The mode is 0600. The error is [fs.ErrExist]
// when the name is taken, and [ErrFolder] when the file is whole but for its name; otherwise it is about the header, the source or the disk, and
// there is no file of that name.
func WriteFile(ctx context.Context, path string, h Header, src Reader) (Info, error) {
	dir, err := disk.Open(filepath.Dir(path))
	if err != nil {
		return Info{}, fmt.Errorf("write the segment %q: %w", path, err)
	}
	info, err := WriteFileOn(ctx, dir, path, h, src)
	return info, errors.Join(err, dir.Close())
}

// WriteFileOn is [WriteFile] in a directory that is open: a real one or that of a simulated disk. path is how errors name the file, which
// gets the last part of it as its name.
func WriteFileOn(ctx context.Context, dir disk.Dir, path string, h Header, src Reader) (Info, error) {
	info, err := writeFile(ctx, dir, filepath.Base(path), path, h, src)
	if err != nil {
		return Info{}, fmt.Errorf("write the segment %q: %w", path, err)
	}
	return info, nil
}

// writeFile is WriteFile in a directory.
func writeFile(ctx context.Context, dir disk.Dir, name, path string, h Header, src Reader) (info Info, err error) {
	if err := errors.Join(h.check(), absent(dir, name)); err != nil {
		return Info{}, err
	}
	part := name + ".part"
	if info, err = fill(ctx, dir, part, h, src); err != nil {
		return Info{}, err
	}
	if err := proved(ctx, dir, part, path); err != nil {
		return Info{}, err
	}
	if err := absent(dir, name); err != nil { // a file that came meanwhile is not replaced
		return Info{}, err
	}
	if err := dir.Rename(part, name); err != nil {
		return Info{}, err
	}
	return info, keep(dir)
}

// ErrFolder says that the names in the folder of a segment could not be made durable. What is seen there may be lost with the power, and
// trying again would say nothing about it.
var ErrFolder = errors.New("the names in the folder are not on the disk")

// keep makes the names in the folder of a segment durable. The error wraps [ErrFolder].
func keep(dir disk.Dir) error {
	if err := dir.Sync("."); err != nil {
		return fmt.Errorf("%w: %w", ErrFolder, err)
	}
	return nil
}

// absent refuses a name that is taken.
func absent(dir disk.Dir, name string) error {
	_, err := dir.Lstat(name)
	switch {
	case err == nil:
		return fmt.Errorf("%w: name another file, or move this one away", fs.ErrExist)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// fill makes a file durable, but for its name.
func fill(ctx context.Context, dir disk.Dir, name string, h Header, src Reader) (info Info, err error) {
	text, err := line(&h)
	if err == nil && len(text) > maxHeader {
		err = fmt.Errorf("the header has %d bytes of at most %d", len(text), maxHeader)
	}
	if err != nil {
		return Info{}, err
	}
	f, err := disk.Create(dir, name, nil, 0o600)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return Info{}, err
	}
	w := writer{file: f, encoder: encoder}
	head := append([]byte(magic), text...)
	if err := errors.Join(w.put(head), w.entries(ctx, &h, src)); err != nil {
		return Info{}, err
	}
	list, err := line(&w.index)
	if err != nil {
		return Info{}, err
	}
	end, digest := ending(head, list, w.at)
	if err := errors.Join(w.put(list), w.put(end), f.Sync()); err != nil {
		return Info{}, err
	}
	return Info{Bytes: w.at, Digest: digest}, nil
}

// proved reads a file back and proves it.
func proved(ctx context.Context, dir disk.Dir, name, path string) error {
	f, err := open(dir, name, path)
	if err != nil {
		return err
	}
	return errors.Join(f.Prove(ctx), f.Close())
}

// A writer writes a file.
type writer struct {
	file    disk.File
	at      int64
	encoder *zstd.Encoder
	index   index
	frame   []byte // the entries that are in no frame yet
	first   uint64 // of these
	packed  []byte
}

// put writes bytes.
func (w *writer) put(b []byte) error {
	n, err := w.file.Write(b)
	w.at += int64(n)
	return err
}

// entries writes the entries of the source.
func (w *writer) entries(ctx context.Context, h *Header, src Reader) error {
	next := h.First
	w.first = next
	for next <= h.Last {
		list, err := src.Read(ctx, next-1, int(min(maxEntries, h.Last-next+1)))
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("the journal has no entry %d: %w", next, journal.ErrNoEntry)
		}
		if err != nil {
			return err
		}
		for i := range list {
			if list[i].Seq != next {
				return fmt.Errorf("the journal has no entry %d: %w", next, journal.ErrNoEntry)
			}
			if err := w.add(&list[i]); err != nil {
				return err
			}
			next++
		}
	}
	return w.flush(next)
}

// add adds an entry to the frame.
func (w *writer) add(e *journal.Entry) error {
	if e.Seq-w.first == maxEntries || len(w.frame) > 0 && len(w.frame)+len(e.Leaf) > frameFull {
		if err := w.flush(e.Seq); err != nil {
			return err
		}
	}
	w.frame = append(binary.AppendUvarint(w.frame, uint64(len(e.Leaf))), e.Leaf...)
	if len(w.frame) > maxFrame {
		return fmt.Errorf("entry %d has %d bytes, more than a segment can hold: keep it in the store", e.Seq, len(e.Leaf))
	}
	return nil
}

// flush writes the frame of the entries before a position.
func (w *writer) flush(next uint64) error {
	w.packed = w.encoder.EncodeAll(w.frame, w.packed[:0])
	w.index.Frames = append(w.index.Frames, frame{
		First: w.first, Last: next - 1, Offset: w.at, Bytes: int64(len(w.packed)), Size: int64(len(w.frame)), SHA256: sha256.Sum256(w.packed),
	})
	w.first, w.frame = next, w.frame[:0]
	return w.put(w.packed)
}
