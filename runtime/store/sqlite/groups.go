package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// A GroupRow is the calls of a session or of a run, as far as the index of the entries tells.
type GroupRow struct {
	Session string
	Run     string // empty for a session
	Calls   int
	First   uint64    // the first entry of its oldest call
	Newest  uint64    // the first entry of its newest call
	Began   time.Time // when the oldest call was made
	Latest  time.Time // when the newest call was made
}

// callsOf is the calls of one session, by the index of the sessions.
const callsOf = "(SELECT first, run FROM call_settled WHERE session = ?1 UNION ALL SELECT first, run FROM call_moving WHERE session = ?1)"

// Sessions lists at most limit sessions that have calls, in the order of their ids. after is the id of the
// last one of the page before; empty: from the first. It finds each session by one step in an index, and
// counts its calls in that index.
func (r *reader) Sessions(ctx context.Context, after string, limit int) (list []GroupRow, err error) {
	if limit <= 0 {
		limit = defaultCalls
	}
	var ids []string
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		ids = append(ids, id)
		return err
	}, `WITH RECURSIVE s(id) AS (
  SELECT min(session) FROM call WHERE session > ?1
  UNION ALL SELECT (SELECT min(session) FROM call WHERE session > s.id) FROM s WHERE s.id IS NOT NULL LIMIT ?2 + 1)
SELECT id FROM s WHERE id IS NOT NULL UNION SELECT session FROM call_news WHERE session > ?1 ORDER BY 1 LIMIT ?2`, after, limit)
	for _, id := range ids {
		if err == nil {
			err = r.groups(ctx, &list, "SELECT ?1, '', count(*), min(first), max(first) FROM "+callsOf, id)
		}
	}
	return list, err
}

// Runs lists at most limit runs of a session that have calls, the newest first. before is the First of the
// last one of the page before; 0: from the newest. It reads the calls of that session by an index.
func (r *reader) Runs(ctx context.Context, session string, before uint64, limit int) (list []GroupRow, err error) {
	if limit <= 0 {
		limit = defaultCalls
	}
	err = r.groups(ctx, &list, "SELECT ?1, run, count(*), min(first) AS began, max(first) FROM "+callsOf+
		" GROUP BY run HAVING ?2 = 0 OR began < ?2 ORDER BY began DESC LIMIT ?3", session, int64(before), limit)
	return list, err
}

// groups adds the rows of a query to a list, with their times.
func (r *reader) groups(ctx context.Context, list *[]GroupRow, query string, args ...any) error {
	begun := len(*list)
	err := r.rows(ctx, func(rows *sql.Rows) error {
		var g GroupRow
		err := rows.Scan(&g.Session, &g.Run, &g.Calls, &g.First, &g.Newest)
		*list = append(*list, g)
		return err
	}, query, args...)
	for i := begun; i < len(*list) && err == nil; i++ {
		g := &(*list)[i]
		if g.Began, err = r.at(ctx, g.First); err == nil {
			g.Latest, err = r.at(ctx, g.Newest)
		}
	}
	return err
}

// at returns the time of an entry.
func (r *reader) at(ctx context.Context, seq uint64) (at time.Time, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var n sql.NullInt64
		err := rows.Scan(&n)
		at = moment(n)
		return err
	}, "SELECT at FROM entry WHERE seq = ?", int64(seq))
	return at, err
}
