package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// backStep is how many entries Back reads at once at first, and maxBackStep at most.
const (
	backStep    = 8
	maxBackStep = 256
)

// backFrom calls f with the entries of a session before a position, the last one first. at is the step to the
// last of all. Where before, or the position before it, has an entry of the session, it begins there.
func (r *reader) backFrom(ctx context.Context, session string, before uint64, at walkStep, f func(*journal.Entry) bool) error {
	if before <= at.seq {
		if next, ok := r.stepBefore(ctx, session, before); ok {
			at = next
		}
	}
	return r.walk(ctx, session, at, func(e *journal.Entry) bool { return e.Seq >= before || f(e) })
}

// stepBefore returns the step to the last entry of a session before a position, if one look shows it.
func (r *reader) stepBefore(ctx context.Context, session string, before uint64) (walkStep, bool) {
	if before > 0 {
		if e, next, err := r.stepAt(ctx, before); err == nil && e.Session == session {
			return next, true
		}
	}
	if before > 1 {
		if e, _, err := r.stepAt(ctx, before-1); err == nil && e.Session == session {
			return walkStep{seq: before - 1}, true
		}
	}
	return walkStep{}, false
}

// walk calls f with the entries of a session from that of a step on, the last one first.
func (r *reader) walk(ctx context.Context, session string, at walkStep, f func(*journal.Entry) bool) error {
	for n := backStep; at.seq > 0; n = min(2*n, maxBackStep) {
		if r.shut.Load() {
			return fmt.Errorf("read %q: %w", r.path, journal.ErrClosed)
		}
		list, err := r.back(ctx, session, &at, n)
		for i := range list {
			if !f(&list[i]) {
				return nil
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, chain.ErrMAC):
			return r.first(ctx, r.forged(at.seq, whatSession))
		case errors.Is(err, errArchived), errors.Is(err, errMissing), damaged(err):
			if err := r.absent(ctx, at.seq, err); err != nil {
				return err
			}
			return &CorruptError{Path: r.path, Readable: at.seq - 1, Damaged: at.seq, Cause: err}
		default:
			return fmt.Errorf("read %q: %w", r.path, err)
		}
	}
	return nil
}

// Back calls f with the entries of a session, the last one first. See [journal.Journal]. With keys it verifies
// them as [Store.Back] does. Without them it goes by an index that a process without the keys can change.
func (r *Reader) Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error {
	end := r.end
	if r.secret != nil {
		end = r.provedEnd
	}
	at, err := end(ctx, session)
	if err != nil {
		return err
	}
	return r.backFrom(ctx, session, before, at, f)
}

// end returns the step to the last entry of a session, by the index.
func (r *Reader) end(ctx context.Context, session string) (at walkStep, err error) {
	err = r.rows(ctx, func(rows *sql.Rows) error { return rows.Scan(&at.seq) }, `SELECT max(coalesce((SELECT last FROM session WHERE id = ?1), 0),
  coalesce((SELECT max(seq) FROM entry WHERE seq > (SELECT indexed FROM owner) AND session = ?1), 0))`, session)
	return at, err
}

// provedEnd returns the step to the last entry of a session, by the tree of the sessions and the entries that
// it does not cover.
func (r *Reader) provedEnd(ctx context.Context, session string) (walkStep, error) {
	for {
		at, rooted, err := r.provedOnce(ctx, session)
		var gone *journal.ArchivedError
		if !errors.As(err, &gone) || gone.Last <= rooted {
			return at, err
		} // entries were archived after the tree was read, which covers these now
	}
}

// provedOnce is provedEnd by the tree as it is now. It returns how many entries that covers.
func (r *Reader) provedOnce(ctx context.Context, session string) (at walkStep, rooted uint64, err error) {
	proof, err := r.proof(ctx, chain.New(r.secret).Name(session))
	if err != nil {
		return walkStep{}, 0, err
	}
	leaf, found, err := chain.FindLeaf(proof, proof.root, chain.New(r.secret).Name(session))
	if err != nil {
		return walkStep{}, proof.rooted, forgedSession(r.path, session, err)
	}
	at = walkStep{seq: leaf.Last, link: leaf.Tail, linked: found}
	for after := proof.rooted; ; {
		list, err := r.Read(ctx, after, followed)
		if err != nil {
			return walkStep{}, proof.rooted, err
		}
		for i := range list {
			if list[i].Session == session {
				at = walkStep{seq: list[i].Seq} // the chain of all entries has proved it
			}
		}
		if after += uint64(len(list)); len(list) < followed {
			return at, proof.rooted, nil
		}
	}
}

// Open returns the sessions in which a call or an undo has not ended, by the index of the calls. See
// [journal.Journal].
func (r *Reader) Open(ctx context.Context) (list []string, err error) {
	const open = "(" + unfinished + " OR undoing > 0)"
	err = r.rows(ctx, func(rows *sql.Rows) error {
		var session string
		err := rows.Scan(&session)
		list = append(list, session)
		return err
	}, "SELECT session FROM call_settled WHERE "+unfinished+" UNION SELECT session FROM call_settled WHERE undoing > 0 UNION SELECT session FROM call_moving WHERE "+open+" ORDER BY session")
	return list, err
}

// Entries returns the entries at positions. See [journal.Journal].
func (r *reader) Entries(ctx context.Context, seqs ...uint64) ([]journal.Entry, error) {
	asked, err := json.Marshal(seqs)
	if err != nil {
		return nil, err
	}
	found, err := r.entries(ctx, "SELECT "+entryColumns+" WHERE e.seq IN (SELECT value FROM json_each(?)) AND "+lowerEnd+" ORDER BY e.seq", string(asked))
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
			if err := r.archived(ctx, seq); err != nil {
				return nil, fmt.Errorf("read %q: %w", r.path, err)
			}
			return nil, fmt.Errorf("read %q: entry %d: %w", r.path, seq, journal.ErrNoEntry)
		}
		list = append(list, found[i])
	}
	return list, nil
}
