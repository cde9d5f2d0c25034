package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
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
		if list, err = unarchived(ctx, r, books, list); err != nil {
			return nil, err
		}
		if err := fold(ctx, r, books, list); err != nil {
			return nil, err
		}
	}
	return books, nil
}

// unarchived returns the requests of the sessions of which the store has all entries that are needed. The books of the other
// sessions are those of their snapshots, with the entries behind them (SEMANTICS 6.14.9).
func unarchived(ctx context.Context, r *sqlite.Reader, books *consent.Books, list []journal.Request) ([]journal.Request, error) {
	var archived *journal.ArchivedError
	if _, err := r.Read(ctx, 0, 1); !errors.As(err, &archived) {
		return list, nil // what is wrong with it is found where its entries are read
	}
	kept := map[string]bool{}
	for i := range list {
		if q := &list[i]; q.Asked() > archived.Last || kept[q.Session] {
			continue
		}
		kept[list[i].Session] = true
		if err := keptOf(ctx, r, books, list[i].Session); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list, func(q journal.Request) bool { return kept[q.Session] }), nil
}

// keptOf adds the book of a session as its latest snapshot has it, and what the entries behind that say. A session without
// a snapshot that is not archived has no request that is not: it adds none.
func keptOf(ctx context.Context, r *sqlite.Reader, books *consent.Books, session string) error {
	var of *journal.Snapshot
	var fault error
	var behind []*journal.Record // the last one first
	err := r.Back(ctx, session, math.MaxUint64, func(e *journal.Entry) bool {
		if of != nil && e.Seq <= of.Last {
			return false
		}
		var rec *journal.Record
		if rec, fault = Decode(e); fault != nil {
			return false
		}
		if of == nil && rec.Snapshot != nil {
			of = rec.Snapshot
		}
		behind = append(behind, rec)
		return true
	})
	var archived *journal.ArchivedError
	if errors.As(err, &archived) && of == nil {
		return nil
	}
	if err = cmp.Or(fault, err); err != nil && !errors.As(err, &archived) || of == nil {
		return err
	}
	if of.Book != nil {
		book, err := consent.Restore(nil, of.Book)
		if err != nil {
			return cmdutil.Problem(fmt.Sprintf("the snapshot of session %s: %v", cmdutil.Quote(session), err), "run \"ambit audit verify\"")
		}
		if session == "" {
			books.PutCommon(book)
		} else {
			books.Put(session, book)
		}
	}
	for _, rec := range slices.Backward(behind) {
		for i := range rec.Consent {
			if err := books.Continue(session, &rec.Consent[i]); err != nil {
				return cmdutil.Problem(err.Error(), "run \"ambit audit verify\"")
			}
		}
	}
	return nil
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
