package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/segment"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// Segments reads the entries that were archived from a store, from the files to which they went. It implements [journal.Segments].
//
// It believes no file that is not the one which the store has the digest of, and opens a file for each read: calls whose entries are archived
// are seldom asked for.
type Segments struct{ Store *sqlite.Store }

// Entries returns the entries at some positions. The error wraps fs.ErrNotExist where the file is not there any more.
func (s Segments) Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error) {
	segments, err := s.Store.Segments(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]journal.Entry, 0, len(seqs))
	for _, seq := range seqs {
		e, err := read(ctx, segments, seq)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

// read returns an entry.
func read(ctx context.Context, segments []sqlite.Segment, seq uint64) (e journal.Entry, err error) {
	for i := range segments {
		if seq < segments[i].First || seq > segments[i].Last {
			continue
		}
		f, err := open(ctx, segments[i].File)
		if err != nil {
			return e, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		if f.Digest() != segments[i].Digest {
			return e, fmt.Errorf("%q is not the segment of entries %d to %d that was archived", segments[i].File, segments[i].First, segments[i].Last)
		}
		list, err := f.Read(ctx, seq-1, 1)
		if err != nil {
			return e, err
		}
		return list[0], nil
	}
	return e, fmt.Errorf("entry %d is in no segment", seq)
}

// open opens a segment.
func open(ctx context.Context, path string) (*segment.File, error) {
	if dir := disk.Of(ctx); dir != nil {
		return segment.OpenOn(dir, path)
	}
	return segment.Open(path)
}
