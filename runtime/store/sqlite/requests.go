package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// A requestChange is what an entry says of a request.
type requestChange struct {
	seq     uint64
	session string
	journal.RequestChange
}

// requestsOf returns what entries say of requests.
func requestsOf(entries []journal.Entry) (list []requestChange) {
	for i := range entries {
		e := &entries[i]
		for _, c := range journal.RequestChanges(e) {
			list = append(list, requestChange{e.Seq, e.Session, c})
		}
	}
	return list
}

const requestColumns = "id, session, call, asked, steps, used, expires, until"

// indexRequests adds changes to the table request, in the transaction of their entries.
func (w *writer) indexRequests(changes []requestChange) error {
	for i := range changes {
		c := &changes[i]
		if c.What == journal.GrantUsed {
			if n, err := w.c.exec("UPDATE request SET used = ? WHERE id = ? AND session = ? AND steps <> ''", int64(c.seq), c.ID, c.session); n > 0 || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		row, err := w.c.row("SELECT "+requestColumns+" FROM request WHERE id = ? AND session = ?", c.ID, c.session)
		if err != nil {
			return err
		}
		r := journal.Request{Session: c.session, ID: c.ID}
		if row != nil {
			if err := readRequest(&r, row); err != nil {
				return fmt.Errorf("request %q: %w", c.ID, err)
			}
		}
		r.Add(c.seq, &c.RequestChange)
		if _, err := w.c.exec("INSERT OR REPLACE INTO request VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", requestRow(&r)...); err != nil {
			return err
		}
	}
	return nil
}

// requestRow returns the row of a request.
func requestRow(r *journal.Request) []driver.Value {
	var open int64
	if r.Open() {
		open = 1
	}
	var live driver.Value
	if granted, alive := r.Granted(); alive {
		live = int64(1)
	} else if granted {
		live = int64(0)
	}
	return []driver.Value{r.ID, r.Session, r.Call, int64(r.Asked()), stepsText(r.Steps), int64(r.Used), instant(r.Expires), instant(r.Until), open, live}
}

// never is how a time is stored that does not come.
const never = math.MaxInt64

// instant is a time as it is stored; zero: never.
func instant(t time.Time) int64 {
	switch {
	case t.IsZero() || t.Year() > 2261:
		return never
	case t.Year() < 1678:
		return math.MinInt64
	}
	return t.UnixNano()
}

// ofInstant is the time that instant has stored.
func ofInstant(n int64) time.Time {
	if n == never {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// stepsText writes the entries of a request: each position with what the entry changes behind it.
func stepsText(steps []journal.RequestStep) string {
	var text []byte
	for _, s := range steps {
		text = append(strconv.AppendUint(text, s.Seq, 10), byte(s.What))
	}
	return string(text)
}

// parseSteps reads what stepsText has written.
func parseSteps(text string) (steps []journal.RequestStep, err error) {
	for from, i := 0, 0; i < len(text); i++ {
		if text[i] >= '0' && text[i] <= '9' {
			continue
		}
		seq, err := strconv.ParseUint(text[from:i], 10, 63)
		if err != nil {
			return nil, fmt.Errorf("its index is no list of entries: %w", err)
		}
		steps, from = append(steps, journal.RequestStep{Seq: seq, What: journal.What(text[i])}), i+1
	}
	return steps, nil
}

// readRequest reads the columns of a row.
func readRequest(r *journal.Request, row []driver.Value) (err error) {
	var steps string
	var asked, used, expires, until int64
	ok := true
	for i, to := range []any{&r.ID, &r.Session, &r.Call, &asked, &steps, &used, &expires, &until} {
		switch to := to.(type) {
		case *string:
			*to, ok = row[i].(string)
		case *int64:
			*to, ok = row[i].(int64)
		}
		if !ok {
			return fmt.Errorf("its index has %T in column %d", row[i], i+1)
		}
	}
	r.Used, r.Expires, r.Until = uint64(used), ofInstant(expires), ofInstant(until)
	r.Steps, err = parseSteps(steps)
	return err
}

// scanRequest reads a row of requestColumns, of which asked is one, and of others behind them.
func scanRequest(rows *sql.Rows, asked *uint64, others ...any) (q journal.Request, err error) {
	row := make([]driver.Value, 8)
	to := make([]any, len(row), len(row)+len(others))
	for i := range row {
		to[i] = &row[i]
	}
	if err := rows.Scan(append(to, others...)...); err != nil {
		return q, err
	}
	if n, ok := row[3].(int64); ok {
		*asked = uint64(n)
	}
	return q, readRequest(&q, row)
}

// requestWhere returns the condition of a filter, its arguments and the order of the rows. SQLite does not look for
// what has a plus sign in an index: those of an answer are in that of the other condition.
func requestWhere(f *journal.RequestFilter) (where string, args []any, order string) {
	if f.Retired {
		return "id = ''", nil, "+asked"
	}
	order = "+asked"
	if !f.Waiting && !f.Granted && !f.Live && f.ID == "" && f.Call == "" {
		order = "asked"
	}
	where, args = order+" < ?", []any{int64(min(cmp.Or(f.Before, math.MaxInt64), math.MaxInt64))}
	is := func(condition string, value ...any) {
		where += " AND " + condition
		args = append(args, value...)
	}
	for _, c := range []struct{ column, begin string }{{"id", f.ID}, {"session", f.Session}, {"call", f.Call}} {
		switch {
		case c.begin == "":
		case f.Prefix:
			is(c.column+" >= ?", c.begin)
			is(c.column+" < ?", c.begin+afterAll)
		default:
			is(c.column+" = ?", c.begin)
		}
	}
	at := instant(f.At)
	if f.At.IsZero() {
		at = math.MinInt64
	}
	is("id <> ''")
	if f.Waiting {
		is("open = 1 AND expires > ?", at)
	}
	if f.Ended {
		is("(open = 0 OR expires <= ?)", at)
	}
	if f.Granted {
		is("live IS NOT NULL")
	}
	if f.Live {
		is("live = 1 AND until > ?", at)
	}
	return where, args, order
}

// Requests returns the requests that a filter matches, by an index that a process without the keys can change. See
// [journal.Requester].
func (r *reader) Requests(ctx context.Context, f journal.RequestFilter) (list []journal.Request, err error) {
	where, args, order := requestWhere(&f)
	limit := int64(math.MaxInt64)
	if f.Limit > 0 {
		limit = int64(f.Limit)
	}
	err = r.rows(ctx, func(rows *sql.Rows) error {
		q, err := scanRequest(rows, new(uint64))
		if err != nil {
			return &IndexError{r.path, q.Asked(), err.Error()}
		}
		list = append(list, q)
		return nil
	}, "SELECT "+requestColumns+" FROM request WHERE "+where+" ORDER BY "+order+" DESC, id DESC LIMIT ?", append(args, limit)...)
	return list, err
}
