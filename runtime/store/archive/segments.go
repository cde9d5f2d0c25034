package archive

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Segments reads the entries that were archived from a store, from the files to which they went. It implements [journal.Segments].
//
// It believes no file that is not the one which the store has the digest of, and opens a file for each read: calls whose entries are archived
// are seldom asked for.
type Segments struct{ Store Store }

// Entries returns the entries at some positions. The error wraps fs.ErrNotExist where the file is not there any more.
func (s Segments) Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error) {
	segments, err := s.Store.Segments(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]journal.Entry, 0, len(seqs))
	for _, seq := range seqs {
		e, err := entryOfSegments(ctx, segments, seq)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// read returns an entry.
func entryOfSegments(ctx context.Context, segments []journal.Segment, seq uint64) (journal.Entry, error) {
	for i := range segments {
		if s := &segments[i]; s.First <= seq && seq <= s.Last {
			return entryIn(ctx, s, seq, strconv.Quote(s.File))
		}
	}
	return journal.Entry{}, fmt.Errorf("entry %d is in no segment", seq)
}

// entryIn returns an entry of a segment, of the file that the store has archived alone. An error calls the file as it is named.
func entryIn(ctx context.Context, s *journal.Segment, seq uint64, named string) (e journal.Entry, err error) {
	f, err := openSegment(ctx, s.File)
	if err != nil {
		return e, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if f.Digest() != s.Digest {
		return e, fmt.Errorf("%s is not the segment of entries %d to %d that was archived", named, s.First, s.Last)
	}
	list, err := f.Read(ctx, seq-1, 1)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("%s has no entry %d", named, seq)
	}
	if err != nil {
		return e, err
	}
	return list[0], nil
}

// openSegment opens a segment.
func openSegment(ctx context.Context, path string) (*File, error) {
	if dir := disk.Of(ctx); dir != nil {
		return OpenOn(dir, path)
	}
	return Open(path)
}
