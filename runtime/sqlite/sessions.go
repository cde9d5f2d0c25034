package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// backStep is how many entries Back reads at once.
const backStep = 256

// Back calls f with the entries of a session, the last one first. See [journal.Journal]. There is no index of
// entries by session yet: it steps over those of all others.
func (r *reader) Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error {
	before = min(before, math.MaxInt64)
	for {
		list, err := r.entries(ctx, "SELECT "+entryColumns+" WHERE e.session = ? AND e.seq < ? ORDER BY e.seq DESC LIMIT ?", session, int64(before), backStep)
		for i := range list {
			if before = list[i].Seq; !f(&list[i]) {
				return nil
			}
		}
		if err != nil || len(list) < backStep {
			return err
		}
	}
}

// Entries returns the entries at positions. See [journal.Journal].
func (r *reader) Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error) {
	asked, err := json.Marshal(seqs)
	if err != nil {
		return nil, err
	}
	found, err := r.entries(ctx, "SELECT "+entryColumns+" WHERE e.seq IN (SELECT value FROM json_each(?)) ORDER BY e.seq", string(asked))
	if err != nil {
		return nil, err
	}
	at := make(map[uint64]int, len(found))
	for i := range found {
		at[found[i].Seq] = i
	}
	list := make([]journal.Entry, 0, len(seqs))
	for _, seq := range seqs {
		i, ok := at[seq]
		if !ok {
			return nil, fmt.Errorf("read %q: entry %d: %w", r.path, seq, journal.ErrNoEntry)
		}
		list = append(list, found[i])
	}
	return list, nil
}

// Open returns the sessions in which a call or an undo has not ended. See [journal.Journal].
func (r *reader) Open(ctx context.Context) (list []string, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var session string
		err := rows.Scan(&session)
		list = append(list, session)
		return err
	}, "SELECT session FROM call_settled WHERE "+unfinished+" UNION SELECT session FROM call_moving WHERE "+unfinished+
		` UNION SELECT session FROM entry WHERE mark >= 4 AND call <> '' GROUP BY session, call
  HAVING max(CASE mark WHEN 4 THEN seq END) > coalesce(max(CASE mark WHEN 5 THEN seq END), 0) ORDER BY session`)
	return list, err
}
