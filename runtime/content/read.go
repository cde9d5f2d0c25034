package content

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// A Reader reads a content and verifies it on the way: the end of the file is
// only told when all that was read is what was put into the store. Until then
// it is not known whether it is. It is for one goroutine.
type Reader struct {
	ref  Ref
	file disk.File
	hash hash.Hash
	left int64
	err  error
}

// Open opens a content. The error is ErrNotFound when it is not there and
// ErrCorrupt when it can be seen to be damaged.
func (s *Store) Open(ctx context.Context, ref Ref) (*Reader, error) {
	if err := errors.Join(ctx.Err(), ref.check()); err != nil {
		return nil, err
	}
	return s.open(ref)
}

func (s *Store) open(ref Ref) (*Reader, error) {
	name, _ := ref.file()
	f, err := s.dir.Open(name, os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("content %s: %w", ref, ErrNotFound)
	case err != nil:
		return nil, fmt.Errorf("content %s: %w", ref, err)
	}
	info, err := f.Stat()
	if err == nil && info.Size() != ref.Size {
		err = corrupt(ref, fmt.Sprintf("has %d bytes, not %d", info.Size(), ref.Size))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Reader{ref: ref, file: f, hash: sha256.New(), left: ref.Size}, nil
}

func corrupt(ref Ref, why string) error {
	name, _ := ref.file()
	return fmt.Errorf("content %s (file %q) %s: %w", ref, name, why, ErrCorrupt)
}

// Read reads on. The error is io.EOF at the end of a content that is whole, and
// ErrCorrupt when it is not.
func (r *Reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.file.Read(p)
	r.hash.Write(p[:n])
	r.left -= int64(n)
	switch {
	case r.left < 0:
		r.err = corrupt(r.ref, "is too long")
	case errors.Is(err, io.EOF) && r.left > 0:
		r.err = corrupt(r.ref, fmt.Sprintf("lacks its last %d bytes", r.left))
	case errors.Is(err, io.EOF) && hex.EncodeToString(r.hash.Sum(nil)) != r.ref.SHA256:
		r.err = corrupt(r.ref, "has another hash")
	default:
		r.err = err
	}
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		n = 0 // what was just read may be what is wrong
	}
	return n, r.err
}

// verify reads to the end.
func (r *Reader) verify() error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// Close closes the file of the content.
func (r *Reader) Close() error { return r.file.Close() }

// Get returns a content. The error is ErrNotFound when it is not there and
// ErrCorrupt when it is damaged.
func (s *Store) Get(ctx context.Context, ref Ref) (_ []byte, err error) {
	r, err := s.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	data := make([]byte, ref.Size)
	if _, err := io.ReadFull(r, data); err != nil && (ref.Size > 0 || !errors.Is(err, io.EOF)) {
		return nil, err
	}
	if err := r.verify(); err != nil {
		return nil, err
	}
	return data, nil
}

// GetUnverified is Get without verification. The caller verifies the content later, by
// Ref.Verify, and until then does nothing with it that cannot be undone.
func (s *Store) GetUnverified(ctx context.Context, ref Ref) (_ []byte, err error) {
	r, err := s.Open(ctx, ref)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	data := make([]byte, ref.Size)
	if _, err := io.ReadFull(r.file, data); err != nil {
		return nil, fmt.Errorf("content %s: %w", ref, err)
	}
	return data, nil
}

// Has says whether a content is there, with its size. Only a read finds out whether
// it is whole.
func (s *Store) Has(ctx context.Context, ref Ref) (bool, error) {
	if err := errors.Join(ctx.Err(), ref.check()); err != nil {
		return false, err
	}
	name, _ := ref.file()
	info, err := s.dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("content %s: %w", ref, err)
	}
	return info.Size() == ref.Size, nil
}
