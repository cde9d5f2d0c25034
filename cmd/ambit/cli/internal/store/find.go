package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// Every verb takes the id of a call, a run, a session, a request or a grant whole or
// cut, as long as only one begins so. An id that is whole is preferred.

// CallID names the one call that a verb is about: by the argument of the verb, or
// with --call.
type CallID struct{ Session, Call string }

// AddFlags adds the flags that name a call to cmd.
func (c *CallID) AddFlags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.Call, "call", "", "`id` of the call, or how it begins")
	cmd.Flags().StringVar(&c.Session, "session", "", SessionUsage)
}

// SessionUsage is the usage of --session.
const SessionUsage = "`id` of its session, or how it begins; needed when another one has a call of that id"

// Typed returns the id that was given as the argument, or with the flag.
func (c *CallID) Typed(cmd *cobra.Command, args []string) (string, error) {
	typed := append(slices.Clone(args), cmdutil.NonEmpty(c.Call)...)
	if len(typed) != 1 || typed[0] == "" {
		return "", cmdutil.Usage(cmdutil.Quote(cmd.CommandPath())+" takes the id of a call", "add --call ID")
	}
	return typed[0], nil
}

// FindCall returns the call of an id, or the only one whose id begins so. The
// session is needed where several have such a call.
func FindCall(ctx context.Context, r *sqlite.Reader, session, call string) (sqlite.CallRow, error) {
	rows, err := FindCalls(ctx, r, session, call)
	if err != nil {
		return sqlite.CallRow{}, err
	}
	return OnlyCall(rows, session, call)
}

// FindCalls returns the calls of an id, or those whose ids begin so.
func FindCalls(ctx context.Context, r *sqlite.Reader, session, call string) ([]sqlite.CallRow, error) {
	return findRows(ctx, r, sqlite.CallFilter{Session: session, Call: call})
}

// FindRun is FindCall for a call of a run.
func FindRun(ctx context.Context, r *sqlite.Reader, session, run string) (sqlite.CallRow, error) {
	rows, err := findRows(ctx, r, sqlite.CallFilter{Session: session, Run: run})
	if err != nil {
		return sqlite.CallRow{}, err
	}
	return only(rows, "run", run, session, func(c *sqlite.CallRow) string { return c.Run })
}

// OnlyCall returns the call that rows, which begin as was typed, are about.
func OnlyCall(rows []sqlite.CallRow, session, call string) (sqlite.CallRow, error) {
	return only(rows, "call", call, session, func(c *sqlite.CallRow) string { return c.Call })
}

// findRows returns the rows of ids, or those of ids that begin so.
func findRows(ctx context.Context, r *sqlite.Reader, f sqlite.CallFilter) ([]sqlite.CallRow, error) {
	f.Limit = PageSize
	rows, err := r.Calls(ctx, f)
	if err == nil && len(rows) == 0 {
		f.Prefix = true
		rows, err = r.Calls(ctx, f)
	}
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
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
	return theOnly(rows, what+" "+cmdutil.Quote(typed), session)
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
		return sqlite.CallRow{}, cmdutil.Problem("there is no "+what+" in session "+cmdutil.Quote(session), "\"ambit calls list\" lists the calls")
	case len(rows) == 0:
		return sqlite.CallRow{}, cmdutil.Problem("there is no "+what, "\"ambit calls list\" lists the calls")
	}
	for _, row := range rows[1:] {
		if row.Session != rows[0].Session {
			return row, cmdutil.Usage("there is a "+what+" in session "+cmdutil.Quote(row.Session)+" and in session "+cmdutil.Quote(rows[0].Session), "add --session ID")
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
	return cmdutil.Usage(fmt.Sprintf("%s begin with %s, such as %s and %s", cmdutil.Count(len(ids), what), cmdutil.Quote(typed), cmdutil.Quote(ids[0]), cmdutil.Quote(ids[1])), "type more of it")
}

// idsOf returns what id says of each of a list.
func idsOf[T any](list []T, id func(*T) string) []string {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = id(&list[i])
	}
	return ids
}
