package archive

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/history"
	"github.com/ambit-tools/ambit/runtime/internal/holdings"
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/rules"
)

// pageSize is how many entries are read at once.
const pageSize = 1024

// settle ends the segment where nothing open needs its entries, and writes snapshots of the sessions that go on.
func (a *archiving) settle(ctx context.Context) error {
	sessions, err := a.sessions(ctx)
	if err != nil {
		return err
	}
	ended := map[string]uint64{} // that have ended: their last entries
	for _, id := range sessions {
		s, err := a.read(ctx, id)
		if err != nil {
			return err
		}
		if first := s.Pinned(); first > 0 {
			if err := a.below(first, fmt.Sprintf("a call of session %q that is open or whose outcome is not known", id)); err != nil {
				return err
			}
		}
		if s.Over {
			ended[id] = s.Last
		}
	}
	a.end(a.last())
	for _, id := range sessions {
		if last, over := ended[id]; over && last <= a.header.Last {
			continue
		}
		if err := a.Snapshot(ctx, id, a.header.Last, a.Forget); err != nil {
			return err
		}
	}
	return a.flush(ctx)
}

// sessions returns the sessions that have entries among those to archive, and what belongs to none.
func (a *archiving) sessions(ctx context.Context) ([]string, error) {
	found := map[string]bool{"": true}
	last := a.fit[len(a.fit)-1].Size
	for after := a.header.First - 1; after < last; {
		list, err := a.Store.Read(ctx, after, int(min(pageSize, last-after)))
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("the journal has no entry %d: %w", after+1, journal.ErrNoEntry)
		}
		for i := range list {
			found[list[i].Session] = true
		}
		after = list[len(list)-1].Seq
	}
	return slices.Sorted(maps.Keys(found)), nil
}

// read reads a session, and what belongs to none once. What a snapshot says comes from no declaration.
func (a *archiving) read(ctx context.Context, session string) (*history.Single, error) {
	if session == "" && a.common != nil {
		return a.common, nil
	}
	engine, err := rules.Compile(rules.Config{})
	if err != nil {
		return nil, err
	}
	s, err := history.ReadSession(ctx, a.Store, engine, nil, session)
	if err != nil {
		return nil, fmt.Errorf("read session %q: %w", session, err)
	}
	if session == "" {
		a.common = s
	}
	return s, nil
}

// snapshot is Config.Snapshot for a store that no executor uses.
func (a *archiving) snapshot(ctx context.Context, session string, last uint64, forget time.Time) error {
	s, err := a.read(ctx, session)
	if err != nil {
		return err
	}
	s.Above(last, forget)
	now := time.Now().Round(0).UTC()
	var page uint64
	if r := s.Page(now, pageCalls); r != nil {
		if page, err = a.append(ctx, r); err != nil {
			return err
		}
	}
	r := s.Snapshot(now, page)
	if session == "" { // a start does not read the sessions that it does not load
		held := holdings.New()
		if err := held.Read(ctx, a.Store, s.Others); err != nil {
			return err
		}
		r.Snapshot.Others = held.Checkpoint(now)
	}
	_, err = a.append(ctx, r)
	return err
}

// pageCalls is how many ended calls make a page at least.
const pageCalls = 256

// batch is how many snapshots and pages are appended at once: an append waits for the disk.
const batch = 256

// append appends a record with the next batch, and returns its position.
func (a *archiving) append(ctx context.Context, r *journal.Record) (uint64, error) {
	if len(a.batch) == 0 {
		head, err := a.Store.Head(ctx)
		if err != nil {
			return 0, err
		}
		a.head = head
	}
	e, err := journal.NewEntry(a.head+uint64(len(a.batch))+1, r, nil)
	if err != nil {
		return 0, err
	}
	if a.batch = append(a.batch, e); len(a.batch) >= batch {
		return e.Seq, a.flush(ctx)
	}
	return e.Seq, nil
}

// flush appends what no batch was full of.
func (a *archiving) flush(ctx context.Context) error {
	if len(a.batch) == 0 {
		return nil
	}
	err := a.Store.Append(ctx, a.batch)
	a.batch = nil
	return err
}
