package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/runtime/consent"
	"github.com/ambit-tools/ambit/runtime/sqlite"
)

// Every verb takes the id of a call, a run, a session, a request or a grant whole or
// cut, as long as only one begins so. An id that is whole is preferred.

// callID names the one call that a verb is about: by the argument of the verb, or
// with --call.
type callID struct{ session, call string }

func (c *callID) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.call, "call", "", "`id` of the call, or how it begins")
	cmd.Flags().StringVar(&c.session, "session", "", sessionUse)
}

const sessionUse = "`id` of its session, or how it begins; needed when another one has a call of that id"

// named returns the id that was given as the argument, or with the flag.
func (c *callID) named(cmd *cobra.Command, args []string) (string, error) {
	typed := append(slices.Clone(args), nonEmpty(c.call)...)
	if len(typed) != 1 || typed[0] == "" {
		return "", usage(quote(cmd.CommandPath())+" takes the id of a call", "add --call ID")
	}
	return typed[0], nil
}

// findCall returns the call of an id, or the only one whose id begins so. The
// session is needed where several have such a call.
func findCall(ctx context.Context, r *sqlite.Reader, session, call string) (sqlite.CallRow, error) {
	rows, err := findRows(ctx, r, sqlite.CallFilter{Session: session, Call: call})
	if err != nil {
		return sqlite.CallRow{}, err
	}
	return onlyCall(rows, session, call)
}

// findRun is findCall for a call of a run.
func findRun(ctx context.Context, r *sqlite.Reader, session, run string) (sqlite.CallRow, error) {
	rows, err := findRows(ctx, r, sqlite.CallFilter{Session: session, Run: run})
	if err != nil {
		return sqlite.CallRow{}, err
	}
	return only(rows, "run", run, session, func(c *sqlite.CallRow) string { return c.Run })
}

// onlyCall returns the call that rows, which begin as was typed, are about.
func onlyCall(rows []sqlite.CallRow, session, call string) (sqlite.CallRow, error) {
	return only(rows, "call", call, session, func(c *sqlite.CallRow) string { return c.Call })
}

// findRows returns the rows of ids, or those of ids that begin so.
func findRows(ctx context.Context, r *sqlite.Reader, f sqlite.CallFilter) ([]sqlite.CallRow, error) {
	f.Limit = step
	rows, err := r.Calls(ctx, f)
	if err == nil && len(rows) == 0 {
		f.Prefix = true
		rows, err = r.Calls(ctx, f)
	}
	if err != nil {
		return nil, problem(err.Error(), "")
	}
	return rows, nil
}

func only(rows []sqlite.CallRow, what, typed, session string, id func(*sqlite.CallRow) string) (sqlite.CallRow, error) {
	rows = narrowed(rows,
		func(c *sqlite.CallRow) bool { return c.Session == session },
		func(c *sqlite.CallRow) bool { return id(c) == typed })
	if err := ambiguous(what, typed, idsOf(rows, id)); err != nil {
		return sqlite.CallRow{}, err
	}
	if len(rows) > 0 {
		typed = id(&rows[0])
	}
	return theOnly(rows, what+" "+quote(typed), session)
}

// narrowed returns those of a list that meet the first condition, unless none does,
// and of these the ones that meet the next: an id that is whole is preferred to ids
// that begin so.
func narrowed[T any](list []T, conditions ...func(*T) bool) []T {
	for _, meets := range conditions {
		if left := slices.DeleteFunc(slices.Clone(list), func(x T) bool { return !meets(&x) }); len(left) > 0 {
			list = left
		}
	}
	return list
}

// theOnly returns the first of the rows, which are of one session.
func theOnly(rows []sqlite.CallRow, what, session string) (sqlite.CallRow, error) {
	switch {
	case len(rows) == 0 && session != "":
		return sqlite.CallRow{}, problem("there is no "+what+" in session "+quote(session), "\"ambit calls list\" lists the calls")
	case len(rows) == 0:
		return sqlite.CallRow{}, problem("there is no "+what, "\"ambit calls list\" lists the calls")
	}
	for _, row := range rows[1:] {
		if row.Session != rows[0].Session {
			return row, usage("there is a "+what+" in session "+quote(row.Session)+" and in session "+quote(rows[0].Session), "add --session ID")
		}
	}
	return rows[0], nil
}

// ambiguous is the error of an id that is cut too short; nil when only one begins so.
func ambiguous(what, typed string, ids []string) error {
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	if len(ids) < 2 {
		return nil
	}
	return usage(fmt.Sprintf("%s begin with %s, such as %s and %s", count(len(ids), what), quote(typed), quote(ids[0]), quote(ids[1])), "type more of it")
}

// idsOf returns what id says of each of a list.
func idsOf[T any](list []T, id func(*T) string) []string {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = id(&list[i])
	}
	return ids
}

// findRequest returns the request of an id, or the only one whose id begins so. An
// open request is preferred to one that has ended.
func findRequest(book *consent.Book, typed string) (consent.Request, error) {
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
	return consent.Request{}, problem("there is no request "+quote(typed), "\"ambit approvals list\" lists those that wait for answers")
}

// requestOf returns the latest request about a call.
func requestOf(book *consent.Book, session, call string) (found consent.Request, err error) {
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
			return q, usage("there is a call "+quote(q.CallID)+" in session "+quote(found.Session)+" and in session "+quote(q.Session), "add --session ID")
		}
		found = q
	}
	if found.ID == "" {
		return found, problem("nobody was asked about a call "+quote(call), "\"ambit approvals list\" lists what waits for answers")
	}
	return found, nil
}

// findGrant returns the id of the only grant whose id begins as was typed. One that
// this store does not hold is for the executor to refuse: the grant may be new.
func findGrant(book *consent.Book, typed string) (string, error) {
	ids := idsOf(book.Grants(), func(g *consent.Grant) string { return g.ID })
	found := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, typed) })
	if len(found) == 0 || slices.Contains(found, typed) {
		return typed, nil
	}
	return found[0], ambiguous("grant", typed, found)
}
