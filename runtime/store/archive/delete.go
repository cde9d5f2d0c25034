package archive

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Deletion says what Delete deletes. All is required.
type Deletion struct {
	Store  Store
	Before time.Time // segments whose last entry is from that time or later stay
	Reason string    // for the journal

	// Record records a deletion in the journal of Store. It returns when the record is durable.
	Record func(*journal.Record) error
	// Sign signs and anchors all that was recorded.
	Sign func(context.Context) error
}

// Delete deletes the files of old segments, the oldest first, and stops at the first one that stays. It skips files that are not there. A
// file is deleted once its record is durable and signed (SEMANTICS 6.14.7): a crash in between leaves a file that the journal calls
// deleted, and the next Delete records and deletes it again.
//
// Delete deletes no file but the one that the store has the digest of. The error names the file.
func Delete(ctx context.Context, d *Deletion) error {
	segments, err := d.Store.Segments(ctx)
	if err != nil {
		return err
	}
	for i := range segments {
		s := &segments[i]
		more, err := d.one(ctx, s)
		if err != nil {
			return fmt.Errorf("delete the segment %q: %w", s.File, err)
		}
		if !more {
			return nil
		}
	}
	return nil
}

// one deletes the file of a segment, if it is there and old enough. It reports whether the next segment may be old enough too.
func (d *Deletion) one(ctx context.Context, s *journal.Segment) (more bool, err error) {
	last, err := entryIn(ctx, s, s.Last, "it")
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // it was deleted, or moved away
	}
	if err != nil || !last.At.Before(d.Before) {
		return false, err
	}
	err = d.Record(&journal.Record{Kind: journal.KindDeleted, Deleted: &journal.Deleted{
		First: s.First, Last: s.Last, File: s.File, Digest: base64.StdEncoding.EncodeToString(s.Digest[:]), Reason: d.Reason,
	}})
	if err == nil {
		err = d.Sign(ctx)
	}
	if err == nil {
		err = remove(ctx, s.File)
	}
	return err == nil, err
}

// remove removes a file, for good.
func remove(ctx context.Context, path string) (err error) {
	dir := disk.Of(ctx)
	if dir == nil {
		if dir, err = disk.Open(filepath.Dir(path)); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, dir.Close()) }()
	}
	if err = dir.Remove(filepath.Base(path)); err == nil {
		err = dir.Sync(".")
	}
	return err
}
