package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// Segments are files with archived entries of a store.
type Segments struct {
	names []string
}

// AddFlag adds the flag that names them to cmd.
func (s *Segments) AddFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.names, "segment", nil, "`file` of archived entries; may be repeated")
}

// Any reports whether one was named.
func (s *Segments) Any() bool { return len(s.names) > 0 }

// A Reader reads a journal.
type Reader interface {
	Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error)
}

// With calls f with a reader of the entries of the segments and of those that only the store has, and with
// the segments in the order of their entries. Without segments the reader is the store.
func (s *Segments) With(ctx context.Context, r *sqlite.Reader, f func(Reader, []*archive.File) error) (err error) {
	joined, err := s.Open(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(NameSegment(err), joined.Close()) }()
	return f(joined.Reader, joined.files) // the store itself, where none was named
}

// NameSegment gives an error about entries that are archived the flag that reads them.
func NameSegment(err error) error {
	archived := (*journal.ArchivedError)(nil)
	if !errors.As(err, &archived) {
		return err
	}
	return cmdutil.Problem(err.Error(), "add --segment with each file that has archived entries: --segment "+cmp.Or(archived.Segment, "FILE"))
}

// A Joined reads segments and a store.
type Joined struct {
	Reader
	files []*archive.File
}

// Close closes the segments.
func (j *Joined) Close() error {
	var errs []error
	for _, file := range j.files {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}

// Open opens the segments of a store. They must be closed before it.
func (s *Segments) Open(ctx context.Context, r *sqlite.Reader) (*Joined, error) {
	j := &Joined{Reader: r}
	if len(s.names) == 0 {
		return j, nil
	}
	err := s.join(ctx, r, j)
	if err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

// join opens the segments and joins them with the store.
func (s *Segments) join(ctx context.Context, r *sqlite.Reader, j *Joined) error {
	id, err := r.ID(ctx)
	if err != nil {
		return err
	}
	archived, err := r.Segments(ctx)
	if err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	for _, name := range s.names {
		file, err := archive.Open(name)
		if err != nil {
			return cmdutil.Problem(err.Error(), "name a segment of this store, as it was archived")
		}
		j.files = append(j.files, file)
		h := file.Header()
		what := fmt.Sprintf("the segment %s with entries %d to %d ", cmdutil.Quote(name), h.First, h.Last)
		if h.Store != id {
			return cmdutil.Problem(what+"is of the store "+h.Store+", and "+cmdutil.Quote(r.Path())+" is the store "+id, "name a segment of this store")
		}
		if !recorded(archived, file) {
			return cmdutil.Problem(what+"is not one that was archived from the store: its digest is not that which the store has of these entries", "name a segment of this store, as it was archived")
		}
	}
	joined, err := archive.Join(r, j.files...)
	if err != nil {
		return cmdutil.Problem(err.Error(), "")
	}
	j.Reader, j.files = joined, joined.Files()
	return nil
}

// recorded reports whether a segment is one of those of a store (SEMANTICS 6.14.8). One of entries that the store still has needs not be: these are
// compared one by one.
func recorded(archived []journal.Segment, file *archive.File) bool {
	h := file.Header()
	if n := len(archived); n == 0 || archived[n-1].Last < h.First {
		return true
	}
	return slices.ContainsFunc(archived, func(s journal.Segment) bool {
		return s.First == h.First && s.Last == h.Last && s.Digest == file.Digest()
	})
}
