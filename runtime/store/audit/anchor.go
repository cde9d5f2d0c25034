package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// An Anchor stores signed notes where a process that can write the journal cannot
// remove them. Anchor returns when the note is stored; it should give up when ctx
// does. One goroutine at a time calls it.
type Anchor interface {
	Anchor(ctx context.Context, note []byte) error
}

// AnchorFunc is a function as an Anchor.
type AnchorFunc func(ctx context.Context, note []byte) error

// Anchor calls f.
func (f AnchorFunc) Anchor(ctx context.Context, note []byte) error { return f(ctx, note) }

// A FileAnchor appends notes to a file, which should be on another volume, or
// owned by another user and append-only. It is opened for every note.
type FileAnchor struct {
	Path string
}

// Anchor appends a note and returns when it would outlive a crash.
func (a FileAnchor) Anchor(_ context.Context, note []byte) (err error) {
	created := false
	f, err := os.OpenFile(a.Path, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		created = true
		f, err = os.OpenFile(a.Path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	}
	if err != nil {
		return fmt.Errorf("the anchor: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text := framed(note)
	if torn(f) {
		text = append([]byte("\n"), text...)
	}
	if _, err := f.Write(text); err != nil {
		return fmt.Errorf("the anchor: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("the anchor: %w", err)
	}
	if created {
		return syncFolder(filepath.Dir(a.Path))
	}
	return nil
}

// torn says whether the last write to a file ended within a line.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err != nil || last[0] != '\n'
}

// syncFolder makes the name of a new file outlive a crash.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("the folder of the anchor: %w", err)
	}
	// Some systems cannot sync a folder; there the file's own sync is all there is.
	_ = d.Sync()
	return d.Close()
}

// A WriterAnchor writes notes to a writer, such as the standard error that a
// build system collects.
type WriterAnchor struct {
	mu sync.Mutex
	w  io.Writer
}

// NewWriterAnchor returns an anchor that writes to w, safe for concurrent use.
func NewWriterAnchor(w io.Writer) *WriterAnchor { return &WriterAnchor{w: w} }

// Anchor writes a note in one call of Write.
func (a *WriterAnchor) Anchor(_ context.Context, note []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.w.Write(framed(note)); err != nil {
		return fmt.Errorf("the anchor: %w", err)
	}
	return nil
}

// framed returns a note with the empty line that says that it is whole.
func framed(note []byte) []byte { return append(bytes.Clone(note), '\n') }
