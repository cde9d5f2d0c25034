package content

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// Put stores data, unless it is stored already, and returns its name. When it
// returns without an error the content would outlive a loss of power.
func (s *Store) Put(ctx context.Context, data []byte) (Ref, error) {
	blob := BlobOf(data)
	if err := s.PutBlobs(ctx, blob); err != nil {
		return Ref{}, err
	}
	return blob.ref, nil
}

// PutAll stores contents like Put. They are made durable together, which takes
// less time than one after the other. After an error some may be stored.
func (s *Store) PutAll(ctx context.Context, contents ...[]byte) ([]Ref, error) {
	blobs, refs := make([]Blob, len(contents)), make([]Ref, len(contents))
	for i, data := range contents {
		blobs[i] = BlobOf(data)
		refs[i] = blobs[i].ref
	}
	if err := s.PutBlobs(ctx, blobs...); err != nil {
		return nil, err
	}
	return refs, nil
}

// PutBlobs is PutAll for data whose names are known.
func (s *Store) PutBlobs(ctx context.Context, blobs ...Blob) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	if err := errors.Join(ctx.Err(), s.usable()); err != nil {
		return err
	}
	now := time.Now()
	refs := make([]Ref, len(blobs))
	b := batch{store: s}
	defer b.abandon()
	for i, blob := range blobs {
		refs[i] = blob.ref
		if slices.Contains(refs[:i], refs[i]) || s.fresh(refs[i], now) && s.there(refs[i]) {
			continue
		}
		if err := b.add(blob); err != nil {
			return fmt.Errorf("cannot store the content %s: %w", refs[i], err)
		}
	}
	if err := b.finish(); err != nil {
		return fmt.Errorf("cannot store a content: %w", err)
	}
	s.remember(now, refs...)
	return nil
}

// A batch is what is made durable together.
type batch struct {
	store *Store
	files []disk.Syncer
	names [][2]string // of temporary files, and what they will be called
	dirs  []string
	open  []disk.File
}

// add writes a content. One that is new gets its name at once: a read compares the
// hash, so that a name without its content does no harm, and both are
// made durable in one go. One that is there is replaced, by way of a temporary
// name: what can be read need not be on the disk, if a sync has failed once, and
// the new file says when the content was last used.
func (b *batch) add(blob Blob) error {
	name, shard := blob.ref.file()
	if err := b.shard(shard); err != nil {
		return err
	}
	f, err := disk.CreateNew(b.store.dir, name, blob.data, 0o600)
	if err == nil {
		b.open, b.files = append(b.open, f), append(b.files, f)
		return nil
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	temp := shard + "/" + disk.TempName(tempPrefix)
	if f, err = disk.Create(b.store.dir, temp, blob.data, 0o600); err != nil {
		return err
	}
	b.open, b.files = append(b.open, f), append(b.files, f)
	b.names = append(b.names, [2]string{temp, name})
	return nil
}

// shard sees to it that a directory exists, and will be durable.
func (b *batch) shard(name string) error {
	if !slices.Contains(b.dirs, name) {
		b.dirs = append(b.dirs, name)
	}
	b.store.mu.Lock()
	known := b.store.shards[name]
	b.store.mu.Unlock()
	if known {
		return nil
	}
	if err := b.store.dir.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !slices.Contains(b.dirs, ".") {
		b.dirs = append(b.dirs, ".")
	}
	return nil
}

// finish makes the batch durable. A content that replaces a file is durable before it
// gets its name.
func (b *batch) finish() error {
	if len(b.files) == 0 {
		return nil
	}
	dirs := make([]disk.Syncer, len(b.dirs))
	for i, name := range b.dirs {
		dirs[i] = disk.SyncDir{Dir: b.store.dir, Name: name}
	}
	if len(b.names) == 0 {
		return b.store.sync(append(b.files, dirs...)...)
	}
	if err := b.store.sync(b.files...); err != nil {
		return err
	}
	for len(b.names) > 0 {
		if err := b.store.dir.Rename(b.names[0][0], b.names[0][1]); err != nil {
			return err
		}
		b.names = b.names[1:]
	}
	return b.store.sync(dirs...)
}

// abandon closes the open files and removes those that have only a temporary name. A
// file that has its own stays: another Put may have stored the same content by now, and
// Prune removes it.
func (b *batch) abandon() {
	for _, f := range b.open {
		_ = f.Close() // it was synced, or it does not matter
	}
	for _, n := range b.names {
		_ = b.store.dir.Remove(n[0]) // else Prune does
	}
}
