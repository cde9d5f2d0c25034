package history

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Pinned returns the first entry that s needs of its calls: those that are live or whose outcome is not known are read from their own
// entries. 0: it needs none.
func (s *Single) Pinned() (first uint64) {
	take := func(at uint64) {
		if first == 0 || at < first {
			first = at
		}
	}
	for _, c := range s.calls {
		if c.Lives() || c.Outcome.Kind == runtime.Unknown {
			take(c.opened)
		}
	}
	for _, c := range s.Ended {
		if c.Kind == runtime.Unknown.String() {
			take(c.Opened)
		}
	}
	return first
}

// stay lets calls that had ended be references where an error says that their entries are archived: what is behind the snapshot does not
// change how they ended. It reports whether there are any.
func (s *Single) stay(err error) (some bool) {
	var gone *journal.ArchivedError
	if !errors.As(err, &gone) {
		return false
	}
	for id, c := range s.was {
		if c.Opened <= gone.Last {
			if s.archived == nil {
				s.archived = map[string]bool{}
			}
			some, s.archived[id], s.Ended[id] = true, true, c
			delete(s.calls, id)
		}
	}
	return some
}

// Above makes the next snapshot of s do without the entries up to a position, which are about to be archived: calls that have ended
// are taken off the pages there. It forgets those that ended before a time, with all of their entries up to the position; the zero time: none.
//
// It forgets no call of a run that is open, whose later calls may depend on it, and not the one with the largest id
// that was made, so that ids do not repeat (SEMANTICS 1.4.6).
func (s *Single) Above(last uint64, before time.Time) {
	if s.leaveOut(last, before) {
		last = math.MaxUint64 // an earlier page may have what is forgotten, too
	}
	for len(s.pages) > 0 && s.pages[0] <= last {
		s.pages = s.pages[1:]
	}
	for id, page := range s.paged {
		if _, ended := s.Ended[id]; ended && page <= last {
			s.fresh[id] = true
		}
	}
}

// leaveOut forgets calls. It reports whether a page may have one of them.
func (s *Single) leaveOut(last uint64, before time.Time) (paged bool) {
	newest := s.newestMade()
	for id, c := range s.Ended {
		if _, open := s.Open[c.Run]; !open && id != newest && past(&c, last, before) {
			paged = paged || s.paged[id] > 0
			delete(s.Ended, id)
			delete(s.fresh, id)
		}
	}
	for id, c := range s.calls {
		if c.Lives() || id == newest {
			continue
		}
		of := c.ended()
		if _, open := s.Open[c.Run]; !open && past(&of, last, before) {
			paged = paged || s.paged[id] > 0
			delete(s.calls, id)
		}
	}
	return paged
}

// past reports whether a call ended before a time, with its entries up to a position.
func past(c *journal.EndedCall, last uint64, before time.Time) bool {
	return c.At.Before(before) && c.Outcome <= last && c.Opened <= last
}

// newestMade returns the call with the largest id that was made; empty: none was.
func (s *Single) newestMade() (newest string) {
	largest := uint64(0)
	take := func(id string) {
		digits, made := strings.CutPrefix(id, "call-")
		if n, err := strconv.ParseUint(digits, 10, 63); made && err == nil && n > largest {
			largest, newest = n, id
		}
	}
	for id := range s.Ended {
		take(id)
	}
	for id := range s.calls {
		take(id)
	}
	return newest
}

// readable makes of the error of a read back of a session that it met archived entries what it means: nothing where its snapshot takes
// them in. Where it has no snapshot it has ended, because no other session goes to an archive without one: last is its last
// entry.
func readable(err error, snapshot *placed) (last uint64, _ error) {
	var gone *journal.ArchivedError
	switch {
	case !errors.As(err, &gone):
		return 0, err
	case snapshot == nil:
		return gone.Seq, nil
	case gone.Seq <= snapshot.Snapshot.Last:
		return 0, nil
	}
	return 0, err
}
