package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// A File is an open segment. Its methods are safe for concurrent use.
type File struct {
	path    string
	file    disk.File
	header  Header
	index   index
	digest  tlog.Hash
	decoder *zstd.Decoder

	mu     sync.Mutex
	recent []decoded // the frames that were read last, the latest one last
}

// Open opens a segment. It reads the header and the index, which have to be those that were written
// together. The error of a file that is no whole segment is an [*Error]; of one that was cut it names the
// first entry that is missing. The file must be closed.
func Open(path string) (*File, error) {
	dir, err := disk.Open(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("open the segment %q: %w", path, err)
	}
	f, err := OpenOn(dir, path)
	return f, errors.Join(err, dir.Close())
}

// OpenOn is [Open] in a directory that is open, as [WriteOn] is Write.
func OpenOn(dir disk.Dir, path string) (*File, error) { return open(dir, filepath.Base(path), path) }

// open is Open in a directory.
func open(dir disk.Dir, name, path string) (*File, error) {
	file, err := dir.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("open the segment %q: %w", path, err)
	}
	f := &File{path: path, file: file}
	if err := f.load(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if f.decoder, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFrame), zstd.WithDecodeAllCapLimit(true)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return f, nil
}

// Close releases what Open has acquired.
func (f *File) Close() error {
	f.decoder.Close()
	return f.file.Close()
}

// Path returns the name of the file, as it was opened.
func (f *File) Path() string { return f.path }

// Header returns the header.
func (f *File) Header() Header { return f.header }

// Digest returns the digest of the header and the index, which names the content of the whole file.
func (f *File) Digest() tlog.Hash { return f.digest }

// Signed returns an error unless the key of the audit log has signed the checkpoint of the header, for
// the log with the header's origin, size and root. Prove says that the entries lead there.
func (f *File) Signed(v note.Verifier) error {
	if f.header.Origin != v.Name() {
		return f.bad(fmt.Sprintf("it is of the log %q, not of %q", f.header.Origin, v.Name()), nil)
	}
	n, err := note.Open([]byte(f.header.Note), note.VerifierList(v))
	if err == nil && !strings.HasPrefix(n.Text, f.header.said()) {
		err = errors.New("it signs another tree")
	}
	if err != nil {
		return f.bad(fmt.Sprintf("the key of %q has not signed its checkpoint", v.Name()), err)
	}
	return nil
}

// bad is an error about the segment as a whole.
func (f *File) bad(what string, err error) error {
	return &Error{Path: f.path, What: what, Err: err}
}

// load reads the header, the index and the end.
func (f *File) load() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	head, err := f.head(size)
	if err != nil {
		return err
	}
	from := int64(len(head))
	end := make([]byte, endSize)
	if size < from+int64(endSize) || f.read(end, size-int64(endSize)) != nil || string(end[endSize-len(endMark):]) != endMark {
		return f.cut(from, size)
	}
	at := int64(binary.BigEndian.Uint64(end))
	length := size - int64(endSize) - at
	if at < from || length <= 0 || length > maxIndex {
		return f.bad("its end names no index", nil)
	}
	list := make([]byte, length)
	if err := f.read(list, at); err != nil {
		return err
	}
	want, digest := ending(head, list, at)
	if !bytes.Equal(want, end) {
		return f.bad("its header, its index or its end was changed", nil)
	}
	f.digest = digest
	if err := parse(list, &f.index); err != nil {
		return f.bad("its index cannot be read", err)
	}
	if err := f.index.check(&f.header, from, at); err != nil {
		return f.bad(err.Error(), nil)
	}
	return nil
}

// head reads the magic and the header, and returns their bytes.
func (f *File) head(size int64) ([]byte, error) {
	head := make([]byte, min(size, int64(len(magic)+maxHeader)))
	if err := f.read(head, 0); err != nil {
		return nil, err
	}
	text, ok := bytes.CutPrefix(head, []byte(magic))
	if !ok {
		return nil, f.bad(fmt.Sprintf("it does not begin with %q", strings.TrimSpace(magic)), nil)
	}
	n := bytes.IndexByte(text, '\n') + 1
	if n == 0 {
		return nil, f.bad("its header does not end", nil)
	}
	if err := parse(text[:n], &f.header); err != nil {
		return nil, f.bad("its header cannot be read", err)
	}
	if err := f.header.check(); err != nil {
		return nil, f.bad(err.Error(), nil)
	}
	return head[:len(magic)+n], nil
}

// read reads bytes of the file.
func (f *File) read(b []byte, at int64) error {
	if _, err := f.file.ReadAt(b, at); err != nil && (!errors.Is(err, io.EOF) || len(b) > 0) {
		return f.bad("it cannot be read", err)
	}
	return nil
}

// The bounds of what is read of a segment without an index.
const (
	maxCutWindow = 8 << 20
	maxCutBytes  = 1 << 30
)

// cut is the error of a file whose end is missing. It names the first entry that cannot be read.
func (f *File) cut(from, size int64) error {
	next := f.header.First
	decoder, err := zstd.NewReader(io.NewSectionReader(f.file, from, size-from), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxCutWindow))
	if err != nil {
		return f.bad("its end is missing", err)
	}
	defer decoder.Close()
	in := &byteReader{r: io.LimitReader(decoder, maxCutBytes)}
	for next <= f.header.Last && skip(in) == nil {
		next++
	}
	if next > f.header.Last {
		return f.bad("its end is missing or was changed; its entries are there", nil)
	}
	return &Error{Path: f.path, First: next, Last: next, What: "its end is missing"}
}

// skip steps over an entry.
func skip(in *byteReader) error {
	n, err := binary.ReadUvarint(in)
	if err == nil && n > maxFrame {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		_, err = io.CopyN(io.Discard, in.r, int64(n))
	}
	return err
}

// A byteReader reads single bytes of a reader that has a buffer of its own.
type byteReader struct {
	r   io.Reader
	one [1]byte
}

// ReadByte reads a byte.
func (b *byteReader) ReadByte() (byte, error) {
	_, err := io.ReadFull(b.r, b.one[:])
	return b.one[0], err
}
