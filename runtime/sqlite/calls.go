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
	Unfinished bool // opened and not ended
	Limit      int  // at most so many; 0: 100
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

// defaultCalls is how many calls are listed without a limit.
const defaultCalls = 100

// Calls lists calls, the newest first.
func (r *reader) Calls(ctx context.Context, f CallFilter) (list []CallRow, err error) {
	where, args := "true", []any{}
	for _, c := range []struct{ column, value string }{{"session", f.Session}, {"run", f.Run}, {"call", f.Call}, {"tool", f.Tool}} {
		if c.value != "" {
			where += " AND " + c.column + " = ?"
			args = append(args, c.value)
		}
	}
	if f.Unfinished {
		where += " AND " + unfinished
	}
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
