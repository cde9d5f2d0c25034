package audit

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/store"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// deletions are the entries that were read and say that a segment was deleted. A verification reads in two goroutines.
type deletions struct {
	mu   sync.Mutex
	said map[uint64]*journal.Deleted
}

// note adds those of a list. What cannot be read is found by the verification.
func (d *deletions) note(list []journal.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range list {
		if e := &list[i]; e.Kind == journal.KindDeleted {
			if rec, err := store.Decode(e); err == nil && rec.Deleted != nil {
				if d.said == nil {
					d.said = map[uint64]*journal.Deleted{}
				}
				d.said[e.Seq] = rec.Deleted
			}
		}
	}
}

// watch returns a reader of which d notes the entries.
func (d *deletions) watch(from audit.Reader) audit.Reader { return deleting{from, d} }

type deleting struct {
	audit.Reader
	d *deletions
}

// Read reads the journal.
func (r deleting) Read(ctx context.Context, after uint64, limit int) ([]journal.Entry, error) {
	list, err := r.Reader.Read(ctx, after, limit)
	r.d.note(list)
	return list, err
}

// hold holds d to the segments of a store, and says in a report which of these were deleted: those of which a
// proved entry says so (SEMANTICS 6.14.11). A proved entry about another segment is a fault. hold writes a note where files are
// neither there nor among those that were given, and no such entry says why.
func (d *deletions) hold(ctx context.Context, w io.Writer, report *audit.Report, r *sqlite.Reader, given []*archive.File) error {
	segments, err := r.Segments(ctx)
	if err != nil || report.Bad != nil {
		return err
	}
	recorded := make([]bool, len(segments))
	proved := max(report.Signed, report.Anchored, report.Authentic)
	for _, seq := range slices.Sorted(maps.Keys(d.said)) {
		if seq > proved {
			break
		}
		said := d.said[seq]
		i := slices.IndexFunc(segments, func(s journal.Segment) bool {
			return s.First == said.First && s.Last == said.Last && base64.StdEncoding.EncodeToString(s.Digest[:]) == said.Digest
		})
		if i < 0 {
			what := fmt.Sprintf("it says that a segment of entries %d to %d was deleted, and the store has archived none that has its digest", said.First, said.Last)
			report.Segment(audit.Span{}, &audit.Fault{Class: audit.ClassArchive, First: seq, Last: seq, What: what})
			return nil
		}
		recorded[i] = true
	}
	var lost []journal.Segment
	for i := range segments {
		s := &segments[i]
		switch here, err := there(s, given); {
		case err != nil:
			return err
		case recorded[i]:
			report.Deleted = append(report.Deleted, audit.Span{First: s.First, Last: s.Last})
		case !here:
			lost = append(lost, *s)
		}
	}
	if len(lost) > 0 {
		fmt.Fprintf(w, "note: no proved entry of those that were read says that %s was deleted, with entries %d to %d, and the file is not there",
			cmdutil.Quote(lost[0].File), lost[0].First, lost[0].Last)
		if more := len(lost) - 1; more > 0 {
			fmt.Fprintf(w, "; nor of %s after it", cmdutil.Count(more, "segment"))
		}
		fmt.Fprintln(w)
	}
	return nil
}

// there reports whether the file of a segment is where it was archived, or was given.
func there(s *journal.Segment, given []*archive.File) (bool, error) {
	if slices.ContainsFunc(given, func(f *archive.File) bool { return f.Header().First == s.First }) {
		return true, nil
	}
	_, err := os.Stat(s.File)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
