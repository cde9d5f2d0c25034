package sqlite

import (
	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/internal/chain"
)

// An end is where a session ends.
type end struct {
	seq  uint64               // its last entry; 0: it has none
	link [chain.LinkSize]byte // how the authenticator of that begins
	open map[string]opening   // by call; nil: nothing is open
	many uint32               // that is open
	used uint64               // how many entries the tree covered when this was used last
}

// An opening says what of a call has begun and not ended.
type opening uint8

const (
	callRuns opening = 1 << iota
	undoRuns
)

// marked returns what an entry changes: something has begun, or has ended.
func marked(e *journal.Entry) (what opening, begun bool) {
	if e.Call == "" {
		return 0, false
	}
	switch e.Mark {
	case journal.MarkOpened, journal.MarkEnded:
		return callRuns, e.Mark == journal.MarkOpened
	case journal.MarkUndoing, journal.MarkUndone:
		return undoRuns, e.Mark == journal.MarkUndoing
	}
	return 0, false
}

// back returns what an entry at a position follows in the session.
func (x *end) back(seq uint64) chain.Back {
	if x.seq == 0 {
		return chain.Back{}
	}
	return chain.Back{Distance: seq - x.seq, Link: x.link}
}

// step returns the step to the last entry.
func (x *end) step() walkStep { return walkStep{seq: x.seq, link: x.link, linked: x.seq > 0} }

// set changes what of a call is open.
func (x *end) set(call string, now opening) {
	for _, one := range []opening{callRuns, undoRuns} {
		switch was := x.open[call]; {
		case was&one == 0 && now&one != 0:
			x.many++
		case was&one != 0 && now&one == 0:
			x.many--
		}
	}
	switch {
	case now == 0:
		delete(x.open, call)
	case x.open == nil:
		x.open = map[string]opening{call: now}
	default:
		x.open[call] = now
	}
}

// ends has the ends of the sessions that changed since the tree was brought up to date, and of others that
// were used lately. What a transaction adds is taken back when it fails.
type ends struct {
	all     map[string]*end
	changed int    // sessions that have entries which the tree does not cover
	swept   uint64 // the entries that the tree covered when all was swept last
	news    []endChange
}

// An endChange says what an end was before.
type endChange struct {
	end  *end
	seq  uint64
	link [chain.LinkSize]byte
	call string // of which something was begun or ended; empty: of none
	open opening
}

// add notes that an entry with an authenticator is the last of a session.
func (s *ends) add(x *end, e *journal.Entry, m chain.MAC, rooted uint64) {
	was := endChange{end: x, seq: x.seq, link: x.link}
	if x.seq <= rooted {
		s.changed++
	}
	x.seq, x.link = e.Seq, chain.LinkOf(m)
	if what, begun := marked(e); what != 0 {
		was.call, was.open = e.Call, x.open[e.Call]
		now := was.open &^ what
		if begun {
			now |= what
		}
		x.set(e.Call, now)
	}
	s.news = append(s.news, was)
}

// takeBack undoes what was added since keep. changed is how many sessions had changed then.
func (s *ends) takeBack(changed int) {
	for i := len(s.news) - 1; i >= 0; i-- {
		was := &s.news[i]
		if was.end.seq, was.end.link = was.seq, was.link; was.call != "" {
			was.end.set(was.call, was.open)
		}
	}
	s.changed, s.news = changed, s.news[:0]
}

// keep makes what was added stay. Where the tree has grown, it forgets the ends that the tree has and that
// were not used since it grew before. What is open stays: to find it again a session has to be read.
func (s *ends) keep(rooted uint64) {
	clear(s.news)
	s.news = s.news[:0]
	if rooted == s.swept {
		return
	}
	for session, x := range s.all {
		if x.seq <= rooted && x.many == 0 && x.used < s.swept {
			delete(s.all, session)
		}
	}
	s.swept = rooted
}
