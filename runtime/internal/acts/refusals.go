package acts

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/entry"
	"github.com/ambit-tools/ambit/runtime/internal/lockorder"
	"github.com/ambit-tools/ambit/runtime/journal"
)

const (
	span       = time.Hour // in which the refused attempts of an actor are counted together
	singly     = 32        // of them that have an entry of their own
	mostActors = 1024      // that are counted apart
	others     = ""        // all other actors; the id of none
)

// Refusals bounds what the refused attempts of an actor write: the journal is no place that whoever may do
// nothing can fill. In an hour the first 32 have an entry each. The others are counted, and an entry says how
// many there were, at 1, 2, 4, 8 of them and so on, when a later hour begins, and at the end. The zero value has
// counted none.
type Refusals struct {
	mu lockorder.Mutex[lockorder.Refusals]
	by map[string]*refused
}

// refused are the refused attempts of an actor in an hour.
type refused struct {
	since   time.Time
	written int
	counted int // without an entry
	told    int // of counted, by entries
}

// Over reports whether the next refused attempt of an actor is counted only. The caller then looks whether an
// attempt would be refused before it makes an entry.
func (r *Refusals) Over(now time.Time, by string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.of(by)
	return c != nil && now.Before(c.since.Add(span)) && c.written >= singly
}

// Written counts a refused attempt that has an entry.
func (r *Refusals) Written(now time.Time, by string, record func(*journal.Record)) {
	for _, e := range r.count(now, by, true) {
		record(e)
	}
}

// Counted counts a refused attempt that has no entry.
func (r *Refusals) Counted(now time.Time, by string, record func(*journal.Record)) {
	for _, e := range r.count(now, by, false) {
		record(e)
	}
}

// Close records what was counted and no entry has told.
func (r *Refusals) Close(now time.Time, record func(*journal.Record)) {
	r.mu.Lock()
	list := r.forget(now, true)
	r.mu.Unlock()
	for _, e := range list {
		record(e)
	}
}

// count counts an attempt, and returns the entries that are to be made of earlier ones, or of it.
func (r *Refusals) count(now time.Time, by string, written bool) (list []*journal.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.of(by)
	if c != nil && !now.Before(c.since.Add(span)) {
		list = append(list, c.tell(now, by)...)
		*c = refused{since: now}
	}
	if c == nil {
		if len(r.by) >= mostActors {
			list = append(list, r.forget(now, false)...)
		}
		if by = r.name(by); r.by == nil {
			r.by = map[string]*refused{}
		}
		if c = r.by[by]; c == nil {
			c = &refused{since: now}
			r.by[by] = c
		}
	}
	if written {
		c.written++
		return list
	}
	if c.counted++; bits.OnesCount(uint(c.counted)) == 1 {
		list = append(list, c.tell(now, by)...)
	}
	return list
}

// name returns the actor that an attempt is counted for.
func (r *Refusals) name(by string) string {
	if len(r.by) >= mostActors && r.by[by] == nil {
		return others
	}
	return by
}

// of returns the attempts of an actor, nil when there are none.
func (r *Refusals) of(by string) *refused { return r.by[r.name(by)] }

// forget drops the actors whose hour is over, or all, and returns the entries of what no entry has told.
func (r *Refusals) forget(now time.Time, all bool) (list []*journal.Record) {
	for by, c := range r.by {
		if all || !now.Before(c.since.Add(span)) {
			list = append(list, c.tell(now, by)...)
			delete(r.by, by)
		}
	}
	return list
}

// tell returns the entry that says how many attempts no entry has told, none when there are none.
func (c *refused) tell(now time.Time, by string) []*journal.Record {
	n := c.counted - c.told
	if n == 0 {
		return nil
	}
	c.told = c.counted
	e := entry.OfAct(now, &runtime.ActRequest{Actor: runtime.Actor{ID: by}}, &runtime.ActDecision{
		Reason: fmt.Sprintf("refused attempts since %s without an entry of their own: %d", c.since.UTC().Format(time.RFC3339), n),
	})
	e.Operator.Omitted = n
	return []*journal.Record{e}
}
