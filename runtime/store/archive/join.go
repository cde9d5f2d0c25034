package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A Joined reads the entries of segments, and of a store those that they have not. Its methods are safe for
// concurrent use.
type Joined struct {
	store Reader
	files []*File // in order
}

// Join returns a reader of the entries of segments and of those that only a store has. An entry that both
// have must be the same in both, or reading ends with an [*Error] that names it: the segment, or the store, was changed or is
// another one's. It is the store's, with its private values. Entries that were archived and are in none of the files are named likewise.
//
// Join refuses segments of which two have the same entry, that are of different stores, or of which one does not
// continue the other although its first entry follows. It closes no file.
func Join(store Reader, files ...*File) (*Joined, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b *File) int { return cmp.Compare(a.header.First, b.header.First) })
	for i := 1; i < len(files); i++ {
		a, b := files[i-1], files[i]
		switch {
		case a.header.Store != b.header.Store || a.header.Origin != b.header.Origin:
			return nil, fmt.Errorf("the segments %q and %q are of different stores: give those of one", a.path, b.path)
		case b.header.First <= a.header.Last:
			return nil, fmt.Errorf("the segments %q and %q both have entry %d: give one of them", a.path, b.path, b.header.First)
		case b.header.First == a.header.Last+1 && b.header.Previous != nil && *b.header.Previous != a.digest:
			return nil, &Error{Path: b.path, First: b.header.First, Last: b.header.First, What: fmt.Sprintf("it continues another segment than %q", a.path)}
		}
	}
	return &Joined{store, files}, nil
}

// Files returns the segments, in the order of their entries.
func (j *Joined) Files() []*File { return slices.Clone(j.files) }

// Read returns the entries after a position. See [journal.Journal].
func (j *Joined) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	if limit <= 0 {
		return nil, nil
	}
	i := slices.IndexFunc(j.files, func(f *File) bool { return f.header.Last > after })
	if i < 0 {
		return j.beyond(ctx, after, limit, 0)
	}
	f := j.files[i]
	if f.header.First > after+1 {
		return j.beyond(ctx, after, int(min(uint64(limit), f.header.First-1-after)), f.header.First)
	}
	list, err := f.Read(ctx, after, limit)
	if len(list) == 0 {
		return nil, err
	}
	n, differs := j.compare(ctx, f, list)
	if differs != nil {
		return list[:n], differs
	}
	return list, err
}

// beyond reads entries that no segment has. next is the first one after them that a segment has; 0: none.
func (j *Joined) beyond(ctx context.Context, after uint64, limit int, next uint64) ([]journal.Entry, error) {
	list, err := j.store.Read(ctx, after, limit)
	var archived *journal.ArchivedError
	if errors.As(err, &archived) {
		last := archived.Last
		if next > 0 {
			last = min(last, next-1)
		}
		err = &MissingError{First: after + 1, Last: last, Err: err}
	}
	if err == nil && len(list) == 0 && next > 0 {
		err = fmt.Errorf("the store ends at entry %d, and a segment begins at entry %d: the segment is of another store, or the store was cut off", after, next)
	}
	return list, err
}

// compare compares entries of a segment with those of the store, if that still has them. It returns how many are
// the same, before the first one that differs.
func (j *Joined) compare(ctx context.Context, f *File, list []journal.Entry) (int, error) {
	have := 0
	for have < len(list) {
		own, err := j.store.Read(ctx, list[have].Seq-1, len(list)-have)
		var archived *journal.ArchivedError
		if errors.As(err, &archived) {
			if archived.Last < list[have].Seq {
				return have, err
			}
			have += int(min(uint64(len(list)-have), archived.Last-list[have].Seq+1))
			continue
		}
		if len(own) == 0 {
			if err == nil {
				err = &Error{Path: f.path, First: list[have].Seq, Last: list[have].Seq, What: "the store has no such entry: the segment is of another store, or the store was cut off"}
			}
			return have, err
		}
		for i := range own {
			if e := &list[have]; own[i].Seq != e.Seq || !bytes.Equal(own[i].Leaf, e.Leaf) {
				return have, &Error{Path: f.path, First: e.Seq, Last: e.Seq, What: "the store has another entry there: the segment is of another store, or one of the two was changed"}
			}
			list[have] = own[i] // which has its private values
			have++
		}
	}
	return have, nil
}

// A MissingError says that entries were archived, and that no segment that was given has them.
type MissingError struct {
	First, Last uint64
	Err         error // of the store
}

// Error names the entries.
func (e *MissingError) Error() string {
	return fmt.Sprintf("entries %d to %d are archived and in no segment that was given: add the segments that have them", e.First, e.Last)
}

// Unwrap returns what the store says.
func (e *MissingError) Unwrap() error { return e.Err }

// DamagedAt returns the position of the first missing entry.
func (e *MissingError) DamagedAt() uint64 { return e.First }
