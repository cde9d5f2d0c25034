package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// A proof is a part of the tree of the sessions as it was at one moment.
type proof struct {
	rooted uint64
	root   chain.Root
	nodes  map[int64][]byte
}

// Get returns a node; nil when it is not there.
func (p *proof) Get(path []byte) ([]byte, error) {
	key, err := nodeOf(path)
	return p.nodes[key], err
}

// Put writes nothing.
func (p *proof) Put([]byte, []byte) error { return errors.ErrUnsupported }

// proof reads the nodes that prove what the tree has of a name, and verifies its root by the stored
// authenticator of the entry that it ends with.
func (r *reader) proof(ctx context.Context, name chain.Name) (*proof, error) {
	var keys []int64
	for _, path := range chain.NodePaths(name) {
		key, err := nodeOf(path)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	asked, err := json.Marshal(keys)
	if err != nil {
		return nil, err
	}
	return r.tree(ctx, `SELECT o.rooted, o.root, o.mac, (SELECT mac FROM entry WHERE seq = o.rooted), t.path, t.data
FROM owner o LEFT JOIN node t ON t.path IN (SELECT value FROM json_each(?))`, string(asked))
}

// tree reads the root of the tree of the sessions and nodes, by a query that returns both.
func (r *reader) tree(ctx context.Context, query string, args ...any) (*proof, error) {
	p := &proof{nodes: map[int64][]byte{}}
	var root, mac, last []byte
	err := r.rows(ctx, func(rows *sql.Rows) error {
		var path sql.NullInt64
		var data []byte
		err := rows.Scan(&p.rooted, &root, &mac, &last, &path, &data)
		if path.Valid {
			p.nodes[path.Int64] = data
		}
		return err
	}, query, args...)
	if err != nil {
		return nil, r.explain(ctx, err)
	}
	column, ok := chain.ParseColumn(last)
	if p.rooted > 0 && !ok || !chain.New(r.secret).HoldsRoot(p.rooted, root, mac, column.MAC) {
		return nil, r.badTree("its root is not authentic")
	}
	copy(p.root[:], root)
	return p, nil
}

// VerifySessions verifies the tree of the sessions: all its nodes, and that each session ends with the entry
// that it says. The reader must have been opened with the keys of the store ([WithKeys]); [Reader.Authenticate]
// verifies that the tree is not an older one. The error is [ErrForged] where a node is not authentic.
func (r *Reader) VerifySessions(ctx context.Context) error {
	if r.secret == nil {
		return fmt.Errorf("verify the sessions of the store %q: it was opened without its keys (sqlite.WithKeys)", r.path)
	}
	return r.steady(ctx, func() error { return r.verifySessions(ctx) })
}

// verifySessions is VerifySessions for a store in which nothing is archived meanwhile.
func (r *Reader) verifySessions(ctx context.Context) error {
	p, err := r.tree(ctx, `SELECT o.rooted, o.root, o.mac, (SELECT mac FROM entry WHERE seq = o.rooted), t.path, t.data
FROM owner o LEFT JOIN node t ON true`)
	if err != nil {
		return err
	}
	low, err := r.lower(ctx)
	if err != nil {
		return err
	}
	err = chain.EachLeaf(p, p.root, false, func(l *chain.Leaf) error {
		if l.Last <= low.Last { // its last entry is in a segment
			return nil
		}
		m, _, err := r.stored(ctx, l.Last)
		if err == nil && chain.LinkOf(m) != l.Tail {
			err = r.forged(l.Last, whatSession)
		}
		return err
	})
	if errors.Is(err, chain.ErrForged) {
		err = r.badTree(err.Error())
	}
	return err
}

// openSessions returns the sessions in which something is open: those of the tree, and those that have
// changed since. w.mu is held.
func (s *Store) openSessions(ctx context.Context) (list []string, err error) {
	changed := map[chain.Name]bool{}
	for session, x := range s.w.ends.all {
		changed[s.w.chain.Name(session)] = true
		if x.many > 0 {
			list = append(list, session)
		}
	}
	var ends []uint64
	err = chain.EachLeaf(nodes{s.w.c}, s.w.root, true, func(l *chain.Leaf) error {
		if !changed[l.Name] {
			ends = append(ends, l.Last)
		}
		return nil
	})
	if errors.Is(err, chain.ErrForged) {
		err = s.badTree(err.Error())
	}
	var last []journal.Entry
	if err == nil {
		last, err = s.Entries(ctx, ends...)
	}
	for i := range last {
		x, err := s.w.endOf(last[i].Session)
		if err == nil && x.seq != last[i].Seq {
			err = s.forged(last[i].Seq, whatSession)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, last[i].Session)
	}
	slices.Sort(list)
	return list, err
}
