package feed

import "github.com/ambit-tools/ambit/runtime/journal"

// A subscriber is one that reads from a Feed. While it waits, the lock of the Feed guards it.
type subscriber struct {
	filter   Filter
	position uint64        // up to which it has seen, or need not see, the entries
	woken    chan struct{} // has one element when it must look again; capacity 1
}

// wake has the subscriber look again.
func (s *subscriber) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// The waiting subscribers have seen all entries up to the head. Those that ask for one session are
// found by its id, so that an entry of another session costs nothing for them.
type waiting struct {
	bySession map[string]map[*subscriber]struct{}
	others    map[*subscriber]struct{}
}

// add adds a subscriber.
func (w *waiting) add(s *subscriber) {
	if s.filter.Session == "" {
		if w.others == nil {
			w.others = map[*subscriber]struct{}{}
		}
		w.others[s] = struct{}{}
		return
	}
	if w.bySession == nil {
		w.bySession = map[string]map[*subscriber]struct{}{}
	}
	set := w.bySession[s.filter.Session]
	if set == nil {
		set = map[*subscriber]struct{}{}
		w.bySession[s.filter.Session] = set
	}
	set[s] = struct{}{}
}

// remove removes a subscriber, if it waits.
func (w *waiting) remove(s *subscriber) {
	delete(w.others, s)
	set := w.bySession[s.filter.Session]
	delete(set, s)
	if len(set) == 0 {
		delete(w.bySession, s.filter.Session)
	}
}

// wake wakes the subscribers that asked for an entry. They need not see what came before it.
func (w *waiting) wake(e *journal.Entry) {
	for _, set := range [...]map[*subscriber]struct{}{w.others, w.bySession[e.Session]} {
		for s := range set {
			if s.filter.matches(e) {
				s.position = e.Seq - 1
				w.remove(s)
				s.wake()
			}
		}
	}
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
