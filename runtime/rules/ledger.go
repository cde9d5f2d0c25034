package rules

import "iter"

// A ledger is the calls of a session that can still change. Most calls begin and
// end while no other does: the latest is not in the map until the next one comes.
type ledger struct {
	latest  *call // nil: none
	earlier map[string]*call
	free    []*call // to be used again: no other reference to them remains
}

// maxFree is how many calls a ledger keeps to be used again.
const maxFree = 16

// find returns a call, nil when there is none.
func (l *ledger) find(id string) *call {
	if c := l.latest; c != nil && c.id == id {
		return c
	}
	if len(l.earlier) == 0 {
		return nil
	}
	return l.earlier[id]
}

// size returns the number of calls.
func (l *ledger) size() int {
	if l.latest != nil {
		return len(l.earlier) + 1
	}
	return len(l.earlier)
}

// all yields every call, in no particular order.
func (l *ledger) all() iter.Seq[*call] {
	return func(yield func(*call) bool) {
		if l.latest != nil && !yield(l.latest) {
			return
		}
		for _, c := range l.earlier {
			if !yield(c) {
				return
			}
		}
	}
}

// open returns a new call, of which only the id is set.
func (l *ledger) open(id string) *call {
	if c := l.latest; c != nil {
		if l.earlier == nil {
			l.earlier = map[string]*call{}
		}
		l.earlier[c.id] = c
	}
	if n := len(l.free); n > 0 {
		l.latest, l.free = l.free[n-1], l.free[:n-1]
	} else {
		l.latest = &call{}
	}
	l.latest.id = id
	return l.latest
}

// drop forgets c.
func (l *ledger) drop(c *call) {
	if l.latest == c {
		l.latest = nil
		return
	}
	delete(l.earlier, c.id)
}

// recycle drops c and keeps its memory for a later call. No other reference to c may
// remain.
func (l *ledger) recycle(c *call) {
	l.drop(c)
	if len(l.free) < maxFree {
		*c = call{}
		l.free = append(l.free, c)
	}
}
