package feed

import "github.com/ambit-tools/ambit/runtime/journal"

// A subscriber is one that reads from a Feed. While it waits, the lock of the Feed guards its
// position.
type subscriber struct {
	filter   Filter
	position uint64        // up to which it has seen, or need not see, the entries
	woken    chan struct{} // has one element when it must look again; capacity 1

	pieces []journal.Live // that it has not got; guarded by the feed, as is missed
	missed uint64         // pieces that were dropped since it got one
	kept   int            // how many of the first pieces are from before it followed
}

// wake has the subscriber look again.
func (s *subscriber) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// A group is a set of subscribers. Those that ask for one session are found by its id, so that what
// happens in another session costs nothing for them.
type group struct {
	bySession map[string]map[*subscriber]struct{}
	others    map[*subscriber]struct{}
}

// add adds a subscriber.
func (g *group) add(s *subscriber) {
	if s.filter.Session == "" {
		if g.others == nil {
			g.others = map[*subscriber]struct{}{}
		}
		g.others[s] = struct{}{}
		return
	}
	if g.bySession == nil {
		g.bySession = map[string]map[*subscriber]struct{}{}
	}
	set := g.bySession[s.filter.Session]
	if set == nil {
		set = map[*subscriber]struct{}{}
		g.bySession[s.filter.Session] = set
	}
	set[s] = struct{}{}
}

// has reports whether a subscriber is in the group.
func (g *group) has(s *subscriber) bool {
	set := g.others
	if s.filter.Session != "" {
		set = g.bySession[s.filter.Session]
	}
	_, ok := set[s]
	return ok
}

// remove removes a subscriber, if it is in the group.
func (g *group) remove(s *subscriber) {
	delete(g.others, s)
	set := g.bySession[s.filter.Session]
	delete(set, s)
	if len(set) == 0 {
		delete(g.bySession, s.filter.Session)
	}
}

// each calls f for the subscribers that may ask for what happens in a session. f may remove its
// argument.
func (g *group) each(session string, f func(*subscriber)) {
	for _, set := range [...]map[*subscriber]struct{}{g.others, g.bySession[session]} {
		for s := range set {
			f(s)
		}
	}
}

// The waiting subscribers have seen all entries up to the head.
type waiting struct{ group }

// wake wakes the subscribers that asked for an entry. They need not see what came before it.
func (w *waiting) wake(e *journal.Entry) {
	w.each(e.Session, func(s *subscriber) {
		if s.filter.matches(e) {
			s.position = e.Seq - 1
			w.remove(s)
			s.wake()
		}
	})
}

// wakeAll wakes all subscribers.
func (w *waiting) wakeAll() {
	for s := range w.others {
		s.wake()
	}
	for _, set := range w.bySession {
		for s := range set {
			s.wake()
		}
	}
	*w = waiting{}
}
