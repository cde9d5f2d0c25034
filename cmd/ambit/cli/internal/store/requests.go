package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// Books returns the requests that a filter matches, and the grants that came of them, as the entries about them
// tell. The index of requests says where these are: an entry that says nothing of the request is an error.
func Books(ctx context.Context, r *sqlite.Reader, f journal.RequestFilter) (*consent.Books, error) {
	found, err := r.Requests(ctx, f)
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
	}
	retired, err := retirements(ctx, r, found)
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
	}
	books := consent.NewBooks(nil) // the key is for judging, which happens elsewhere
	for _, list := range [][]journal.Request{retired, found} {
		if err := fold(ctx, r, books, list); err != nil {
			return nil, err
		}
	}
	return books, nil
}

// retirements returns where entries say that rules were retired, if requests have grants.
func retirements(ctx context.Context, r *sqlite.Reader, found []journal.Request) ([]journal.Request, error) {
	granted := func(q journal.Request) bool { given, _ := q.Granted(); return given }
	if !slices.ContainsFunc(found, granted) {
		return nil, nil
	}
	return r.Requests(ctx, journal.RequestFilter{Retired: true})
}

// A share is what an entry is read for: of these requests.
type share map[uint64][]*journal.Request

// fold adds what the entries of requests say of them.
func fold(ctx context.Context, r *sqlite.Reader, books *consent.Books, list []journal.Request) error {
	of := share{}
	for i := range list {
		for _, seq := range list[i].Entries() {
			of[seq] = append(of[seq], &list[i])
		}
	}
	seqs := make([]uint64, 0, len(of))
	for seq := range of {
		seqs = append(seqs, seq)
	}
	slices.Sort(seqs)
	for part := range slices.Chunk(seqs, PageSize) {
		entries, err := r.Entries(ctx, part...)
		if err != nil {
			return cmdutil.Problem(err.Error(), "run \"ambit audit verify\"")
		}
		for i := range entries {
			if err := of.add(r, books, &entries[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds what an entry says of the requests that it is read for.
func (s share) add(r *sqlite.Reader, books *consent.Books, e *journal.Entry) error {
	rec, err := Decode(e)
	if err != nil {
		return err
	}
	said := map[string]bool{} // by id
	for i := range rec.Consent {
		c := &rec.Consent[i]
		id, ok := journal.RequestOf(c)
		if !ok || !slices.ContainsFunc(s[e.Seq], func(q *journal.Request) bool { return q.ID == id && q.Session == e.Session }) {
			continue
		}
		said[id] = true
		if err := books.Continue(e.Session, c); err != nil {
			return cmdutil.Problem(fmt.Sprintf("entry %d: %v", e.Seq, err), "run \"ambit audit verify\"")
		}
	}
	for _, q := range s[e.Seq] {
		if !said[q.ID] || q.Session != e.Session {
			wrong := &sqlite.IndexError{Path: r.Path(), Seq: e.Seq, What: fmt.Sprintf("it says that the entry tells of request %q of session %q", q.ID, q.Session)}
			return cmdutil.Problem(wrong.Error(), "run \"ambit audit verify\"")
		}
	}
	return nil
}
