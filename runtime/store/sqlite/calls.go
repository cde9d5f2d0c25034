package sqlite

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A CallFilter says which calls are wanted; what is empty matches all.
type CallFilter struct {
	Session    string
	Run        string
	Call       string
	Tool       string
	Prefix     bool      // Session, Run and Call are how the ids begin
	Since      time.Time // opened then or later
	Until      time.Time // opened before that
	Before     uint64    // first entry is before this one: to go on after the last row
	Unfinished bool      // opened and not ended
	Unresolved bool      // the outcome is unknown, and nothing has resolved it
	Limit      int       // at most so many; 0: 100
}

// afterAll is behind every text of SQLite, which compares bytes: no text in UTF-8 has this one.
const afterAll = "\xff"

// where returns the condition of a filter, and its arguments.
func (f *CallFilter) where() (where string, args []any) {
	where = "true"
	is := func(condition string, value any) {
		where += " AND " + condition
		args = append(args, value)
	}
	for _, c := range []struct {
		column, value string
		id            bool
	}{{"session", f.Session, true}, {"run", f.Run, true}, {"call", f.Call, true}, {"tool", f.Tool, false}} {
		switch {
		case c.value == "":
		case c.id && f.Prefix: // which also says where in an index such ids are
			is(c.column+" >= ?", c.value)
			is(c.column+" < ?", c.value+afterAll)
		default:
			is(c.column+" = ?", c.value)
		}
	}
	if !f.Since.IsZero() {
		is("opened_at >= ?", f.Since.UnixNano())
	}
	if !f.Until.IsZero() {
		is("opened_at < ?", f.Until.UnixNano())
	}
	if f.Before > 0 {
		is("first < ?", int64(f.Before))
	}
	if f.Unfinished {
		where += " AND " + unfinished
	}
	if f.Unresolved {
		where += " AND " + unresolved
	}
	return where, args
}

// A CallRow is a call as far as the index of its entries tells.
type CallRow struct {
	journal.CallKey
	Run, Tool              string
	First, Last            uint64 // its entries
	Kind                   string // of its last entry
	Opened, Started, Ended uint64 // the entries with these marks; 0: there is none
	OpenedAt, EndedAt      time.Time
}

// unfinished is the condition of the index call_unfinished.
const unfinished = "opened IS NOT NULL AND ended IS NULL"

// unresolved is the condition of the index call_unknown.
const unresolved = "unknown > 0"

// callColumns are the columns of a CallRow.
const callColumns = "first, session, call, run, tool, last, kind, opened, started, ended, opened_at, ended_at"

// defaultCalls is how many calls are listed without a limit.
const defaultCalls = 100

// Calls lists calls, the newest first.
func (r *reader) Calls(ctx context.Context, f CallFilter) (list []CallRow, err error) {
	where, args := f.where()
	if f.Limit <= 0 {
		f.Limit = defaultCalls
	}
	settled, since, err := r.since(ctx, f.Since)
	if err != nil {
		return nil, err
	}
	before, until, err := r.until(ctx, f.Until)
	if err != nil {
		return nil, err
	}
	places, named := f.places(where, args)
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var c CallRow
		var opened, started, ended, openedAt, endedAt sql.NullInt64
		err := rows.Scan(&c.First, &c.Session, &c.Call, &c.Run, &c.Tool, &c.Last, &c.Kind, &opened, &started, &ended, &openedAt, &endedAt)
		c.Opened, c.Started, c.Ended = uint64(opened.Int64), uint64(started.Int64), uint64(ended.Int64)
		c.OpenedAt, c.EndedAt = moment(openedAt), moment(endedAt)
		list = append(list, c)
		return err
	}, "SELECT * FROM (SELECT "+callColumns+" FROM call_settled WHERE "+where+settled+before+places+" ORDER BY first DESC LIMIT ?) UNION ALL SELECT "+callColumns+" FROM call_moving WHERE "+where+
		" ORDER BY first DESC LIMIT ?", slices.Concat(args, since, until, named, []any{f.Limit}, args, []any{f.Limit})...)
	return list, err
}

// partOf is how many entries a part of the index call_id has: the calls that begin there are sorted by their ids. With larger
// parts bringing the index up to date writes more pages, with smaller ones a query looks into more parts.
const partOf = 1 << 13

// places returns the condition that a call is one of those that a filter with where names by their ids alone, and its arguments.
// Where an index has their session or their run there is no condition.
func (f *CallFilter) places(where string, args []any) (string, []any) {
	if f.Call == "" || f.Session != "" || f.Run != "" {
		return "", nil
	}
	// The newest part is looked into first. The limit may leave out some of the last part that it reaches, and call_settled some
	// of what was found: f.Limit are left.
	return " AND first IN (" + byID + where + " LIMIT ?)", append(slices.Clone(args), f.Limit+partOf+indexEvery)
}

// byID is the query for the first entries of the calls of an id, without the condition on them.
const byID = `WITH RECURSIVE part(n) AS (SELECT max(first) >> 13 FROM call
  UNION ALL SELECT n - 1 FROM part WHERE n > (SELECT min(first) >> 13 FROM call) ORDER BY 1 DESC)
SELECT first FROM part CROSS JOIN call INDEXED BY call_id WHERE first >> 13 = n AND `

// since returns the condition under which calls of the table can have been opened since a time, and its
// argument. Clocks go back now and then, so the order of the times is not that of the calls. Where more
// calls than this looks at were opened since, there is no condition: a page meets enough of them at the
// newest end.
func (r *reader) since(ctx context.Context, at time.Time) (condition string, args []any, err error) {
	if at.IsZero() {
		return "", nil, nil
	}
	var n, first int64
	err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&n, &first) },
		"SELECT count(*), coalesce(min(first), 0) FROM (SELECT first FROM call WHERE opened_at >= ? ORDER BY opened_at DESC LIMIT ?)", at.UnixNano(), maxSince)
	switch {
	case err != nil || n == int64(maxSince):
		return "", nil, err
	case n == 0:
		first = math.MaxInt64
	}
	return " AND first >= ?", []any{first}, nil
}

// until is since for the calls that were opened before a time: a clock that went back by up to maxSince calls
// hides none of them.
func (r *reader) until(ctx context.Context, at time.Time) (condition string, args []any, err error) {
	if at.IsZero() {
		return "", nil, nil
	}
	var last int64
	err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&last) },
		"SELECT coalesce(max(first), 0) FROM (SELECT first FROM call WHERE opened_at < ? ORDER BY opened_at DESC LIMIT ?)", at.UnixNano(), maxSince)
	return " AND first <= ?", []any{last}, err
}

// maxSince is how many calls since looks at: at most two milliseconds. A test makes it small.
var maxSince = 10_000

// Unfinished returns the calls that have not ended. See [journal.Journal].
func (r *reader) Unfinished(ctx context.Context) (list []journal.CallKey, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var key journal.CallKey
		err := rows.Scan(&key.Session, &key.Call)
		list = append(list, key)
		return err
	}, "SELECT session, call FROM (SELECT * FROM call_settled WHERE "+unfinished+" UNION ALL SELECT * FROM call_moving WHERE "+unfinished+") ORDER BY opened")
	return list, err
}

// moment is a time as it was stored by nanos.
func moment(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.Unix(0, n.Int64).UTC()
}
