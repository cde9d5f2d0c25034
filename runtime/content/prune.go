package content

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

const (
	// tempPrefix begins the names of files that are being written.
	tempPrefix = "tmp-"

	// slack is how much later than noted a content may have been used: that a
	// content is used is not written down each time.
	slack = 2 * time.Minute
)

// Prune removes the contents that were last put before a time, to within two
// minutes, but for those that keep wants kept; a nil keep keeps none. What is
// left of writes that a crash has ended goes too. It returns how many contents
// were removed.
func (s *Store) Prune(ctx context.Context, before time.Time, keep func(Ref) bool) (int, error) {
	shards, err := s.dir.List()
	if err != nil {
		return 0, fmt.Errorf("cannot list the content store: %w", err)
	}
	removed := 0
	var errs []error
	for _, shard := range shards {
		if err := ctx.Err(); err != nil {
			return removed, errors.Join(append(errs, err)...)
		}
		n, err := s.pruneShard(shard, before.Add(-slack), keep)
		removed += n
		if err != nil {
			errs = append(errs, err)
		}
	}
	return removed, errors.Join(errs...)
}

// pruneShard removes what is old of one directory. No content can be put in the
// meantime.
func (s *Store) pruneShard(shard string, before time.Time, keep func(Ref) bool) (removed int, err error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	if strings.HasPrefix(shard, tempPrefix) {
		_, err := s.pruneFile(shard, "", before, nil)
		return 0, err
	}
	if len(shard) != 2 {
		return 0, nil // not ours
	}
	dir, err := s.dir.Sub(shard)
	if err != nil {
		return 0, fmt.Errorf("cannot open %q of the content store: %w", shard, err)
	}
	names, err := dir.List()
	err = errors.Join(err, dir.Close())
	for _, name := range names {
		hash := shard + name
		if strings.HasPrefix(name, tempPrefix) {
			hash = ""
		}
		gone, e := s.pruneFile(shard+"/"+name, hash, before, keep)
		if gone && hash != "" {
			removed++
		}
		err = errors.Join(err, e)
	}
	if removed > 0 {
		err = errors.Join(err, s.sync(disk.SyncDir{Dir: s.dir, Name: shard}))
	}
	return removed, err
}

// pruneFile removes a file if it is old and, where it is a content, not wanted.
func (s *Store) pruneFile(name, hash string, before time.Time, keep func(Ref) bool) (bool, error) {
	info, err := s.dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("content file %q: %w", name, err)
	}
	ref := Ref{SHA256: hash, Size: info.Size()}
	switch {
	case !info.ModTime().Before(before):
		return false, nil
	case hash != "" && (ref.check() != nil || keep != nil && keep(ref)):
		return false, nil
	}
	s.forget(hash)
	if err := s.dir.Remove(name); err != nil {
		return false, fmt.Errorf("content file %q: %w", name, err)
	}
	return true, nil
}
