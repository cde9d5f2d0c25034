// Package spool keeps the head and the tail of what a process writes in files, while it writes. They
// outlive the agent that runs the process, and not a crash of the host: nothing is synchronized.
package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ambit-tools/ambit/runtime/command/process"
)

// A file begins with a header: how much of the stream it has, and how much of it is kept. The head of the
// stream follows, then a ring for the tail. The ring has room for one piece more than the tail, so
// that the piece which an agent wrote last, and did not count, is not over the tail.
const (
	headerSize = 16
	pieceSize  = 64 << 10
)

// maxKept bounds what a header may ask to be read.
const maxKept = 1 << 30

// marks are the names of the files: process.Job.Mark of a runtime.
var marks = regexp.MustCompile(`^[A-Za-z0-9]{1,64}$`)

// A Folder has the files of processes. Nothing else may be in it.
type Folder string

// A Spool is the two files of one process. Each stream has one writer at a time.
type Spool struct{ files [2]*file }

// A file is the spool of one stream.
type file struct {
	f    *os.File
	most int64
	size int64
	err  error
}

// Create makes the files of a process, which keep at most so many bytes of each stream.
func (d Folder) Create(mark string, most int64) (*Spool, error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &Spool{}
	for i := range s.files {
		path, err := d.path(mark, process.Stream(i))
		if err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			s.files[i] = &file{f: f, most: max(0, min(most, maxKept))}
			err = s.files[i].count()
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("spool: %w", err), s.discard())
		}
	}
	return s, nil
}

// path is that of the file of a stream.
func (d Folder) path(mark string, i process.Stream) (string, error) {
	if !marks.MatchString(mark) {
		return "", fmt.Errorf("spool: %q is no mark of a process", mark)
	}
	return filepath.Join(string(d), mark+"."+i.String()), nil
}

// Write adds to a stream. After an error, such as a full disk, the stream keeps what it has.
func (s *Spool) Write(i process.Stream, b []byte) { s.files[i].write(b) }

// Close closes the files. They stay.
func (s *Spool) Close() error {
	var all []error
	for _, f := range s.files {
		if f != nil {
			all = append(all, f.f.Close())
		}
	}
	return errors.Join(all...)
}

// discard removes the files that were made.
func (s *Spool) discard() error {
	all := []error{s.Close()}
	for _, f := range s.files {
		if f != nil {
			all = append(all, os.Remove(f.f.Name()))
		}
	}
	return errors.Join(all...)
}

func (f *file) write(b []byte) {
	for len(b) > 0 && f.err == nil {
		n := min(len(b), pieceSize)
		f.piece(b[:n])
		b = b[n:]
	}
}

// piece writes and counts at most pieceSize bytes.
func (f *file) piece(b []byte) {
	at := f.size
	f.size += int64(len(b))
	head, ring := parts(f.most)
	for len(b) > 0 && f.err == nil {
		place, room := at, head-at
		if room <= 0 {
			place = (at - head) % ring
			room = ring - place
			place += head
		}
		n := min(int64(len(b)), room)
		_, f.err = f.f.WriteAt(b[:n], headerSize+place)
		at, b = at+n, b[n:]
	}
	if f.err == nil {
		f.err = f.count()
	}
}

// count writes the header.
func (f *file) count() error {
	var h [headerSize]byte
	binary.LittleEndian.PutUint64(h[:], uint64(f.size))
	binary.LittleEndian.PutUint64(h[8:], uint64(f.most))
	_, err := f.f.WriteAt(h[:], 0)
	return err
}

// parts returns how many bytes the head and the ring of a file have.
func parts(most int64) (head, ring int64) { return most - most/2, most/2 + pieceSize }

// Read returns what is kept of the streams of a process. The error is fs.ErrNotExist where nothing is.
func (d Folder) Read(mark string) (stdout, stderr process.Output, err error) {
	var list [2]process.Output
	for i := range list {
		path, err := d.path(mark, process.Stream(i))
		if err == nil {
			list[i], err = read(path)
		}
		if err != nil {
			return stdout, stderr, err
		}
	}
	return list[process.Stdout], list[process.Stderr], nil
}

// read reads the file of a stream. Digest and lines are those of a stream that is kept whole.
func read(path string) (o process.Output, err error) {
	f, err := os.Open(path)
	if err != nil {
		return o, err //nolint:wrapcheck // it names the file
	}
	defer f.Close()
	var h [headerSize]byte
	if _, err := f.ReadAt(h[:], 0); err != nil {
		return o, fmt.Errorf("spool: %s: %w", path, err)
	}
	o.Size = int64(binary.LittleEndian.Uint64(h[:]))
	most := int64(binary.LittleEndian.Uint64(h[8:]))
	if o.Size < 0 || most < 0 || most > maxKept {
		return o, fmt.Errorf("spool: %s has a header that no spool has", path)
	}
	head, ring := parts(most)
	o.Head = make([]byte, min(o.Size, head))
	rest := o.Size - int64(len(o.Head))
	o.Tail = make([]byte, min(rest, most/2))
	begin := (rest - int64(len(o.Tail))) % ring
	first := min(int64(len(o.Tail)), ring-begin)
	for _, part := range []struct {
		of []byte
		at int64
	}{{o.Head, 0}, {o.Tail[:first], head + begin}, {o.Tail[first:], head}} {
		if _, err := io.ReadFull(io.NewSectionReader(f, headerSize+part.at, int64(len(part.of))), part.of); err != nil {
			return o, fmt.Errorf("spool: %s: %w", path, err)
		}
	}
	if o.Truncated = o.Dropped() > 0; !o.Truncated {
		all := append(append([]byte{}, o.Head...), o.Tail...)
		o.SHA256 = sha256.Sum256(all)
		o.Lines = int64(bytes.Count(all, []byte{'\n'}))
		if n := len(all); n > 0 && all[n-1] != '\n' {
			o.Lines++
		}
	}
	return o, nil
}

// Remove removes the files of a process, if there are any.
func (d Folder) Remove(mark string) error {
	var all []error
	for i := range 2 {
		path, err := d.path(mark, process.Stream(i))
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// Sweep removes the files of all processes but those to keep.
func (d Folder) Sweep(keep func(mark string) bool) error {
	list, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	all := []error{err}
	for _, e := range list {
		if mark, _, ours := strings.Cut(e.Name(), "."); ours && marks.MatchString(mark) && !keep(mark) {
			all = append(all, d.Remove(mark))
		}
	}
	return errors.Join(all...)
}
