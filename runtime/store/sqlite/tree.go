package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// rootEvery is after how many entries the tree of the sessions is brought up to date, and rootEverySessions
// after how many sessions with new entries. A start reads the entries that the tree does not cover.
const (
	rootEvery         = 4096
	rootEverySessions = 512
)

// nodes stores the nodes of the tree by the connection that writes.
type nodes struct{ c *conn }

// nodeOf returns the key of a path in the table node: 1, and the digits, four bits each.
func nodeOf(path []byte) (int64, error) {
	const most = 15
	if len(path) > most {
		return 0, fmt.Errorf("the tree of the sessions is more than %d nodes deep", most)
	}
	key := int64(1)
	for _, digit := range path {
		key = key<<4 | int64(digit)
	}
	return key, nil
}

// Get returns a node; nil when it is not there.
func (n nodes) Get(path []byte) ([]byte, error) {
	key, err := nodeOf(path)
	if err != nil {
		return nil, err
	}
	row, err := n.c.row("SELECT data FROM node WHERE path = ?", key)
	if err != nil || len(row) == 0 {
		return nil, err
	}
	data, _ := row[0].([]byte)
	return data, nil
}

// Put stores a node.
func (n nodes) Put(path, data []byte) error {
	key, err := nodeOf(path)
	if err == nil {
		_, err = n.c.exec("INSERT INTO node VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET data = excluded.data", key, data)
	}
	return err
}

// forgedSession is the error of a session whose end cannot be believed.
func forgedSession(path, session string, err error) error {
	if errors.Is(err, chain.ErrForged) {
		return fmt.Errorf("session %q of the store %q: %w: %w; keep the store as it is, and go on with a copy of it and of its keys file that were made together",
			session, path, ErrForged, err)
	}
	return err
}

// endOf returns where a session ends, by the tree of the sessions where it is not known yet. w.mu is held.
func (w *writer) endOf(session string) (*end, error) {
	if x := w.ends.all[session]; x != nil {
		x.used = w.rooted
		return x, nil
	}
	leaf, _, err := chain.FindLeaf(nodes{w.c}, w.root, w.chain.Name(session))
	if errors.Is(err, chain.ErrForged) {
		return nil, refusal{forgedSession(w.path, session, err)}
	}
	if err != nil {
		return nil, err
	}
	x := &end{seq: leaf.Last, link: leaf.Tail, used: w.rooted}
	if leaf.Open > 0 {
		if err := w.reopen(session, x, leaf.Open); err != nil {
			return nil, believed(err)
		}
	}
	if w.ends.all == nil {
		w.ends.all = map[string]*end{}
	}
	w.ends.all[session] = x
	return x, nil
}

// reopen finds out what of a session is open: it reads the session back until it has found as many as there are.
func (w *writer) reopen(session string, x *end, many uint32) error {
	seen := map[string]opening{}
	err := w.back(context.Background(), session, x.step(), func(e *journal.Entry) bool {
		if what, begun := marked(e); what&^seen[e.Call] != 0 {
			seen[e.Call] |= what
			if begun {
				x.set(e.Call, x.open[e.Call]|what)
			}
		}
		return x.many < many
	})
	if err == nil && x.many != many {
		err = forgedSession(w.path, session, chain.ErrForged)
	}
	return err
}

// believed makes an error of a session that is forged or damaged a refusal: nothing was written, and other
// sessions go on. After any other it is not known what the disk can do.
func believed(err error) error {
	var corrupt *CorruptError
	var archived *journal.ArchivedError
	if errors.Is(err, ErrForged) || errors.As(err, &corrupt) || errors.As(err, &archived) {
		return refusal{err}
	}
	return err
}

// plant brings the tree of the sessions up to date, inside a transaction.
func (w *writer) plant() error {
	list := make([]chain.Leaf, 0, w.ends.changed)
	for session, x := range w.ends.all {
		if x.seq > w.rooted {
			list = append(list, chain.Leaf{Name: w.chain.Name(session), Last: x.seq, Tail: x.link, Open: x.many})
		}
	}
	root, err := chain.UpdateTree(nodes{w.c}, w.root, list)
	if errors.Is(err, chain.ErrForged) {
		return refusal{fmt.Errorf("the sessions of the store %q: %w: %w", w.path, ErrForged, err)}
	}
	if err != nil {
		return err
	}
	m := w.chain.Root(w.head, root, w.tail)
	if _, err := w.c.exec("UPDATE owner SET rooted = ?, root = ?, mac = ?", int64(w.head), root[:], m[:]); err != nil {
		return err
	}
	w.rooted, w.root, w.ends.changed = w.head, root, 0
	return nil
}

// continueAt makes the writer continue a store where it ends: the ends of the sessions are those of the
// tree, and of the entries that it does not cover.
func (s *Store) continueAt(ctx context.Context, at *standing) error {
	w := &s.w
	w.head, w.tail, w.rooted, w.root, w.archived = at.last, at.tail, at.rooted, at.root, at.low.Last
	w.ends = ends{swept: w.rooted}
	touched := map[string]*end{}
	for i := range at.since {
		e := &at.since[i]
		x, err := w.endOf(e.Session)
		if err != nil {
			return err
		}
		touched[e.Session] = x
		w.ends.add(x, e, chain.MAC{}, w.rooted) // the last one gets its own below
	}
	for _, x := range touched {
		m, _, err := s.stored(ctx, x.seq)
		if err != nil {
			return err
		}
		x.link = chain.LinkOf(m)
	}
	w.ends.keep(w.rooted)
	return nil
}

// Back calls f with the entries of a session, the last one first. See [journal.Journal]. The first is the one
// that the tree of the sessions proves to be the last, and each of the others the one that the entry
// after it follows: the error is [ErrForged], or a [*CorruptError], where the store has something else.
func (s *Store) Back(ctx context.Context, session string, before uint64, f func(*journal.Entry) bool) error {
	s.w.mu.Lock()
	if s.w.closed {
		s.w.mu.Unlock()
		return fmt.Errorf("read %q: %w", s.path, journal.ErrClosed)
	}
	x, err := s.w.endOf(session)
	var at walkStep
	if err == nil {
		at = x.step()
	}
	s.w.mu.Unlock()
	if err != nil {
		return fmt.Errorf("read %q: %w", s.path, err)
	}
	return s.backFrom(ctx, session, before, at, f)
}

// Open returns the sessions in which a call or an undo has not ended, by the tree of the sessions. See
// [journal.Journal].
func (s *Store) Open(ctx context.Context) (list []string, err error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.closed {
		return nil, fmt.Errorf("read %q: %w", s.path, journal.ErrClosed)
	}
	return s.openSessions(ctx)
}
