package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// A Writer stores a content that comes in parts. It is for one goroutine.
type Writer struct {
	store *Store
	name  string // temporary
	file  disk.File
	hash  hash.Hash
	size  int64
	err   error // of a write; or what was done with it
}

var (
	errCommitted = errors.New("the content was stored already")
	errClosed    = errors.New("the writer was closed")
)

// Create begins to store a content. The Writer has to be closed in any case.
func (s *Store) Create(ctx context.Context) (*Writer, error) {
	if err := errors.Join(ctx.Err(), s.usable()); err != nil {
		return nil, err
	}
	name := disk.TempName(tempPrefix)
	f, err := disk.Create(s.dir, name, nil, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot begin to store a content: %w", err)
	}
	return &Writer{store: s, name: name, file: f, hash: sha256.New()}, nil
}

// Write writes a part. After an error nothing can be stored any more.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.file.Write(p)
	w.hash.Write(p[:n])
	w.size += int64(n)
	w.err = err
	return n, err
}

// Commit stores what was written and returns its name. When it returns without
// an error the content would outlive a loss of power.
func (w *Writer) Commit(ctx context.Context) (Ref, error) {
	s := w.store
	s.gate.RLock()
	defer s.gate.RUnlock()
	if err := errors.Join(w.err, ctx.Err(), s.usable()); err != nil {
		return Ref{}, err
	}
	ref := Ref{SHA256: hex.EncodeToString(w.hash.Sum(nil)), Size: w.size}
	name, shard := ref.file()
	if err := s.dir.Mkdir(shard, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return Ref{}, fmt.Errorf("cannot store the content %s: %w", ref, err)
	}
	if err := s.sync(w.file); err != nil {
		return Ref{}, err
	}
	if err := s.dir.Rename(w.name, name); err != nil {
		return Ref{}, fmt.Errorf("cannot store the content %s: %w", ref, err)
	}
	w.err = errCommitted
	if err := s.sync(disk.SyncDir{Dir: s.dir, Name: shard}, disk.SyncDir{Dir: s.dir, Name: "."}); err != nil {
		return Ref{}, err
	}
	s.remember(time.Now(), ref)
	return ref, nil
}

// Close closes the Writer. What was not stored by Commit is dropped.
func (w *Writer) Close() error {
	if w.file == nil {
		return nil
	}
	err := w.file.Close()
	w.file = nil
	if w.err == errCommitted {
		return err
	}
	w.err = errClosed
	if e := w.store.dir.Remove(w.name); e != nil && !errors.Is(e, os.ErrNotExist) {
		err = errors.Join(err, e)
	}
	return err
}
