package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// FindRequest returns the request of an id, or the only one whose id begins so. An
// open request is preferred to one that has ended.
func FindRequest(ctx context.Context, r *sqlite.Reader, typed string) (consent.Request, error) {
	book := consent.NewBooks(nil)
	for _, f := range []journal.RequestFilter{{ID: typed}, {ID: typed, Prefix: true, Waiting: true}, {ID: typed, Prefix: true}} {
		var err error
		if book, err = Books(ctx, r, f); err != nil {
			return consent.Request{}, err
		}
		if len(book.Requests()) > 0 {
			break
		}
	}
	return requestIn(book, typed)
}

// requestIn is FindRequest in a book.
func requestIn(book *consent.Books, typed string) (consent.Request, error) {
	if q, ok := book.Request(typed); ok {
		return q, nil
	}
	for _, list := range [][]consent.Request{book.Open(), book.Requests()} {
		found := slices.DeleteFunc(list, func(q consent.Request) bool { return !strings.HasPrefix(q.ID, typed) })
		if err := ambiguous("request", typed, idsOf(found, func(q *consent.Request) string { return q.ID })); err != nil {
			return consent.Request{}, err
		}
		if len(found) > 0 {
			return found[0], nil
		}
	}
	return consent.Request{}, cmdutil.Problem("there is no request "+cmdutil.Quote(typed), "\"ambit approvals list\" lists those that wait for answers")
}

// PlaceOfRequest returns the position at which the request of an id that may be cut was made.
func PlaceOfRequest(ctx context.Context, r *sqlite.Reader, typed string) (id string, at uint64, err error) {
	q, err := FindRequest(ctx, r, typed)
	if err != nil {
		return "", 0, err
	}
	list, err := r.Requests(ctx, journal.RequestFilter{ID: q.ID, Session: q.Session})
	if err != nil || len(list) == 0 {
		return "", 0, cmdutil.Problem(fmt.Sprintf("the index has no request %s any more: %v", cmdutil.Quote(q.ID), err), "run \"ambit audit verify\"")
	}
	return q.ID, list[0].Asked(), nil
}

// FindRequestOfCall returns the latest request about a call.
func FindRequestOfCall(ctx context.Context, r *sqlite.Reader, session, call string) (consent.Request, error) {
	book, err := Books(ctx, r, journal.RequestFilter{Session: session, Call: call, Prefix: true})
	if err != nil {
		return consent.Request{}, err
	}
	return requestOfCall(book, session, call)
}

// requestOfCall is FindRequestOfCall in a book.
func requestOfCall(book *consent.Books, session, call string) (found consent.Request, err error) {
	list := slices.DeleteFunc(book.Requests(), func(q consent.Request) bool {
		return !strings.HasPrefix(q.CallID, call) || !strings.HasPrefix(q.Session, session)
	})
	list = narrowed(list,
		func(q *consent.Request) bool { return q.Session == session },
		func(q *consent.Request) bool { return q.CallID == call })
	if err := ambiguous("call", call, idsOf(list, func(q *consent.Request) string { return q.CallID })); err != nil {
		return found, err
	}
	for _, q := range list {
		if found.ID != "" && found.Session != q.Session {
			return q, cmdutil.Usage("there is a call "+cmdutil.Quote(q.CallID)+" in session "+cmdutil.Quote(found.Session)+" and in session "+cmdutil.Quote(q.Session), "add --session ID")
		}
		found = q
	}
	if found.ID == "" {
		return found, cmdutil.Problem("nobody was asked about a call "+cmdutil.Quote(call), "\"ambit approvals list\" lists what waits for answers")
	}
	return found, nil
}

// FindGrant returns the id of the only grant whose id begins as was typed. One that
// this store does not hold is for the executor to refuse: the grant may be new.
func FindGrant(ctx context.Context, r *sqlite.Reader, typed string) (string, error) {
	book, err := Books(ctx, r, journal.RequestFilter{ID: typed, Prefix: true, Granted: true})
	if err != nil {
		return "", err
	}
	ids := idsOf(book.Grants(), func(g *consent.Grant) string { return g.ID })
	found := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, typed) })
	if len(found) == 0 || slices.Contains(found, typed) {
		return typed, nil
	}
	return found[0], ambiguous("grant", typed, found)
}
