package sqlite

import (
	"context"
	"database/sql"
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
	Before     uint64    // first entry is before this one: to go on after the last row
	Unfinished bool      // opened and not ended
	Unsettled  bool      // ended, and the last entry does not say that the outcome is known: among them are all whose outcome is unknown
	Limit      int       // at most so many; 0: 100
}

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
		case c.id && f.Prefix:
			is("instr("+c.column+", ?) = 1", c.value)
		default:
			is(c.column+" = ?", c.value)
		}
	}
	if !f.Since.IsZero() {
		is("opened_at >= ?", f.Since.UnixNano())
	}
	if f.Before > 0 {
		is("first < ?", int64(f.Before))
	}
	if f.Unfinished {
		where += " AND " + unfinished
	}
	if f.Unsettled {
		where += " AND " + unsettled
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

// unsettled is the condition of the index call_unsettled. The last entry of a call whose outcome is unknown
// is of another kind than these.
const unsettled = "ended IS NOT NULL AND kind NOT IN ('tool.completed', 'tool.failed', 'tool.denied', 'tool.undone')"

// defaultCalls is how many calls are listed without a limit.
const defaultCalls = 100

// Calls lists calls, the newest first.
func (r *reader) Calls(ctx context.Context, f CallFilter) (list []CallRow, err error) {
	where, args := f.where()
	if f.Limit <= 0 {
		f.Limit = defaultCalls
	}
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var c CallRow
		var opened, started, ended, openedAt, endedAt sql.NullInt64
		err := rows.Scan(&c.First, &c.Session, &c.Call, &c.Run, &c.Tool, &c.Last, &c.Kind, &opened, &started, &ended, &openedAt, &endedAt)
		c.Opened, c.Started, c.Ended = uint64(opened.Int64), uint64(started.Int64), uint64(ended.Int64)
		c.OpenedAt, c.EndedAt = moment(openedAt), moment(endedAt)
		list = append(list, c)
		return err
	}, "SELECT * FROM (SELECT * FROM call_settled WHERE "+where+" ORDER BY first DESC LIMIT ?) UNION ALL SELECT * FROM call_moving WHERE "+where+
		" ORDER BY first DESC LIMIT ?", slices.Concat(args, []any{f.Limit}, args, []any{f.Limit})...)
	return list, err
}

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
